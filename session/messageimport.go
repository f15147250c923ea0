package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/agent/adk"
	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/mask"
)

// messageImporter turns the steps of one conversation, whatever agent it is of, into batches of messages and rewinds.
type messageImporter struct {
	*Store
	ctx   context.Context
	as    string
	out   ImportedADK
	batch []Message
	from  []transcript.Origin // of the batch
	size  int                 // of the batch
	ids   map[transcript.Origin]format.ID
	line  *lineage   // what the session stood on before, rewound words included
	edits *edits     // what its masks showed then
	view  *refs.View // nil after a change
	past  *lineage   // what the branch stands on, as of view; nil until asked for
	copy  *copied    // what the session may begin with a copy of
	begun bool       // a message came
}

func (im *messageImporter) step(st transcript.Step) error {
	if err := im.ctx.Err(); err != nil {
		return err
	}
	m := st.Message
	if err := im.name(&m); err != nil {
		return err
	}
	if st.Kind == transcript.KindRewind {
		if err := im.flush(); err != nil {
			return err
		}
		return im.rewind(st)
	}
	if !im.begun && st.Begins != "" {
		var err error
		if im.copy, err = im.copiedFrom(fitSession(st.Begins)); err != nil {
			return err
		}
	}
	im.begun = true
	out := im.message(&m)
	if im.copy.has(&m, out) {
		return nil
	}
	known, err := im.known(&m, &out)
	if err != nil || known {
		return err
	}
	im.batch, im.from = append(im.batch, out), append(im.from, m.Origin)
	if im.size += len(m.Text) + len(m.Parts); im.size > importBytes || len(im.batch) == importBatch {
		return im.flush()
	}
	return nil
}

// name settles which session the messages go to.
func (im *messageImporter) name(m *transcript.Message) error {
	if im.out.Session == "" {
		im.out.Session = im.as
		if im.as == "" {
			im.out.Session = m.Origin.Session
		}
	}
	if im.out.Session == "" {
		return fmt.Errorf("%w: the events name no session: give one", ErrInput)
	}
	return nil
}

func (im *messageImporter) message(m *transcript.Message) Message {
	out := Message{
		Note: m.Note, Role: m.Role, Author: m.Author, Text: m.Text, Parts: m.Parts, Time: m.Time, Tokens: m.Tokens, Invocation: m.Invocation,
		Calls: m.Calls, Results: m.Results, Source: im.source(m.Origin),
	}
	if out.Calls == nil && out.Results == nil {
		out.Calls = []format.Call{} // none, whatever the parts look like
	}
	if of, _ := transcript.TraitsOf(m.Origin.Agent); of.ByWords {
		out.Source.Record = adk.Normal(m)
	}
	return out
}

func (im *messageImporter) source(o transcript.Origin) *Source {
	if o.Session == "" {
		o.Session = transcript.Fit(im.out.Session)
	}
	return &Source{Agent: o.Agent, Session: o.Session, Message: o.Message}
}

// known looks for a message that this store has under another source than an event's: one that it exported itself, or that came from another agent.
// One that says something else now becomes a newer version. What a mask shows is no newer version of what it hides, whoever said it.
func (im *messageImporter) known(m *transcript.Message, out *Message) (bool, error) {
	if err := im.look(); err != nil {
		return false, err
	}
	if m.Origin.Agent == adk.Agent && len(im.edits.masks) == 0 && !mask.Tagged(m.Text) && !mask.Tagged(string(m.Parts)) {
		return false, nil // Append knows
	}
	id, err := im.find(out.Source, m.Origin)
	if err != nil || id.IsZero() {
		return false, err
	}
	shown, err := im.latest(im.view, id)
	if err != nil {
		return false, err
	}
	clean := *out
	if _, err := clean.clean(); err != nil {
		return false, nil // Append says why
	}
	fresh := transcript.Message{Text: clean.Text, Parts: clean.Parts}
	if shown.Gone != "" || shown.Entry.Role == out.Role && im.says(shown, id, &fresh) {
		im.ids[m.Origin] = id
		im.out.Known++
		return true, nil
	}
	if m.Origin.Agent != adk.Agent && shown.Entry.Source == nil {
		out.Amends = id
	}
	return false, nil
}

// says reports whether a message says what an entry says, what its mask shows, or what a mask of it would show: an export may have been written before the mask
// was taken back. The branches of a fork, which an export writes down, do not count.
func (im *messageImporter) says(shown *Shown, id format.ID, fresh *transcript.Message) bool {
	masked := *shown
	masked.Text, masked.Parts, _ = im.edits.masked(id, shown.Text, shown.Parts)
	versions := []*Shown{shown, &masked}
	if mask.Tagged(fresh.Text) || mask.Tagged(string(fresh.Parts)) {
		versions = append(versions, im.shortenedAs(shown, id, fresh))
	}
	alone := adk.WithoutBranch(fresh)
	for _, version := range versions {
		old := messageOfADK(version)
		if said := adk.Normal(&old); bytes.Equal(said, adk.Normal(fresh)) || bytes.Equal(said, adk.Normal(&alone)) {
			return true
		}
	}
	return false
}

