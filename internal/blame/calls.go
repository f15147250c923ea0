package blame

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/blame/replay"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Query says which calls are looked for.
type Query struct {
	Project replay.Project
	Name    string        // the file, from the root of the project, with slashes
	Earlier func() []Name // names that it had; nil for none. It is asked once, when they are needed
	Session string        // only calls of this session; "" for all
	Rewound bool          // also calls that were rewound
}

// Name is a name that the file had, up to a time; the zero time for any.
type Name struct {
	Path  string
	Until time.Time
}

// Call is a call of a tool that changed the file.
type Call struct {
	Entry    format.ID // the message that makes it
	Header   *format.Entry
	ID, Tool string
	Changes  []replay.Change // of the file; never empty
	Checkout string          // the directory of the project in which it was made; "" if not known
	Rewound  bool            // no branch has it any more

	turn   int     // of the session, from 0
	at     int     // among the calls of the entry
	args   string  // as they are stored
	before *string // the text of the file before, where the agent kept it
}

// Calls returns the calls that changed a file, oldest first. A call that failed is not among them,
// nor one whose words were forgotten. A call that several sessions have, because one began as a
// copy of the other, is there once.
func (s *Reader) Calls(view *refs.View, q Query) ([]*Call, error) {
	f := &finder{Reader: s, Query: q, names: []Name{{Path: q.Name}}}
	if err := f.newest(view); err != nil {
		return nil, err
	}
	var sessions []*ofSession
	for _, ref := range view.Names("sessions/") {
		name, _, _ := history.BranchOfRef(ref)
		if q.Session != "" && q.Session != name {
			continue
		}
		if n := len(sessions); n == 0 || sessions[n-1].name != name {
			sessions = append(sessions,
				&ofSession{finder: f, name: name, making: map[format.ID]bool{},
					answers: map[string][]answer{}})
		}
		last := sessions[len(sessions)-1]
		last.tips = append(last.tips, view.Get(ref).ID)
	}
	if err := each(sessions, (*ofSession).walk); err != nil {
		return nil, err
	}
	if q.Earlier != nil {
		f.names = append(f.names, q.Earlier()...)
	}
	for known := 0; known < len(f.names) && known < maxNames; {
		known = len(f.names)
		if err := each(sessions, (*ofSession).read); err != nil {
			return nil, err
		}
		for _, o := range sessions {
			f.addNames(o.renamed)
		}
	}
	var list []*Call
	for _, o := range sessions {
		list = append(list, o.found...)
	}
	return inOrder(list), nil
}

// inOrder sorts calls by time, and removes those that are there again.
func inOrder(list []*Call) []*Call {
	slices.SortStableFunc(list, func(a, b *Call) int {
		return cmp.Or(a.Header.Time.Compare(b.Header.Time),
			cmp.Compare(a.Header.Session, b.Header.Session),
			cmp.Compare(a.Header.Seq, b.Header.Seq), cmp.Compare(a.at, b.at))
	})
	type said struct{ id, args string }
	calls, places := map[said]bool{}, map[string]bool{}
	return slices.DeleteFunc(list, func(c *Call) bool {
		key, place := said{c.ID, c.args}, string(c.Entry[:])+strconv.Itoa(c.at)
		again := c.ID != "" && calls[key] || places[place]
		calls[key], places[place] = true, true
		return again
	})
}

// maxNames bounds how often a file may be renamed by calls.
const maxNames = 64

// each calls do for every session, several at once, and returns the first error.
func each(list []*ofSession, do func(*ofSession) error) error {
	errs := make([]error, len(list))
	lists.OnAll(len(list), func(i int) { errs[i] = do(list[i]) })
	return errors.Join(errs...)
}

// finder is what all sessions share while they are read.
type finder struct {
	*Reader
	Query
	names  []Name
	latest map[format.ID]format.ID // the newest versions of the entries that were amended
}

// ofSession looks for calls in a session.
type ofSession struct {
	*finder
	name    string
	tips    []format.ID
	makers  []maker
	making  map[format.ID]bool  // the entries of makers
	answers map[string][]answer // by the id of the call
	prompts []uint64            // the seqs of the messages of the user
	oldest  []format.ID         // the entries that came first, newest first
	dir     *string             // the directory in which it worked; nil if nobody has looked yet
	found   []*Call
	renamed []Name
}

// maker is an entry that makes calls.
type maker struct {
	id      format.ID
	header  *format.Entry
	rewound bool
}

