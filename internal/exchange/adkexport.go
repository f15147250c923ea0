package exchange

import (
	"context"
	"encoding/json"
	"io"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/refs"
)

// ADKOptions are the options of ExportADK.
type ADKOptions struct {
	adk.WriteOptions
	Masked bool // apply the branch's masks
	Tokens bool // write the token set of each entry into the metadata of its event
}

// ExportADK writes a branch as a session of ADK. The session provides defaults for empty options.
func (s *Reader) ExportADK(
	ctx context.Context, v *refs.View, session, branch string, w io.Writer, o ADKOptions,
) (transcript.Written, error) {
	c, err := s.Conversation(v, session, branch, o.Masked)
	if err != nil {
		return transcript.Written{}, err
	}
	if branch == history.MainBranch {
		if err := c.addWalled(v, session); err != nil {
			return transcript.Written{}, err
		}
	}
	o.Session = session
	if o.Kept, err = c.sessionOfADK(); err != nil {
		return transcript.Written{}, err
	}
	if o.State, err = s.adkState(v, session, &o); err != nil {
		return transcript.Written{}, err
	}
	var sets *history.SessionDAG
	if o.Tokens {
		if sets, err = s.Dag(v, session); err != nil {
			return transcript.Written{}, err
		}
	}
	opened := map[int]string{-1: adk.InvocationID(session, "")}
	return c.write(ctx,
		adk.NewWriter(w, o.WriteOptions),
		func(said *Said, it *transcript.Item) (leave bool, err error) {
			if said.Opener == said.Number {
				opened[said.Number] = adk.InvocationID(session, it.Origin.Message)
			}
			if it.Turn == "" {
				it.Turn = opened[said.Opener]
			}
			if adk.IsSession(it.Origin) || !o.Tokens {
				return adk.IsSession(it.Origin), nil
			}
			set, err := sets.Tokens(said.ID)
			it.Set = append([]uint64{}, set...)
			return false, err
		})
}

// sessionOfADK returns the newest note in which an import kept the members of an ADK session other
// than its events; nil if there is none.
func (c *Conversation) sessionOfADK() (*transcript.Message, error) {
	for i := len(c.entries) - 1; i >= 0; i-- {
		p := c.entries[i]
		if p.source == nil ||
			!adk.IsSession(transcript.Origin{Agent: p.source.Agent, Message: p.source.Message}) {
			continue
		}
		shown, err := c.s.Version(p.id, p.version)
		if err != nil || shown.Gone != "" {
			return nil, err
		}
		m := messageOf(shown)
		return &m, nil
	}
	return nil, nil
}

// messageOf converts an entry to a message.
func messageOf(s *history.Shown) transcript.Message {
	e := s.Entry
	m := transcript.Message{
		Origin: transcript.Origin{Agent: transcript.Own, Session: e.Session,
			Message: s.ID.String()}, Note: e.Kind == format.KindNote, Role: e.Role,
		Author: e.Author,
		Time:   e.Time, Invocation: e.Invocation, Calls: e.Calls, Results: e.Results,
		Tokens: e.Tokens, Gone: s.Gone,
	}
	if e.Source != nil {
		m.Origin = transcript.Origin{Agent: e.Source.Agent, Session: e.Source.Session,
			Message: e.Source.Message}
	}
	if s.Parts != nil && json.Valid(s.Parts) {
		m.Parts = jsonvalue.Compact(s.Parts)
	} else {
		m.Text = s.Text
	}
	return m
}
