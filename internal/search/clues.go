package search

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// Clues are what of a text tells which other texts are about the same: the names of files,
// functions, flags and branches, and words. A clue has a weight from 0 to 1: 1 if one document of
// an index has it, less if many have it, and 0 if none does.
type Clues struct {
	list []clue
	all  Sight // of a text that has all of them, each as if one document had it
	// They remember stems; parts of names are clues nowhere but as the last element of a path.
	scanner, whole terms.Scanner
}

type clue struct {
	term   uint64
	text   string // as written
	name   bool
	weight float64
}

// Sight is how much of the clues a text has.
type Sight struct {
	Names, Words float64 // sums of weights
	N            int     // of both
}

// maxClues is the largest number of clues of a text: a pasted log names everything.
const maxClues = 96

// CluesOf returns the clues of a text, as Weigh finds them in an index.
func CluesOf(text string) *Clues {
	c := &Clues{whole: terms.Scanner{Whole: true}}
	c.each(Fold(cutText(text)), func(one clue) {
		if i := c.at(one.term); i >= 0 {
			c.list[i].name = c.list[i].name || one.name
		} else if len(c.list) < maxClues {
			c.list = append(c.list, one)
		}
	})
	for i := range c.list {
		c.list[i].weight = 1
	}
	c.all = c.Known()
	return c
}

// NamesOf returns clues that are names, whatever they look like.
func NamesOf(names ...string) *Clues {
	c := &Clues{whole: terms.Scanner{Whole: true}}
	for _, name := range names {
		scan(&c.whole, Fold(name), func(t terms.Token, _ string) {
			c.list = append(c.list, clue{term: t.Term, text: name, name: true, weight: 1})
		})
	}
	c.all = c.Known()
	return c
}

// Weigh sets the weights of the clues by how many documents of an index have them.
func (c *Clues) Weigh(sources []Source) error {
	docs := 0
	for _, s := range sources {
		docs += s.docs
	}
	for i := range c.list {
		df := 0
		for _, s := range sources {
			_, _, n, err := s.lookup(c.list[i].term)
			if err != nil {
				return err
			}
			df += n
		}
		c.list[i].weight = 0
		if df > 0 {
			c.list[i].weight = Ln(1+float64(docs)/float64(df)) / Ln(1+float64(docs))
		}
	}
	return nil
}

// All is the Sight of the text itself, as if one document had each of its clues.
func (c *Clues) All() Sight { return c.all }

// Known is the Sight of a text that has all clues.
func (c *Clues) Known() (s Sight) {
	for i := range c.list {
		s.add(&c.list[i])
	}
	return s
}

func (s *Sight) add(c *clue) {
	switch {
	case c.weight == 0:
		return
	case c.name:
		s.Names += c.weight
	default:
		s.Words += c.weight
	}
	s.N++
}

// In returns how much of the clues a text has.
func (c *Clues) In(text string) (s Sight) {
	seen := make([]bool, len(c.list))
	c.each(Fold(text), func(one clue) {
		if i := c.at(one.term); i >= 0 && !seen[i] {
			seen[i] = true
			s.add(&c.list[i])
		}
	})
	return s
}

// Query returns a query for the clues that an index has: for the names if it has any, else for all.
// It returns ErrNoTerms if it has none.
func (c *Clues) Query() (*Query, error) {
	named := slices.ContainsFunc(c.list, func(o clue) bool { return o.name && o.weight > 0 })
	q := &Query{}
	for _, one := range c.list {
		if one.weight > 0 && (one.name || !named) {
			q.add(queryTerm{term: one.term, weight: 1, word: strings.ToLower(one.text)})
		}
	}
	if len(q.terms) == 0 {
		return nil, ErrNoTerms
	}
	return q, nil
}

func (c *Clues) at(term uint64) int {
	return slices.IndexFunc(c.list, func(o clue) bool { return o.term == term })
}

// each yields the clues of a text. Of a path the last element counts: agents and people write the
// rest in many ways.
func (c *Clues) each(text string, yield func(clue)) {
	end := 0 // of the last name that was yielded
	scan(&c.scanner, text, func(t terms.Token, word string) {
		written := text[t.Start:t.End]
		switch {
		case t.Kind == terms.Name && strings.ContainsAny(written, `/\`):
			base := written[strings.LastIndexAny(written, `/\`)+1:]
			if isTelling(base) {
				end = t.End
				scan(&c.whole, base, func(b terms.Token, _ string) {
					yield(clue{term: b.Term, text: base, name: true})
				})
			} else if strings.Count(written, "/") > 1 || strings.ContainsAny(base, "-._") {
				end = t.End
				yield(clue{term: t.Term, text: written, name: true})
			}
		case t.Kind == terms.Name && isTelling(written), t.Kind == terms.Word && isNamed(written):
			end = t.End
			yield(clue{term: t.Term, text: written, name: true})
		case t.Kind == terms.Word && t.Start >= end && len(word) >= leastWord && !isCommon(word) &&
			!asks(word):
			yield(clue{term: t.Term, text: written})
		}
	})
}

// usual are names that projects have in common, and that tell nothing.
var usual = [...]string{"agents.md", "claude.md", "gemini.md", "readme.md", "changelog.md",
	"package.json", "go.mod", "go.sum", "main.go", "main.py", "index.js", "index.ts", "makefile",
	"dockerfile", "fmt.errorf", "fmt.sprintf", "fmt.println", "console.log", "github.com", "github",
	"javascript", "typescript", "localhost"}

// The lengths of the shortest name and word that tell something.
const (
	leastName = 6
	leastWord = 4
)

// isTelling reports whether a name is one that people and agents gave to something: it has an
// underscore, a dot, a hump, or a digit after a hyphen, or is named.
func isTelling(name string) bool {
	if len(name) < leastName || slices.Contains(usual[:], strings.ToLower(name)) {
		return false
	}
	for i := 1; i < len(name)-1; i++ {
		a, b, c := name[i-1], name[i], name[i+1]
		switch {
		case b == '_' || b == '.' && lower(c) && alnum(a):
			return true
		case upper(b) && (lower(a) || digit(a) && lower(c)),
			b == '-' && (digit(c) || isNamed(name)):
			return true
		}
	}
	return false
}

// isNamed reports whether a word with hyphens is a name, such as that of a branch or a skill: it
// has two or more, and none of the small words of which common ones are made.
func isNamed(name string) bool {
	parts := strings.Split(strings.ToLower(name), "-")
	return len(parts) > 2 && !slices.ContainsFunc(parts, func(p string) bool {
		return len(p) < 2 || slices.Contains(small[:], p)
	})
}

// small are words inside of others: up-to-date, state-of-the-art, out-of-the-box.
var small = [...]string{"to", "of", "in", "by", "on", "or", "and", "the", "for", "at", "up", "as"}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func digit(c byte) bool { return '0' <= c && c <= '9' }
func alnum(c byte) bool { return lower(c) || upper(c) || digit(c) }