// answer is an entry with the result of a call.
type answer struct {
	id  format.ID
	seq uint64
}

// walk collects the entries that make calls that may change a file, and those with results.
func (o *ofSession) walk() error {
	seen := map[format.ID]bool{}
	var left []format.ID
	visit := func(tip format.ID, rewound bool) error {
		for todo := []format.ID{tip}; len(todo) > 0; {
			id := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if id.IsZero() || seen[id] {
				continue
			}
			seen[id] = true
			e, err := o.Header(id)
			if err != nil {
				return err
			}
			todo = append(todo, e.Parents...)
			left = append(left, e.Left)
			if err := o.take(id, e, rewound); err != nil {
				return err
			}
		}
		return nil
	}
	for _, tip := range o.tips {
		if err := visit(tip, false); err != nil {
			return err
		}
	}
	for o.Rewound && len(left) > 0 {
		id := left[len(left)-1]
		left = left[:len(left)-1]
		if err := visit(id, true); err != nil {
			return err
		}
	}
	slices.Sort(o.prompts)
	return nil
}

// early is the number of entries at the beginning of a session that are asked for its directory.
const early = 12

// take notes what an entry has. The calls of a message may have come with an amendment of it.
func (o *ofSession) take(id format.ID, e *format.Entry, rewound bool) (err error) {
	if e.Seq <= early {
		o.oldest = append(o.oldest, id)
	}
	if e.Kind != format.KindMessage && e.Kind != format.KindAmend {
		return nil
	}
	of, calls, results := e, e.Calls, e.Results
	if e.Kind == format.KindAmend {
		id = e.Amends
		if of, err = o.Header(id); err != nil {
			return err
		}
	}
	if e.Kind == format.KindMessage && e.Role == "user" && len(results) == 0 {
		o.prompts = append(o.prompts, e.Seq)
	}
	if slices.ContainsFunc(calls, func(c format.Call) bool { return replay.MayChange(c.Tool) }) &&
		!o.making[id] {
		o.making[id] = true
		o.makers = append(o.makers, maker{id, of, rewound})
	}
	for _, call := range results {
		o.answers[call] = append(o.answers[call], answer{id, of.Seq})
	}
	return nil
}

// newest notes the newest versions of the entries that were amended.
func (f *finder) newest(view *refs.View) error {
	f.latest = map[format.ID]format.ID{}
	return f.ReadLinks(view, func(l *history.Links) error {
		for id, list := range l.Newer {
			if len(list) > 0 {
				f.latest[id] = list[len(list)-1]
			}
		}
		return nil
	})
}

// parts returns the parts of an entry in its newest version, as JSON; nil if it has none, or if
// they were forgotten.
func (f *finder) parts(id format.ID) ([]byte, error) {
	if newer, ok := f.latest[id]; ok {
		id = newer
	}
	_, text, err := f.Text(id)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return nil, nil
	}
	return text, err
}

// read finds the calls of a session that changed the file.
func (o *ofSession) read() error {
	o.found = nil
	for i := range o.makers {
		if err := o.readEntry(&o.makers[i]); err != nil {
			return err
		}
	}
	return nil
}

// readEntry finds the calls of an entry that changed the file.
func (o *ofSession) readEntry(m *maker) error {
	raw, err := o.parts(m.id)
	if err != nil || !o.named(raw) {
		return err
	}
	parts, err := message.Parse(raw)
	if err != nil {
		return nil //nolint:nilerr // words that are no parts make no calls
	}
	dir, err := o.directory(parts)
	if err != nil {
		return err
	}
	turn, _ := slices.BinarySearch(o.prompts, m.header.Seq)
	for at, c := range message.Deeds(parts) {
		if !replay.MayChange(c.Name) {
			continue
		}
		call := &Call{Entry: m.id, Header: m.header, ID: c.ID, Tool: c.Name, Rewound: m.rewound,
			turn: turn, at: at, args: string(c.Args)}
		for _, change := range replay.Changes(c.Name, c.Args, dir) {
			if root, ok := o.is(change.Path, dir, m.header.Time); ok {
				call.Checkout, call.Changes = root, append(call.Changes, change)
				o.wasNamed(change, root, dir, m.header.Time)
			}
		}
		if len(call.Changes) == 0 {
			continue
		}
		if done, err := o.answer(call); err != nil {
			return err
		} else if done {
			o.found = append(o.found, call)
		}
	}
	return nil
}

