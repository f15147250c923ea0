package exporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Said is a message or note of a branch, with its place in the conversation.
type Said struct {
	*history.Shown
	Number int      // from 0
	Seq    uint64   // the number of messages up to and with it
	Path   []string // the branches of the forks around it, outermost first
	// Invocation is the invocation that the entry names or inherits from another entry; "" if
	// Opener identifies it.
	Invocation string
	// Opener is the number of the user message that opened the invocation; -1 if no message did or
	// Invocation is set.
	Opener int
	// Caller is the number of the message whose calls this one answers: -1 if it answers none,
	// NoCaller if that message is not in the conversation.
	Caller int
	Open   []string // its calls without a result
}

// NoCaller is the Caller of a result whose call is not in the conversation.
const NoCaller = -2

// Conversation is the list of messages and notes of a branch, without their content.
type Conversation struct {
	s       *Reader
	entries []placed     // messages and notes, oldest first
	all     []placed     // with forks, joins and what else there is
	edits   *edits.Edits // the masks to apply
}

// placed is an entry with its place in a conversation.
type placed struct {
	id, version format.ID
	parent      format.ID
	kind, role  string
	name        string // of the invocation; "" if the entry does not name one
	calls       []string
	results     []string
	path        []string
	source      *format.Source
	first       string // the session in which it was said first
	when        time.Time
	apart       bool // of a session of its own, in whose place the path stands
	said        Said // without Shown
}

// isSaid reports whether an entry is a message or a note.
func (p *placed) isSaid() bool {
	return p.kind == format.KindMessage || p.kind == format.KindNote
}

// Conversation reads a branch for an export. Calls, results and invocations are matched from the
// entries' headers. Joined messages are included, rewound ones are not. With masked the messages
// are shown as the branch's masks say.
func (s *Reader) Conversation(
	v *refs.View, session, branch string, masked bool,
) (*Conversation, error) {
	tip, err := history.Tip(v, session, branch)
	if err != nil {
		return nil, err
	}
	base, err := s.pathOf(v, session, branch, tip.ID)
	if err != nil {
		return nil, err
	}
	w := &conversationWalk{lanes: lanes{at: map[format.ID][]string{tip.ID: base}},
		newer: map[format.ID]placed{}}
	if err := w.walk(s, tip.ID, nil); err != nil {
		return nil, err
	}
	c := &Conversation{s: s, edits: &edits.Edits{}}
	if masked {
		if c.edits, err = s.edits.EditsAt(tip.ID); err != nil {
			return nil, err
		}
	}
	c.settle(w.list)
	return c, nil
}

// settle takes a list of entries, oldest first.
func (c *Conversation) settle(list []placed) {
	c.all, c.entries = list, nil
	settleRuns(list)
	for _, p := range list {
		if p.isSaid() {
			c.entries = append(c.entries, p)
		}
	}
	pair(c.entries)
}

// Each calls each for every message and note, oldest first, with one entry in memory at a time. It
// stops at the first error and returns it.
func (c *Conversation) Each(each func(Said) error) error {
	for _, p := range c.entries {
		shown, err := c.s.Version(p.id, p.version)
		if err != nil {
			return err
		}
		p.said.Shown = c.edits.MaskedShown(shown)
		if err := each(p.said); err != nil {
			return err
		}
	}
	return nil
}

// write writes the messages and notes as a transcript, and closes it. each sees every one first,
// may change the item, and decides whether it is left out.
func (c *Conversation) write(
	ctx context.Context, w transcript.Writer, each func(*Said,
		*transcript.Item) (leave bool, err error),
) (transcript.Written, error) {
	newest := c.newestNotes()
	err := c.Each(func(said Said) error {
		if said.Entry.Kind == format.KindNote && newest[Source(said.Entry.Source)] > said.Number {
			return ctx.Err() // the agent has written it again
		}
		it := transcript.Item{
			Message: MessageOf(said.Shown), Entry: said.ID.String(), Open: said.Open,
			Orphan: said.Caller == NoCaller,
			Number: said.Number, Caller: said.Caller, Turn: said.Invocation, Path: said.Path,
		}
		if leave, err := each(&said, &it); err != nil || leave {
			return errors.Join(err, ctx.Err())
		}
		return errors.Join(w.Add(it), ctx.Err())
	})
	if err != nil {
		return transcript.Written{}, err
	}
	return w.Close()
}

// newestNotes returns the numbers of the newest notes of each origin. An agent that changes a
// record which is no message, such as the head of a transcript, has one of them.
func (c *Conversation) newestNotes() map[transcript.Origin]int {
	newest := map[transcript.Origin]int{}
	for _, p := range c.entries {
		if p.kind == format.KindNote && p.source != nil {
			newest[Source(p.source)] = p.said.Number
		}
	}
	return newest
}

// Source returns the origin that a source names; the zero Origin for none.
func Source(s *format.Source) (of transcript.Origin) {
	if s != nil {
		of = transcript.Origin{Agent: s.Agent, Session: s.Session, Message: s.Message}
	}
	return of
}

// conversationWalk collects entries, newest first.
type conversationWalk struct {
	lanes lanes
	newer map[format.ID]placed // the newest version of each message
	list  []placed
}

// walk collects the entries that a tip stands on, oldest first, but for those in known.
func (w *conversationWalk) walk(s *Reader, tip format.ID, known map[format.ID]bool) error {
	for e, err := range s.Walk(tip, history.WithJoined) {
		if err != nil {
			return err
		}
		if known[e.ID] {
			break
		}
		w.entry(e.ID, e.Entry)
	}
	slices.Reverse(w.list)
	return nil
}

