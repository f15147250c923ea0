package main

import (
	"bytes"
	"context"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// agentFlags are the flags of export that the forms of agents have.
type agentFlags struct {
	project   string
	compacted bool
}

// agentFormats are the forms of agents, as forms of an export.
func agentFormats() (list []exportFormat) {
	for i, f := range catalog.All() {
		e := exportFormat{name: f.Name, flags: func(*exportOptions, *cobra.Command) {}, check: checkAgentFlags}
		if i == 0 {
			e.flags = addAgentFlags
		}
		e.write = func(c context.Context, s *session.Store, v *refs.View, o *exportOptions, name, branch string, w io.Writer) (exported, error) {
			x := &agentExport{s: s, v: v, form: f, name: name, branch: branch, dir: o.agents.project, compacted: o.agents.compacted, masked: o.adk.masked, move: o.agents.project != ""}
			if x.dir == "" {
				x.dir = o.a.projectDir(s)
			}
			done, err := x.write(c, w, nil)
			return exported{Messages: done.Messages, Notes: done.Notes, Events: done.Records, Changed: done.Changed, Left: done.Left}, err
		}
		list = append(list, e)
	}
	return list
}

func addAgentFlags(o *exportOptions, cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.agents.project, "project", "", "the directory that the session is to be of, for an agent (default: the store's project)")
	cmd.Flags().BoolVar(&o.agents.compacted, "compacted", false, "for gemini-cli: what has left the window as its summaries, in one message")
}

func checkAgentFlags(o *exportOptions) error {
	if o.agents.compacted && o.format != geminicli.Agent {
		return usagef("--compacted goes with --format %s", geminicli.Agent)
	}
	return nil
}

// agentExport is a branch on its way to an agent.
type agentExport struct {
	s            *session.Store
	v            *refs.View
	form         catalog.Agent
	name, branch string
	dir          string
	id           string // of the session, for the agent; "" for the one that the agent knows it by, or one that follows from the session
	compacted    bool
	masked       bool // outputs of tools are as the branch's masks show them
	move         bool // the session is to be of dir, wherever it was before
}

func (x *agentExport) write(c context.Context, w io.Writer, each func(*transcript.Message)) (transcript.Written, error) {
	tip, err := history.Tip(x.v, x.name, x.branch)
	if err != nil {
		return transcript.Written{}, err
	}
	if x.id == "" {
		if x.id, err = x.agentID(); err != nil {
			return transcript.Written{}, err
		}
	}
	newest, err := x.newest(tip)
	if err != nil {
		return transcript.Written{}, err
	}
	o, from := writeOptions(x.s, x.name, x.id, x.dir, newest), uint64(0)
	o.Move = x.move
	if x.compacted {
		from = tip.Through
		if o.Before, err = x.before(tip); err != nil {
			return transcript.Written{}, err
		}
	}
	out := x.form.Write(w, o)
	return x.s.Exchange.ExportTranscript(c, x.v, x.name, x.branch, from, x.masked, out, each)
}

// agentID is the id that the agent knows the session by, or would take.
func (x *agentExport) agentID() (string, error) {
	own, err := x.s.Exchange.OriginOf(x.v, x.name, x.branch, x.form.Source)
	switch {
	case err != nil:
		return "", err
	case own != "" && x.form.TakesID(own):
		return own, nil
	case transcript.IsUUID(x.name) && x.form.TakesID(x.name) && x.form.Name != geminicli.Agent:
		return x.name, nil
	}
	return x.form.NewID(x.form.Name, x.s.ID, x.name, x.branch), nil
}

// newest is when the newest message was said.
func (x *agentExport) newest(tip format.Value) (time.Time, error) {
	list, err := x.s.Recall.Log(tip.ID, recall.LogOptions{Limit: 1})
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	return list[0].Entry.Time, nil
}

// before is what a model is told of the messages that have left the window; "" where none has.
func (x *agentExport) before(tip format.Value) (string, error) {
	if tip.Pin.IsZero() || tip.Through == 0 {
		return "", nil
	}
	in, err := x.s.Recall.RenderInput(x.v, x.name, x.branch, view.Options{})
	if err != nil {
		return "", err
	}
	in.Tail = nil
	out, err := view.Render(in, view.Options{Format: view.Text})
	return string(bytes.TrimSpace(out.Bytes)), err
}
