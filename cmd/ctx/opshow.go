package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func newOpShowCmd(a *app) *cobra.Command {
	return a.newCmd("show [OPERATION]",
		a.onView(func(s *session.Store, view *refs.View, args []string) error {
			return opShow(a, s, view, append(args, clusters.NewestOperation)[0])
		}))
}

func opShow(a *app, s *session.Store, view *refs.View, name string) error {
	number, err := operationAt(s, view, name)
	if err != nil {
		return err
	}
	var found *refs.Record
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		if r.Op.Number == number {
			found = &r
		}
		return r.Op.Number > number
	})
	if err != nil {
		return err
	}
	if found == nil {
		return withHint(notFound("no operation %d in the log", number),
			"`ctx op log` lists those that are kept")
	}
	var ids []format.ID
	if found.Op.Effects.Forgets {
		if f, err := s.History.Forgotten(number); err == nil {
			ids = f.Objects
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if a.json {
		return a.answer(opDocOf(*found, ids))
	}
	printOp(a, *found)
	for _, id := range ids {
		a.printf("forgot %v\n", id)
	}
	return nil
}

func printOp(a *app, r refs.Record) {
	op := r.Op
	a.printf("operation %d\ndigest %v\ntime %s\nverb %s\n", op.Number, r.Digest,
		a.clock(op.Time), op.Verb)
	if op.Session != "" {
		a.printf("session %s\n", op.Session)
	}
	if op.About != 0 {
		a.printf("about %d\n", op.About)
	}
	for _, u := range op.Refs {
		a.printf("ref %s\n  old %s\n  new %s\n", u.Name, orDash(u.Old), orDash(u.New))
	}
	for _, f := range op.Forests {
		a.printf("forest %s\n", f.Name)
		for _, d := range f.Decisions {
			a.printf("  %s\n", decisionText(d))
		}
	}
}

func orDash(v format.Value) string {
	if !v.Exists() {
		return "-"
	}
	return v.String()
}

func decisionName(k format.DecisionKind) string {
	return cmp.Or(map[format.DecisionKind]string{
		format.DecideJoin: "join", format.DecideRetract: "retract",
		format.DecideRestore: "restore", format.DecideSettle: "settle",
		format.DecideDrop: "drop", format.DecideEvict: "evict",
	}[k], "unknown")
}

func decisionText(d format.Decision) string {
	text := fmt.Sprintf("%s cluster %d %v", decisionName(d.Kind), d.Cluster, d.ID)
	switch d.Kind {
	case format.DecideRetract, format.DecideRestore:
		text += fmt.Sprintf(" at %d", d.Offset)
	case format.DecideSettle:
		text += fmt.Sprintf(" at %d count %d", d.Offset, d.Count)
		if d.Interim {
			text += " interim"
		}
	}
	return text
}

type opDoc struct {
	Number    uint64        `json:"number"`
	Digest    format.ID     `json:"digest"`
	Before    format.ID     `json:"before"`
	Time      string        `json:"time"`
	Verb      string        `json:"verb"`
	Session   string        `json:"session,omitempty"`
	About     uint64        `json:"about,omitempty"`
	Refs      []opRefDoc    `json:"refs"`
	Decisions []decisionDoc `json:"decisions"`
	Forgotten []format.ID   `json:"forgotten,omitempty"` // the objects whose bodies it removed
}

type opRefDoc struct {
	Name string `json:"name"`
	Old  string `json:"old"` // as a checkpoint has it; "" for no ref
	New  string `json:"new"`
}

type decisionDoc struct {
	Forest  string    `json:"forest"`
	Kind    string    `json:"kind"`
	Cluster uint64    `json:"cluster"`
	ID      format.ID `json:"id"`
	Offset  uint64    `json:"offset"`
	Count   uint64    `json:"count,omitempty"`
	Interim bool      `json:"interim,omitempty"`
}

// opDocOf returns an operation with the objects whose bodies it removed.
func opDocOf(r refs.Record, forgotten []format.ID) opDoc {
	op := r.Op
	d := opDoc{Number: op.Number, Digest: r.Digest, Before: op.Before,
		Time: document.TimeText(op.Time), Verb: op.Verb,
		Session: op.Session, About: op.About, Refs: []opRefDoc{}, Decisions: []decisionDoc{},
		Forgotten: forgotten}
	for _, u := range op.Refs {
		d.Refs = append(d.Refs, opRefDoc{u.Name, u.Old.String(), u.New.String()})
	}
	for name, one := range op.Decisions() {
		d.Decisions = append(d.Decisions, decisionDoc{name, decisionName(one.Kind),
			one.Cluster, one.ID, one.Offset, one.Count,
			one.Interim})
	}
	return d
}
