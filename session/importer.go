package session

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gemini-ctx/ctx/agent/geminicli"
	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Imported is what an import reports.
type Imported struct {
	Tally
	Session  string
	Unknown  int            // rewinds to an id that the transcript does not have: recorded as rewinds to the root
	Children []Child        // sessions of subagents that calls of this one began, as far as the transcript tells
	Skipped  map[string]int // what could not be used, by reason
	Stats    geminicli.Stats
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

// add counts what came of a batch.
func (c *Tally) add(batch []Message, done []Appended, found []sanitize.Finding) {
	for i, a := range done {
		switch {
		case a.Known:
			c.Known++
		case a.Amended:
			c.Amended++
		case batch[i].Note:
			c.Notes++
		default:
			c.Messages++
		}
	}
	c.Redacted = addFindings(c.Redacted, found)
}

// importBatch is how many messages an import records in one operation.
const importBatch = 4096

// ImportGemini brings the transcript of a Gemini CLI session into the session named as, or where as is "" the one of the transcript's own id. It can be
// run again on the same transcript, or on one that has grown: what is known is not added again.
func (s *Store) ImportGemini(ctx context.Context, r io.Reader, as string) (Imported, error) {
	im := &importer{Store: s, ctx: ctx, as: as, emitted: map[string]int{}, copies: map[string]format.ID{}}
	stats, err := readGemini(r, im.step)
	return im.end(stats, err)
}

// importer turns steps into batches of messages and rewinds.
type importer struct {
	*Store
	ctx     context.Context
	as      string
	out     Imported
	batch   []Message
	order   []string       // keys in the conversation as the transcript has it now, oldest first
	emitted map[string]int // how often a key has left the conversation by a rewind

	resumed   bool                 // the transcript goes on with a session of this store
	copies    map[string]format.ID // of it: the entries of messages that it began with, by key
	graduates bool                 // what is due graduates with each batch; else the caller sees to it
}

func (im *importer) step(st geminicli.Step) error {
	if err := im.ctx.Err(); err != nil {
		return err
	}
	if st.Kind == geminicli.KindRewind {
		if err := im.flush(); err != nil {
			return err
		}
		return im.rewind(st)
	}
	m := st.Message
	if im.out.Session == "" {
		im.out.Session = im.as
		if im.as == "" {
			im.out.Session = m.Session
			if err := im.resume(&m); err != nil {
				return err
			}
		}
	}
	if copied, err := im.copied(&m); err != nil || copied {
		return err
	}
	im.order = append(im.order, m.Key)
	im.batch = append(im.batch, im.message(st))
	if len(im.batch) == importBatch {
		return im.flush()
	}
	return nil
}

func (im *importer) message(st geminicli.Step) Message {
	m := st.Message
	when, err := time.Parse(time.RFC3339Nano, m.Time)
	if err != nil {
		when = time.Time{}
	}
	out := Message{
		Note: st.Kind == geminicli.KindNote, Role: m.Role, Author: transcript.Fit(m.Author), Text: m.Text, Parts: m.Parts, Time: when,
		Tokens: uint64(max(m.Tokens, 0)), Calls: []format.Call{}, Results: []string{},
		Source: &Source{Agent: "gemini-cli", Session: transcript.Fit(m.Session), Message: im.sourceName(m.Key), Record: m.Normal},
	}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, format.Call{ID: transcript.Fit(c.ID), Tool: transcript.Fit(c.Tool)})
	}
	for _, r := range m.Results {
		out.Results = append(out.Results, transcript.Fit(r))
	}
	return out
}

// sourceName tells a message that was said again after it had been rewound away from the first time.
func (im *importer) sourceName(key string) string {
	name := transcript.Fit(key)
	if n := im.emitted[key]; n > 0 {
		return fmt.Sprintf("%s#%d", name, n+1)
	}
	return name
}

func (im *importer) flush() error {
	if len(im.batch) == 0 {
		return nil
	}
	if im.out.Session == "" {
		return fmt.Errorf("%w: the transcript names no session: give one", ErrInput)
	}
	done, found, err := im.Append(im.ctx, im.out.Session, MainBranch, im.batch, AppendOptions{Verb: refs.VerbImport, Orphan: true, NoGraduation: !im.graduates})
	if err != nil {
		return err
	}
	im.out.add(im.batch, done, found)
	im.batch = im.batch[:0]
	return nil
}

func addFindings(a, b []sanitize.Finding) []sanitize.Finding {
	for _, f := range b {
		at := -1
		for i := range a {
			if a[i].Class == f.Class {
				at = i
			}
		}
		if at < 0 {
			a = append(a, f)
		} else {
			a[at].Count += f.Count
		}
	}
	return a
}

// rewind brings a rewind of the transcript into the session.
func (im *importer) rewind(st geminicli.Step) error {
	if im.out.Session == "" {
		return nil // nothing was said before it
	}
	cut := 0
	for i, key := range im.order {
		if st.RewindTo != "" && key == st.RewindTo {
			cut = i
			break
		}
	}
	gone := im.order[cut:]
	view, err := im.Refs.Read()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("rewind:%s@%d", transcript.Fit(st.RewindTo), im.rewinds())
	src := &Source{Agent: "gemini-cli", Session: transcript.Fit(im.out.Session), Message: transcript.Fit(name), Record: []byte(name)}
	target := format.ID{}
	if st.RewindTo != "" {
		if target, err = im.findKey(view.Get(RefName(im.out.Session, MainBranch)).ID, im.sourceName(st.RewindTo)); err != nil {
			return err
		}
	}
	if id, ok := im.copies[st.RewindTo]; ok {
		target = id
	}
	if target.IsZero() && st.RewindTo != "" {
		im.out.Known++ // it left when the transcript was read before
	} else if view.Get(RefName(im.out.Session, MainBranch)).Exists() {
		done, err := im.Rewind(im.ctx, im.out.Session, MainBranch, target, RewindOptions{Source: src})
		if err != nil {
			return err
		}
		if done.Known {
			im.out.Known++
		} else {
			im.out.Rewinds++
		}
	}
	for _, key := range gone {
		im.emitted[key]++
	}
	im.emitted[rewindCount]++
	im.order = im.order[:cut]
	return nil
}

// rewindCount is the key under which rewinds are counted; no message has it, since keys are not empty.
const rewindCount = ""

func (im *importer) rewinds() int { return im.emitted[rewindCount] }

// findKey finds the entry of a message in the branch; the zero ID where it is not there any more.
func (im *importer) findKey(tip format.ID, message string) (found format.ID, err error) {
	if tip.IsZero() {
		return found, nil
	}
	err = im.back(tip, func(id format.ID, e *format.Entry) bool {
		if e.Source != nil && e.Source.Message == message && e.Source.Agent == "gemini-cli" && e.Amends.IsZero() {
			found = id
			return false
		}
		return true
	})
	return found, err
}
