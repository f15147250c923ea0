package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// Said is a message or a note of a branch, and its place in the conversation.
type Said struct {
	*Shown
	Number int      // from 0
	Seq    uint64   // how many messages there are up to it
	Path   []string // the branches that it was said in, where that was in a fork, the outer one first
	// Invocation is the one that it names, or inherits from an entry that does; "" where Opener says which it is.
	Invocation string
	// Opener is the number of the user's message that opened its invocation; -1 where no message did, and where Invocation names it.
	Opener int
	// Caller is the number of the message that made the calls which this one answers; -1 where it answers none, NoCaller where nobody made them.
	Caller int
	Open   []string // calls of it that nobody answers
}

// NoCaller is the Caller of a result whose call is not in the conversation.
const NoCaller = -2

// Conversation is what was said in a branch, without the words.
type Conversation struct {
	s       *Store
	entries []placed // messages and notes, oldest first
	edits   *edits   // masks that are to show
}

// placed is an entry of a conversation.
type placed struct {
	id, version format.ID
	parent      format.ID
	kind, role  string
	name        string // of the invocation, where the entry says it
	calls       []string
	results     []string
	path        []string
	source      *format.Source
	said        Said // without Shown
}

// Conversation reads a branch for somebody who writes it down in another form: what belongs to what is settled from the headers. What was rewound is not
// in it; what was joined is. With masked its messages are shown as the branch's masks say.
func (s *Store) Conversation(v *refs.View, session, branch string, masked bool) (*Conversation, error) {
	tip, err := Tip(v, session, branch)
	if err != nil {
		return nil, err
	}
	base, err := s.pathOf(v, session, branch, tip.ID)
	if err != nil {
		return nil, err
	}
	w := &conversationWalk{lanes: lanes{at: map[format.ID][]string{tip.ID: base}}, newer: map[format.ID]placed{}}
	if err := s.back(tip.ID, w.entry); err != nil {
		return nil, err
	}
	slices.Reverse(w.list)
	c := &Conversation{s: s, edits: &edits{}}
	if masked {
		if c.edits, err = s.editsAt(tip.ID); err != nil {
			return nil, err
		}
	}
	settleRuns(w.list)
	for _, p := range w.list {
		if p.kind == format.KindMessage || p.kind == format.KindNote {
			c.entries = append(c.entries, p)
		}
	}
	pair(c.entries)
	return c, nil
}

// Each reads what was said, oldest first, one entry after the other. It stops when each returns an error, and returns that.
func (c *Conversation) Each(each func(Said) error) error {
	for _, p := range c.entries {
		shown, err := c.s.Version(p.id, p.version)
		if err != nil {
			return err
		}
		p.said.Shown = c.edits.maskedShown(shown)
		if err := each(p.said); err != nil {
			return err
		}
	}
	return nil
}

// conversationWalk gathers entries, newest first.
type conversationWalk struct {
	lanes lanes
	newer map[format.ID]placed // by the message, its newest version
	list  []placed
}

func (w *conversationWalk) entry(id format.ID, e *format.Entry) bool {
	p := placed{said: Said{Seq: e.Seq}, id: id, parent: firstParent(e), kind: e.Kind, role: e.Role, name: e.Invocation, results: e.Results, source: e.Source}
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
	return true
}

// lanes tells in which branches of a fork an entry was said, for a history that is gone through newest first.
type lanes struct{ at map[format.ID][]string }

// visit returns the path of an entry, and settles that of its parents.
func (l *lanes) visit(id format.ID, e *format.Entry) []string {
	path := l.at[id]
	delete(l.at, id)
	if n := len(path); e.Kind == format.KindFork && n > 0 && slices.Contains(e.Children, path[n-1]) {
		path = path[:n-1] // a child came here from its first entry
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

// pathOf is the path of what is said at the end of a branch: the branch itself where it is a child of a fork, and the branches that this fork is in.
func (s *Store) pathOf(v *refs.View, session, branch string, tip format.ID) (path []string, err error) {
	if branch == MainBranch {
		return nil, nil // no fork starts it
	}
	type fork struct {
		id       format.ID
		children []string
	}
	var forks []fork // on the branch's own line, newest first
	var joined []string
	for at := tip; !at.IsZero(); {
		e, err := s.entry(at)
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case format.KindFork:
			forks = append(forks, fork{at, slices.DeleteFunc(slices.Clone(e.Children), func(c string) bool { return slices.Contains(joined, c) })})
		case format.KindJoin:
			joined = append(joined, e.Children...)
		}
		at = firstParent(e)
	}
	own := slices.IndexFunc(forks, func(f fork) bool { return slices.Contains(f.children, branch) })
	if own < 0 {
		return nil, nil
	}
	path = []string{branch}
	for i := own + 1; i < len(forks); i++ {
		for _, child := range forks[i].children {
			at := v.Get(RefName(session, child)).ID
			if at.IsZero() {
				continue
			}
			base, err := s.Base(at, forks[i-1].id)
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

// invoked is an invocation: by its name, or by the number of the user's message that opened it.
type invoked struct {
	name   string
	opener int
}

// settleRuns says to which invocation each of the entries of a history belongs, oldest first: the one it names, the one it opens as a message of the user,
// or that of the entry before it. What was said in a fork names the invocation that it was in by the entry which opened it.
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
				opened[p.source.Message] = r // the entry that it was in the store where it was said
			}
		}
		of[p.id] = r
		p.said.Number, p.said.Path, p.said.Invocation, p.said.Opener = number, p.path, r.name, r.opener
		if p.kind == format.KindMessage || p.kind == format.KindNote {
			number++
		}
	}
}

// pair joins calls and results. A result answers the newest message that made its call in the branch where it was said, or in one around it.
func pair(list []placed) {
	type key struct{ lane, call string }
	made := map[key]int{}
	for i := range list {
		p := &list[i]
		p.said.Caller = -1
		if p.kind != format.KindMessage {
			continue
		}
		if len(p.results) > 0 {
			p.said.Caller = NoCaller
		}
		for _, r := range p.results {
			for n := len(p.path); n >= 0; n-- {
				at, ok := made[key{strings.Join(p.path[:n], "/"), r}]
				if !ok {
					continue
				}
				p.said.Caller = max(p.said.Caller, at)
				caller := &list[at].said
				caller.Open = slices.DeleteFunc(caller.Open, func(id string) bool { return id == r })
				break
			}
		}
		p.said.Open = slices.Clone(p.calls)
		for _, id := range p.calls {
			made[key{strings.Join(p.path, "/"), id}] = i
		}
	}
}
