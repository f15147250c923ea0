package exporter

import (
	"cmp"
	"context"
	"io"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/refs"
)

// ADKOptions are the options of Reader.ADK.
type ADKOptions struct {
	adk.WriteOptions
	Masked bool // apply the branch's masks
	Tokens bool // write the token set of each entry into the metadata of its event
}

// ADK writes a branch as a session of ADK. The session provides defaults for empty options.
func (s *Reader) ADK(
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
	if o.Kept, err = c.SessionOfADK(); err != nil {
		return transcript.Written{}, err
	}
	if o.State, err = s.sessionState(v, session, &o); err != nil {
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
			it.Turn = cmp.Or(it.Turn, opened[said.Opener])
			if adk.IsSession(it.Origin) || !o.Tokens {
				return adk.IsSession(it.Origin), nil
			}
			set, err := sets.Tokens(said.ID)
			it.Set = append([]uint64{}, set...)
			return false, err
		})
}

// SessionOfADK returns the newest note in which an import kept the members of an ADK session other
// than its events; nil if there is none.
func (c *Conversation) SessionOfADK() (*transcript.Message, error) {
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
		m := MessageOf(shown)
		return &m, nil
	}
	return nil, nil
}

// StateNames returns the names of a session, app and user of ADK. Defaults replace invalid names.
func StateNames(session, app, user string) state.Names {
	n := state.Names{Session: session, App: app, User: user}
	if format.CheckName(n.App) != nil {
		n.App = adk.DefaultApp
	}
	if format.CheckName(n.User) != nil {
		n.User = adk.DefaultUser
	}
	return n
}

// sessionState returns the state of a session as a JSON object; nil if there is none.
func (s *Reader) sessionState(v *refs.View, session string, o *ADKOptions) ([]byte, error) {
	app, user := adk.Owner(o.Kept)
	app = cmp.Or(o.App, app)
	user = cmp.Or(o.User, user)
	list, err := s.state.Get(v, StateNames(session, app, user))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return state.Encode(list)
}