// shortenedAs is an entry of which the outputs that fresh shows shortened are shortened.
func (im *messageImporter) shortenedAs(shown *Shown, id format.ID, fresh *transcript.Message) *Shown {
	short := map[int]string{}
	raws := mask.Split(fresh.Parts)
	at := outputAt{id: id, tools: im.toolsOf(shown.Entry)}
	for _, p := range at.outputsIn(shown) {
		if fresh.Parts != nil && (p.Index >= len(raws) || !mask.Tagged(string(raws[p.Index]))) {
			continue
		}
		list := []mask.Short{{}}
		list[0], _ = mask.Shorten(p, im.maskParams())
		if cleanShort(list) == nil {
			short[p.Index] = list[0].Text
		}
	}
	out := *shown
	out.Text, out.Parts, _ = (&edits{masks: map[format.ID]map[int]string{id: short}}).masked(id, shown.Text, shown.Parts)
	return &out
}

// toolsOf gives the tools of the calls that an entry answers, where the branch's history has the calls.
func (im *messageImporter) toolsOf(e *format.Entry) map[string]string {
	tools := map[string]string{}
	at := firstParent(e)
	for range maxPairDistance {
		if at.IsZero() || len(tools) == len(e.Results) {
			break
		}
		before, err := im.entry(at)
		if err != nil {
			break // nothing is known of the call: its output is shortened as any other
		}
		for _, c := range before.Calls {
			if _, known := tools[c.ID]; !known && slices.Contains(e.Results, c.ID) {
				tools[c.ID] = c.Tool
			}
		}
		at = firstParent(before)
	}
	return tools
}

// look brings up to date what the importer knows of the store.
func (im *messageImporter) look() (err error) {
	if im.view != nil {
		return nil
	}
	if im.view, err = im.Refs.Read(); err != nil || im.line != nil {
		return err
	}
	tip := im.view.Get(RefName(im.out.Session, MainBranch)).ID
	im.line = im.lineage(tip)
	im.edits, err = im.editsAt(tip)
	return err
}

// find returns the entry that a message was first said as in the session; the zero ID where there is none.
func (im *messageImporter) find(src *Source, o transcript.Origin) (format.ID, error) {
	if o.Agent == transcript.Own {
		id, err := format.ParseID(o.Message)
		if err != nil {
			return format.ID{}, nil
		}
		in, err := im.line.has(id)
		if err != nil || in {
			return id, err
		}
		return format.ID{}, nil
	}
	ids, err := im.sourced(src)
	if err != nil || len(ids) == 0 {
		return format.ID{}, err
	}
	return ids[0], nil
}

// sourced returns the entries of a source in the session, rewound ones included, first versions alone.
func (im *messageImporter) sourced(src *Source) (list []format.ID, err error) {
	key, err := (&format.Source{Agent: src.Agent, Session: src.Session, Message: src.Message, Digest: strings.Repeat("0", 16)}).Key()
	if err != nil {
		return nil, nil // Append says why
	}
	ids, err := im.bySource(im.view, key)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if in, err := im.line.has(id); err != nil {
			return nil, err
		} else if !in {
			continue
		}
		e, err := im.entry(id)
		if err != nil {
			return nil, err
		}
		if s := e.Source; e.Amends.IsZero() && s != nil && s.Agent == src.Agent && s.Session == src.Session && s.Message == src.Message {
			list = append(list, id)
		}
	}
	return list, nil
}

func (im *messageImporter) flush() error {
	if len(im.batch) == 0 {
		return nil
	}
	done, found, err := im.Append(im.ctx, im.out.Session, MainBranch, im.batch, AppendOptions{Verb: refs.VerbImport, Orphan: true, NoGraduation: true})
	if err != nil {
		return err
	}
	for i, a := range done {
		im.ids[im.from[i]] = a.ID
	}
	im.out.add(im.batch, done, found)
	im.batch, im.from, im.size, im.view = im.batch[:0], im.from[:0], 0, nil
	return nil
}

// rewind brings a rewind into the session.
func (im *messageImporter) rewind(st transcript.Step) error {
	to := st.RewindTo
	if im.copy != nil && im.copy.left[to] {
		if to = im.copy.first; to == (transcript.Origin{}) {
			return nil // nothing but copies leaves
		}
	}
	target, ok := im.ids[to]
	if !ok {
		return fmt.Errorf("no entry for %q", st.RewindTo.Message)
	}
	src := im.source(st.Message.Origin)
	src.Record = []byte(src.Message)
	im.view = nil
	done, err := im.Rewind(im.ctx, im.out.Session, MainBranch, target, RewindOptions{Source: src})
	switch {
	case errors.Is(err, ErrNotFound):
		im.out.Known++ // it left before
		return nil
	case err != nil:
		return err
	case done.Known:
		im.out.Known++
	default:
		im.out.Rewinds++
	}
	return nil
}
