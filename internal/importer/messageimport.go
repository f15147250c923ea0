package importer

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// importer is what the importers of one transcript have in common.
type importer struct {
	*Writer
	ctx   context.Context
	group *group     // of transcripts that are recorded together; nil for none
	ahead *aheadStep // what was done ahead for the current step; nil for nothing
	// The session has what came before: a note that was taken once is there, and Append graduates
	goesOn bool
}

// refs returns the refs of the store. A run of imports reads them now and then.
func (im *importer) refs() (*refs.View, error) {
	if im.group != nil {
		return im.group.refs()
	}
	return im.Refs.Read()
}

// Tally counts what an import did in one session.
type Tally struct {
	Messages int // new in this run
	Notes    int // new in this run
	Known    int // there already
	Amended  int // newer versions of what was there
	Rewinds  int // new in this run
	Redacted []sanitize.Finding
}

// sum adds the counts of another tally.
func (c *Tally) sum(o Tally) {
	c.Messages += o.Messages
	c.Notes += o.Notes
	c.Known += o.Known
	c.Amended += o.Amended
	c.Rewinds += o.Rewinds
	c.Redacted = sanitize.AddFindings(c.Redacted, o.Redacted)
}

// An import records at most importBatch messages, and about importBytes of them, in one operation.
const (
	importBatch = 4096
	importBytes = 8 << 20
)

// name determines the session of the messages.
func (im *treeImporter) name(m *transcript.Message) error {
	im.as = cmp.Or(im.as, m.Origin.Session)
	if im.as == "" {
		return fmt.Errorf("%w: the events name no session: give one", history.ErrInput)
	}
	return nil
}

func (im *treeImporter) message(m *transcript.Message) conversation.Message {
	out := conversation.Message{
		Note: m.Note, Role: m.Role, Author: m.Author, Text: m.Text, Parts: m.Parts, Time: m.Time,
		Tokens: m.Tokens, Invocation: m.Invocation,
		Calls: m.Calls, Results: m.Results, Source: im.source(m), Secrets: m.Secrets,
	}
	if out.Calls == nil && out.Results == nil {
		out.Calls = []format.Call{} // no calls, even if parts look like calls
	}
	switch {
	case im.ahead != nil:
		im.ahead.applyTo(&out)
	case byWords(m):
		out.Source.Record = adk.Normal(m)
	}
	return out
}

// byWords reports whether the words of a message tell versions of it apart.
func byWords(m *transcript.Message) bool {
	return m.Record == nil && catalog.TraitsOf(m.Origin.Agent).ByWords
}

func (im *treeImporter) source(m *transcript.Message) *conversation.Source {
	o := m.Origin
	if o.Session == "" && m.Record == nil {
		o.Session = transcript.Fit(im.as)
	}
	return &conversation.Source{Agent: o.Agent, Session: o.Session, Message: o.Message,
		Record: m.Record}
}
