package find

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
)

// This file says what is to be heeded of a file.

// Saying is something that somebody told to heed: a note, a rule, a decision, or what the user said
// to a call that was refused.
type Saying struct {
	What  string // whose words they are, and of what kind
	Text  string
	Entry format.ID
	Time  time.Time
}

// FileQuery says what AboutFile looks for.
type FileQuery struct {
	Path    string // of the file, absolute or from the project
	Session string // that asks: what its context still has is left out
	Given   func(id format.ID) bool
	Limit   int
}

// AboutFile returns what somebody told to heed of a file, by its name or that of a directory that
// it is in: the newest first, at most q.Limit. Notes that a newer one supersedes are left out.
func (s *Reader) AboutFile(view *refs.View, q FileQuery) ([]Saying, error) {
	project := brief.NewRoot("", filepath.Dir(filepath.Dir(s.Dir)))
	file := fileNamed(project.Name(filepath.ToSlash(q.Path)))
	seqs, tellers, err := s.tellers(view, search.NamesOf(file.names()...), q.Session,
		func(known search.Sight) bool { return known.N > 0 })
	if err != nil || len(tellers) == 0 {
		return nil, err
	}
	known, err := s.contextOf(view, q.Session)
	if err != nil {
		return nil, err
	}
	var list []Saying
	notes := false
	for _, name := range tellers {
		err := s.turnsWith(view, name, seqs[name], func(t *sessions.Turn, root brief.Root) error {
			for i := range t.Facts {
				f, what := file.toldIn(t.Facts, i)
				if what == "" || known.has(name, f) || q.Given(f.Entry) {
					continue
				}
				e, err := s.Header(f.Entry)
				if err != nil {
					return err
				}
				notes = notes || f.IsNote()
				list = append(list,
					Saying{what, harmless(root.Shorten(f.Text)), f.Entry, e.Time})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if notes {
		newer, err := s.newerNotes(view, SearchQuery{})
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list,
			func(o Saying) bool { return !newer[o.Entry.String()].IsZero() })
	}
	slices.SortStableFunc(list, func(a, b Saying) int { return b.Time.Compare(a.Time) })
	return list[:min(len(list), q.Limit)], nil
}

// fileName is the path of a file from the root of its project, with slashes.
type fileName string

func fileNamed(p string) fileName { return fileName(strings.TrimPrefix(path.Clean(p), "./")) }

// names returns the names by which people know the file: its own, and those of the directories that
// it is in, but not of those that are one word.
func (f fileName) names() []string {
	list := []string{path.Base(string(f))}
	for dir := path.Dir(string(f)); strings.Contains(strings.Trim(dir, "/"), "/"); {
		list = append(list, dir)
		dir = path.Dir(dir)
	}
	return list
}

// in reports whether a text names the file, or a directory that it is in.
func (f fileName) in(text string) bool {
	isWide := func(r rune) bool { return r > '\u2e7f' } // what no space parts from a name
	ends := isWide
	if strings.ContainsFunc(string(f), isWide) {
		ends = func(rune) bool { return false }
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return ends(r) ||
			!unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(`/\._-+@`, r)
	}) {
		word = strings.Trim(strings.ReplaceAll(word, `\`, "/"), "./-")
		own := "/" + strings.TrimLeft(string(f), "./")
		switch {
		case word == "":
		case strings.HasSuffix(own, "/"+word), strings.HasSuffix("/"+word, own),
			strings.Contains(word, "/") && strings.Contains(own, "/"+word+"/"):
			return true
		}
	}
	return false
}

// maxTaken is how many facts after a refusal the user's words to it are looked for.
const maxTaken = 4

// toldIn returns what somebody told to heed of the file in a fact, or in the words that go with it,
// and whose words these are; "" for nothing. The facts are a part of those of their branch.
func (f fileName) toldIn(facts []digest.Fact, at int) (fact *digest.Fact, whose string) {
	fact = &facts[at]
	if !f.in(fact.Text) {
		return nil, ""
	}
	switch fact.Kind {
	case digest.Told:
		return fact, "the user noted, " + fact.Key + ","
	case digest.Noted:
		return fact, "the agent noted, " + fact.Key + ","
	case digest.Prompt:
		if prose.IsRule(fact.Text) {
			return fact, "the user said"
		}
	case digest.Decision:
		if !strings.HasPrefix(fact.Text, digest.Refused) {
			return fact, "the user decided"
		}
		// The words may be in a message of their own, which begins the next turn.
		for i := at + 1; i < min(at+maxTaken, cap(facts)); i++ {
			if next := &facts[:i+1][i]; next.Kind == digest.Prompt && next.Seq <= fact.Seq+1 {
				return next, "the user refused an edit and said"
			}
		}
	}
	return nil, ""
}
