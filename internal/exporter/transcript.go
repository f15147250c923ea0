package exporter

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/refs"
)

// Transcript writes the messages of a branch after the one with seq from. With masked it
// applies the branch's masks. own is the agent's name for the session: what the agent has copied
// into it from another session is named as said in it. each may be nil; otherwise it is called with
// every message.
func (s *Reader) Transcript(
	ctx context.Context, v *refs.View, session, branch string, from uint64, masked bool,
	own transcript.Origin, w transcript.Writer, each func(*transcript.Message),
) (transcript.Written, error) {
	c, err := s.Conversation(v, session, branch, masked)
	if err != nil {
		return transcript.Written{}, err
	}
	return c.write(ctx, w, func(said *Said, it *transcript.Item) (leave bool, err error) {
		if o := &it.Origin; said.Entry.Session != session && o.Agent == own.Agent &&
			format.IsUUID(o.Message) {
			o.Session = own.Session
		}
		if leave = said.Seq < from ||
			said.Seq == from && from > 0 && said.Entry.Kind != format.KindNote; !leave &&
			each != nil {
			each(&it.Message)
		}
		return leave, nil
	})
}

// TranscriptHome returns the mark by which an export names its session, so that an import finds it
// again.
func (s *Reader) TranscriptHome(session string) *transcript.Home {
	return &transcript.Home{Store: s.ID, Session: session}
}

// OriginOf returns the id that an agent has for a session: the one that the session is named for,
// if a message in the branch has it, or else that of the first message that was said in the session
// first; "" if there is none.
func (s *Reader) OriginOf(v *refs.View, session, branch, agent string) (own string, err error) {
	c, err := s.Conversation(v, session, branch, false)
	if err != nil {
		return "", err
	}
	for _, p := range c.entries {
		switch {
		case p.source == nil || p.source.Agent != agent || p.source.Session == "":
		case history.FitSession(p.source.Session) == session:
			return p.source.Session, nil
		case own == "" && p.first == session:
			own = p.source.Session
		}
	}
	return own, nil
}

// IsAsked reports whether the first message of a branch is a user's, or what the agent itself has
// written in such a place.
func (s *Reader) IsAsked(v *refs.View, session, branch, agent string) (bool, error) {
	c, err := s.Conversation(v, session, branch, false)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(c.entries, func(p placed) bool { return p.kind == format.KindMessage })
	return i < 0 || c.entries[i].role == "user" ||
		c.entries[i].source != nil && c.entries[i].source.Agent == agent, nil
}

// MessageOf converts an entry to a message.
func MessageOf(s *history.Shown) transcript.Message {
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