func (w *conversationWalk) entry(id format.ID, e *format.Entry) {
	p := placed{said: Said{Seq: e.Seq}, id: id, parent: history.FirstParent(e), kind: e.Kind,
		role: e.Role, name: e.Invocation, results: e.Results, source: e.Source,
		first: e.Session, when: e.Time}
	for _, c := range e.Calls {
		p.calls = append(p.calls, c.ID)
	}
	p.path = w.lanes.visit(id, e)
	if e.Kind == format.KindAmend {
		if _, known := w.newer[e.Amends]; !known {
			w.newer[e.Amends] = p
		}
	}
	if newest, ok := w.newer[id]; ok {
		p.version, p.calls, p.results, p.name = newest.id, newest.calls, newest.results, newest.name
	}
	w.list = append(w.list, p)
}

// lanes finds the branches of forks in which an entry was said, for a history that is walked newest
// first.
type lanes struct{ at map[format.ID][]string }

// visit returns the path of an entry, and sets the paths of its parents.
func (l *lanes) visit(id format.ID, e *format.Entry) []string {
	path := l.at[id]
	delete(l.at, id)
	if n := len(path); e.Kind == format.KindFork && n > 0 &&
		slices.Contains(e.Children, path[n-1]) {
		path = path[:n-1] // this is the parent of a child's first entry
	}
	for i, tip := range e.Parents {
		to := path
		if i > 0 {
			name := fmt.Sprintf("child%d", i)
			if i <= len(e.Children) {
				name = e.Children[i-1]
			}
			to = append(slices.Clip(path), name)
		}
		if _, settled := l.at[tip]; !settled {
			l.at[tip] = to
		}
	}
	return path
}

// pathOf returns the path at the tip of a branch: the branch itself if it is a child of a fork,
// after the branches around that fork.
func (s *Reader) pathOf(
	v *refs.View, session, branch string, tip format.ID,
) (path []string, err error) {
	if branch == history.MainBranch {
		return nil, nil // it is not a child of a fork
	}
	type fork struct {
		id       format.ID
		children []string
	}
	var forks []fork // on the branch's own line, newest first
	var joined []string
	for at := tip; !at.IsZero(); {
		e, err := s.Header(at)
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case format.KindFork:
			forks = append(forks,
				fork{at,
					slices.DeleteFunc(slices.Clone(e.Children),
						func(c string) bool { return slices.Contains(joined, c) })})
		case format.KindJoin:
			joined = append(joined, e.Children...)
		}
		at = history.FirstParent(e)
	}
	own := slices.IndexFunc(forks, func(f fork) bool { return slices.Contains(f.children, branch) })
	if own < 0 {
		return nil, nil
	}
	path = []string{branch}
	for i := own + 1; i < len(forks); i++ {
		for _, child := range forks[i].children {
			at := v.Get(history.RefName(session, child)).ID
			if at.IsZero() {
				continue
			}
			base, err := s.MergeBase(at, forks[i-1].id)
			if err != nil {
				return nil, err
			}
			if base == forks[i-1].id {
				path = slices.Insert(path, 0, child)
				break
			}
		}
	}
	return path, nil
}

// invoked identifies an invocation: by its name, or by the number of the user message that opened
// it.
type invoked struct {
	name   string
	opener int
}

// settleRuns assigns an invocation to each entry, oldest first: the one that the entry names, the
// one that it opens as a user message, or that of the entry before it. An entry in a fork refers to
// its invocation by the message that opened it.
func settleRuns(list []placed) {
	of := map[format.ID]invoked{}
	opened := map[string]invoked{}
	number := 0
	for i := range list {
		p := &list[i]
		r, ok := of[p.parent]
		if !ok {
			r.opener = -1
		}
		if by, ok := opened[p.name]; ok {
			r = by
		} else if p.name != "" {
			r = invoked{p.name, -1}
		} else if p.kind == format.KindMessage && p.role == "user" {
			r = invoked{"", number}
			opened[p.id.String()] = r
			if p.source != nil && p.source.Agent == transcript.Own {
				opened[p.source.Message] = r // the id of the entry in the store where it was said
			}
		}
		of[p.id] = r
		p.said.Number, p.said.Invocation, p.said.Opener = number, r.name, r.opener
		if !p.apart {
			p.said.Path = p.path
		}
		if p.isSaid() {
			number++
		}
	}
}

// pair matches results with calls. A result answers the newest message that made the call, in the
// same branch or in one around it. A call that the provider carried out has its result beside it.
func pair(list []placed) {
	type key struct{ lane, call string }
	made := map[key]int{}
	for i := range list {
		p := &list[i]
		p.said.Caller = -1
		if p.kind != format.KindMessage {
			continue
		}
		ownResult := func(id string) bool { return slices.Contains(p.calls, id) }
		results := slices.DeleteFunc(slices.Clone(p.results), ownResult)
		if len(results) > 0 {
			p.said.Caller = NoCaller
		}
		for _, r := range results {
			for n := len(p.path); n >= 0; n-- {
				at, ok := made[key{strings.Join(p.path[:n], "/"), r}]
				if !ok {
					continue
				}
				p.said.Caller = max(p.said.Caller, at)
				caller := &list[at].said
				caller.Open = slices.DeleteFunc(caller.Open,
					func(id string) bool { return id == r })
				break
			}
		}
		p.said.Open = slices.DeleteFunc(slices.Clone(p.calls),
			func(id string) bool { return slices.Contains(p.results, id) })
		for _, id := range p.calls {
			made[key{strings.Join(p.path, "/"), id}] = i
		}
	}
}
