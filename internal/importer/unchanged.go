package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Imports is one run of an import over any number of transcripts. It knows which of them bring
// nothing new without reading them: the cache holds what an earlier run made of a file, and all
// that this depended on. It is for one goroutine.
type Imports struct {
	*Writer
	// Named says that somebody has asked for the files by name. They may bring back sessions that
	// were removed; else Import tells then of a *RemovedError.
	Named bool

	program  string
	rules    string // digest of what decides, beside file and sessions, what an import does
	mark     int    // ForgetMark at the beginning
	off      bool   // nothing is remembered in this run
	refs     map[string]format.Value
	branches map[string][]string // names of refs, by session
	pending  []*remembered
	group    group
	changes  int                 // counts what may change an answer of Unchanged
	answers  map[File]answer     // of Unchanged that are asked for once more
	forked   map[string][]string // the forks of the store at forkedAt; nil if they are not known
	forkedAt int                 // a count of changes
}

// File is a transcript on disk, as it was before it was read.
type File struct {
	Path  string // absolute
	Agent string // name of its form
	As    string // the session that was asked for; "" for the transcript's own
	Size  int64
	Time  int64  // of the last change, in nanoseconds
	Ends  string // digest of the first and last bytes
}

// remembered is what the cache holds about a file that was imported.
type remembered struct {
	File
	Rules    string
	Sessions map[string]string  // digests of the refs of the sessions that the import depends on
	Begins   []beginning        // how the sessions begin with copies of others
	Links    string             // digest of the links of Children, if nothing is left to link
	Done     ImportedTranscript // the report of the next import
}

// repeated says what another import of the same transcript does.
type repeated struct {
	sessions []string // that the transcript went to
	redacted []sanitize.Finding
	begins   []beginning
	once     bool // the report of another import is not known
}

// BeginImports begins a run. program identifies the build: another one may read a file otherwise.
// The caller ends the run with Remember.
func (s *Writer) BeginImports(program string) (*Imports, error) {
	view, err := s.Refs.Read()
	if err != nil {
		return nil, err
	}
	r := &Imports{Writer: s, program: program, refs: view.All(), branches: map[string][]string{}}
	r.group.Writer = s
	for name := range r.refs {
		r.addBranch(name)
	}
	r.mark, err = s.ForgetMark()
	if err != nil || r.mark < 0 {
		r.off = true // the import itself reports what is wrong
		return r, nil
	}
	if r.rules, err = r.rulesNow(); err != nil {
		r.off = true
	}
	s.store.OnCommit(r.committed)
	s.KeepWritten() // to graduate it
	return r, nil
}

// rulesNow computes rules.
func (r *Imports) rulesNow() (string, error) {
	key, err := r.Keyed("imported files", nil)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal([]any{r.program, r.ID, r.mark, key, r.Config.Sanitize.Extra})
	return format.Sum(b).String(), err
}

func (r *Imports) addBranch(ref string) {
	if session, _, ok := history.BranchOfRef(ref); ok {
		r.branches[session] = append(r.branches[session], ref)
	}
}

// committed takes over the refs that this process has written.
func (r *Imports) committed(op *format.Operation) {
	r.group.view = nil
	r.changes++
	for _, u := range op.Refs {
		if _, has := r.refs[u.Name]; !has {
			r.addBranch(u.Name)
		}
		r.refs[u.Name] = u.New
	}
}