// named reports whether parts have the last element of one of the names.
func (f *finder) named(raw []byte) bool {
	return slices.ContainsFunc(f.names, func(n Name) bool {
		quoted, _ := json.Marshal(path.Base(n.Path)) // a string can always be printed
		return bytes.Contains(raw, quoted[1:len(quoted)-1]) ||
			bytes.Contains(raw, []byte(path.Base(n.Path)))
	})
}

// is reports whether a path was the file at a time.
func (f *finder) is(file, dir string, at time.Time) (root string, ok bool) {
	for _, n := range f.names {
		if !n.Until.IsZero() && at.After(n.Until.Add(slack)) {
			continue
		}
		if root, ok = f.Project.Checkout(file, dir, n.Path); ok {
			return root, true
		}
	}
	return "", false
}

// wasNamed notes the name that the file had before a change.
func (o *ofSession) wasNamed(c replay.Change, root, dir string, at time.Time) {
	if c.From == "" {
		return
	}
	name := strings.TrimPrefix(c.From, root+"/")
	if _, ok := o.Project.Checkout(c.From, dir, name); ok && name != "" {
		o.renamed = append(o.renamed, Name{name, at})
	}
}

// addNames adds the names that are not known yet.
func (f *finder) addNames(list []Name) {
	for _, more := range list {
		if !slices.ContainsFunc(f.names, func(n Name) bool { return n.Path == more.Path }) {
			f.names = append(f.names, more)
		}
	}
}

// directory returns the directory in which a session worked when it made calls.
func (o *ofSession) directory(parts []message.Part) (string, error) {
	if dir := message.Directory(parts); dir != "" {
		return dir, nil
	}
	if o.dir != nil {
		return *o.dir, nil
	}
	o.dir = new(string)
	for _, id := range slices.Backward(o.oldest) {
		raw, err := o.parts(id)
		if err != nil {
			return "", err
		}
		if parts, err := message.Parse(raw); err == nil {
			if dir := message.Directory(parts); dir != "" {
				*o.dir = dir
				break
			}
		}
	}
	return *o.dir, nil
}

// answer reads the result of a call. done is false if the call failed. A call without a result
// counts: an agent may have been stopped before it wrote the result down, and what the call did is
// compared with the file.
func (o *ofSession) answer(c *Call) (done bool, err error) {
	list := o.answers[c.ID]
	var nearest *answer
	for i := range list {
		if a := &list[i]; a.seq >= c.Header.Seq && (nearest == nil || a.seq < nearest.seq) {
			nearest = a
		}
	}
	if nearest == nil || c.ID == "" {
		return true, nil
	}
	raw, err := o.parts(nearest.id)
	if err != nil {
		return false, err
	}
	parts, err := message.Parse(raw)
	if err != nil {
		return true, nil //nolint:nilerr // words that are no parts say nothing
	}
	for _, r := range message.Results(parts) {
		if r.ID != c.ID {
			continue
		}
		result := digest.Result{Output: r.Output(), Failed: r.Failed()}
		exit, failed := result.Outcome()
		if failed &&
			!(replay.RunsCommands(c.Tool) && exit > 0 &&
				!strings.Contains(c.args, "*** Begin Patch")) {
			return false, nil
		}
	}
	if len(message.Results(parts)) == 1 {
		c.before = keptText(parts)
	}
	return true, nil
}

// keptText returns the text of the file before a call, which Claude Code keeps with the result; nil
// if it is not there.
func keptText(parts []message.Part) *string {
	for i := range parts {
		if p := &parts[i]; p.Thought && bytes.Contains(p.Raw, []byte(`"originalFile"`)) {
			var kept struct {
				Claude struct {
					Result struct {
						Type     string  `json:"type"`
						Original *string `json:"originalFile"`
					} `json:"toolUseResult"`
				} `json:"claude-code"`
			}
			if json.Unmarshal(p.Raw, &kept) != nil {
				continue
			}
			if r := kept.Claude.Result; r.Original != nil {
				return r.Original
			} else if r.Type == "create" {
				return new(string)
			}
		}
	}
	return nil
}

// Prompt returns the message of the user that began the turn of an entry: the newest one before it
// on its own line. It is the zero id if there is none.
func (s *Reader) Prompt(id format.ID) (format.ID, error) {
	for e, err := range s.Walk(id, history.OwnLine) {
		switch {
		case err != nil:
			return format.ID{}, err
		case e.Kind == format.KindMessage && e.Role == "user" && len(e.Results) == 0:
			return e.ID, nil
		}
	}
	return format.ID{}, nil
}