// digest returns the digest of the tips of a session's branches.
func (r *Imports) digest(session string) string {
	names := slices.Sorted(slices.Values(r.branches[session]))
	h := sha256.New()
	for _, name := range names {
		if v := r.refs[name]; v.Exists() {
			fmt.Fprintf(h, "%q %x\n", name, v.ID[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// links returns the digest of all that the links of children depend on. settled is false if one of
// them is not linked and may be.
func (r *Imports) links(children []Child) (sum string, settled bool) {
	h := sha256.New()
	for _, c := range children {
		there, linked := r.exists(c.Session), r.refs[history.ParentRef(c.Session)]
		if there && !linked.Exists() {
			return sum, false
		}
		parent := r.refs[history.RefName(c.Parent.Session, history.MainBranch)]
		fmt.Fprintf(h, "%t %x %x\n", there, linked.ID[:], parent.ID[:])
	}
	return hex.EncodeToString(h.Sum(nil)), true
}

func (r *Imports) exists(session string) bool {
	return slices.ContainsFunc(r.branches[session],
		func(ref string) bool { return r.refs[ref].Exists() })
}

// answer is one of Unchanged, and the count of changes when it was given.
type answer struct {
	done    ImportedTranscript
	begins  []beginning
	ok      bool
	changes int
}

// Unchanged returns the report of an import of a file that brings nothing new, without reading it.
// ok is false if the file has to be read. Children are left out if all of them are linked.
//
// A caller asks before it begins to read the file. When it is the file's turn, it calls PassOver.
func (r *Imports) Unchanged(f File) (done ImportedTranscript, ok bool) {
	a := r.unchanged(f)
	if r.answers == nil {
		r.answers = map[File]answer{}
	}
	r.answers[f] = a
	return a.done, a.ok
}

// PassOver is Import for a file that brings nothing new: it is not read. passed is false if the
// file has to be read; then is not called in this case.
func (r *Imports) PassOver(f File, then func(ImportedTranscript) error) (passed bool, err error) {
	a, asked := r.answers[f]
	delete(r.answers, f)
	if !asked || a.changes != r.changed() {
		a = r.unchanged(f)
	}
	if !a.ok {
		return false, nil
	}
	for _, b := range a.begins {
		if b.From != b.Of {
			r.standsIn(b.Session, b.Of) // as in an import
		}
	}
	return true, r.After(func() error { return then(a.done) })
}

// changed counts what may change an answer.
func (r *Imports) changed() int {
	r.copying.Lock()
	defer r.copying.Unlock()
	return r.changes + r.group.taken + len(r.copies)
}

func (r *Imports) unchanged(f File) answer {
	a := answer{changes: r.changed()}
	if r.off {
		return a
	}
	var was remembered
	if !r.Cache.GetJSON(f.cacheName(), &was) || was.File != f || was.Rules != r.rules {
		return a
	}
	for session, sum := range was.Sessions {
		if r.group.sessions[session] {
			return a // a transcript before it says something new
		}
		if r.digest(session) != sum {
			return a
		}
	}
	for i := range was.Begins {
		if !r.beginsSo(&was.Begins[i]) {
			return a
		}
	}
	a.done, a.begins, a.ok = was.Done, was.Begins, true
	if sum, settled := r.links(a.done.Children); settled && sum == was.Links {
		a.done.Children = nil
	}
	return a
}

// beginsSo reports whether an import would compare the beginning of a session with the same session
// as before.
func (r *Imports) beginsSo(b *beginning) bool {
	switch {
	case r.exists(b.Of):
		return b.From == b.Of
	case b.From == b.Of, r.group.sessions[b.Of]:
		return false
	}
	view, err := r.group.refs()
	if err != nil {
		return false // the import itself reports what is wrong
	}
	if r.forked == nil || r.forkedAt != r.changes {
		if r.forked, err = r.Forks(view); err != nil {
			return false
		}
		r.forkedAt = r.changes
	}
	return r.standIn(view, r.forked, b.Session, b.Of) == b.From
}

func (f *File) cacheName() string {
	return cache.ImportName(strings.Join([]string{f.Path, f.Agent, f.As}, "\x00"))
}

// Imported takes note of a transcript that was imported, as soon as it is recorded: a later file of
// the same session changes what this one depends on. same says that it is the file f, and was so
// while it was read.
func (r *Imports) Imported(f File, done *ImportedTranscript, same bool) {
	again := done.again
	if r.off || again.once || !same {
		return
	}
	p := &remembered{File: f, Rules: r.rules, Sessions: map[string]string{}, Begins: again.begins,
		Done: done.next()}
	for _, session := range again.sessions {
		p.Sessions[session] = r.digest(session)
	}
	for _, b := range again.begins {
		if b.From != "" {
			p.Sessions[b.From] = r.digest(b.From)
		}
	}
	r.pending = append(r.pending, p)
}

// Remember stores what Imported took note of. It is called once everything is written and linked.
func (r *Imports) Remember() {
	if mark, err := r.ForgetMark(); r.off || err != nil || mark != r.mark {
		return
	}
	for _, p := range r.pending {
		p.Links, _ = r.links(p.Done.Children)
		// Without it the next import reads the file
		_ = r.Cache.PutJSON(p.cacheName(), cache.Stamp{}, p)
	}
}

// next returns the report of another import of the same transcript.
func (t *ImportedTranscript) next() ImportedTranscript {
	n := ImportedTranscript{Session: t.Session, Children: t.Children, Stats: t.Stats}
	n.Stats.Home, n.Stats.Spawned = nil, nil // Children has what they say
	n.Known, n.Redacted = t.Known+t.Messages+t.Notes, t.again.redacted
	return n
}
