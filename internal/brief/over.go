package brief

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// later is what happened after an item. The items are read from the newest back.
type later struct {
	changed map[string]bool // files and identifiers, and what was done: "committed"
	asked   []int           // prompts
	told    []int           // answers
	// A check passed; tests did, more than some that were named; a linter did; a commit was made,
	// after which the model ended a turn; a file was changed
	passed, tested, linted, closed, edited bool
	some                                   []string // the runs of tests that named some, and passed
	// The seqs of the newest words of the model, of the newest list, and of the newest prompt
	spoken, listed, wanted uint64
	branch                 string // the newest that was checked out
	acts                   int    // calls that changed, ran or read something
	// The user made a choice right after, and the seq of the words that lead to it
	chosen bool
	lead   uint64
}

// maxYes is the number of words below which "yes, but …" says nothing without the question.
const maxYes = 6

// minBegun is the number of calls after which what the model said that it does next is begun.
const minBegun = 3

// is notes that what names tell of was changed, if it was.
func (l *later) is(changed bool, names ...string) {
	for _, n := range names {
		l.changed[n] = l.changed[n] || changed
	}
}

// tests reports whether the tests that failed in a run passed later: all did, or each that the run
// names was named to a run.
func (l *later) tests(f *digest.Fact) bool {
	if l.tested {
		return true
	}
	_, failed, _ := strings.Cut(f.Text, " failed: ")
	names := strings.FieldsFunc(failed, func(r rune) bool { return r == ',' || r == ' ' })
	return len(l.some) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		name = name[strings.LastIndexAny(name, ":/.")+1:]
		return !slices.ContainsFunc(l.some, func(key string) bool {
			return strings.Contains(key, name)
		})
	})
}

// leads reports whether words of the model lead to the choice that comes right after them, which
// tells more once it was made.
func (l *later) leads(f *digest.Fact) bool {
	return l.chosen && f.Kind == digest.Said && (l.lead == 0 || l.lead == f.Seq)
}

// setOver marks the items that were true when they were said, and are not: what came later has the
// same subject and overrules them.
func (c *chooser) setOver() {
	l := later{changed: map[string]bool{}}
	for i := range slices.Backward(c.items) {
		c.items[i].over = !c.items[i].picked && c.isOver(i, &l)
		c.happened(i, &l)
	}
}

// isOver reports whether what came after an item overrules it.
func (c *chooser) isOver(i int, l *later) bool {
	switch f := c.items[i].fact; f.Kind {
	case digest.Command:
		if f.State != digest.Failed || !f.Checks() {
			return false
		}
		switch {
		case f.Test:
			return l.tests(f)
		case f.Lints():
			return l.linted || l.closed || l.edited && l.passed
		}
		return l.passed || l.tested
	case digest.Todo: // of a list before the newest, or done with a commit, or left behind
		return f.Seq < min(l.listed, l.wanted) || f.State == digest.Active && l.closed ||
			c.turnOf != nil && c.isLeft(c.turnOf[i])
	case digest.Decision: // the user wants something else, or has changed their mind
		_, answer, ok := strings.Cut(strings.ToLower(f.Text), " → ")
		return ok && answer != "" && slices.ContainsFunc(l.asked, func(n int) bool {
			said := strings.ToLower(c.items[n].fact.Text)
			return prose.HasAny(said, []string{"instead of " + answer, "rather than " + answer,
				"not " + answer}) ||
				c.turnOf[n] == c.turnOf[i]+1 && strings.Contains(said, "changed my mind")
		})
	case digest.Recap: // the work has come further
		return f.Key == digest.Current && (f.Seq < c.answered || l.edited && l.wanted > f.Seq) ||
			c.short && f.Seq < c.answered || c.ended(i, f.Text, l)
	case digest.Report, digest.Returned: // the answer says what was done of the plan
		return f.Seq < c.carried || c.ended(i, f.Text, l)
	case digest.Said, digest.Answer:
		return l.leads(f) && !prose.HasName(f.Text) ||
			f.Kind == digest.Said && f.Key == digest.Item && isChanged(nameOf(f.Text), l) ||
			c.ended(i, f.Text, l) || c.ended(i, f.Heading, l)
	}
	return false
}

// isLeft reports whether the work went on from a turn that ended: a later one that changed
// something ended, too.
func (c *chooser) isLeft(t int) bool {
	isDone := func(t turn) bool { return t.acts && c.isAnswered(&t) }
	return c.isAnswered(&c.turns[t]) && slices.ContainsFunc(c.turns[t+1:], isDone)
}

// ended reports whether what ends the state that words of an item tell of came after it.
func (c *chooser) ended(i int, words string, l *later) bool {
	f, newest := c.items[i].fact, len(c.turns)-1
	until := prose.HoldsUntil(words)
	if c.turnOf[i] == newest-1 && f.Kind == digest.Answer &&
		slices.ContainsFunc(c.turns[newest].asked, func(i int) bool {
			return prose.Chooses(c.items[i].fact.Text)
		}) {
		return false // "2 and 3" says nothing without it
	}
	if until > prose.Answered && c.isAccepted(i) {
		return true
	}
	if f.Seq == c.planned && until != prose.Checked && until != prose.Moved {
		return false // a first edit of a file is not all that is to be done there
	}
	switch until {
	case prose.Answered:
		explains := c.turnOf[i] == newest-1 && c.turns[newest].edited == 0 &&
			!slices.ContainsFunc(c.turns[newest].asked, func(i int) bool {
				// "yes, without the tests" says nothing without it, until it is done
				text := c.items[i].fact.Text
				return !c.isThin(i) && !(prose.Agrees(text) && strings.Count(text, " ") < maxYes)
			})
		return c.turnOf[i] < newest && !explains || f.Kind == digest.Recap && f.Seq < c.answered
	case prose.Spoken:
		return l.spoken > f.Seq ||
			prose.Announces(words) && (l.acts >= minBegun || isChanged(words, l))
	case prose.Checked:
		return l.tested || len(l.some) > 0 ||
			l.passed && !strings.Contains(strings.ToLower(f.Text), "test")
	case prose.Changed:
		return isChanged(words, l)
	case prose.Moved:
		return !strings.Contains(words, strings.TrimPrefix(l.branch, "on branch ")) // "" is in all
	case prose.Mended:
		return isChanged(words, l) || l.edited && strings.Contains(words, " tree is clean") ||
			f.Kind == digest.Said && c.turnAt(i).edited > f.Seq && (f.Seq < c.answered || l.passed)
	case prose.Settled:
		mine := c.items[i].terms
		return isWord(f) && slices.ContainsFunc(l.told, func(n int) bool {
			return c.items[n].fact.Seq > f.Seq &&
				shared(mine, c.items[n].terms) >= min(minGone, max(2, len(mine)/2))
		})
	}
	return false
}

// isAccepted reports whether the user told to do what an answer lists, and files were changed.
func (c *chooser) isAccepted(i int) bool {
	f, n := c.items[i].fact, c.turnOf[i]+1
	return f.Kind == digest.Answer && n < len(c.turns) && c.turns[n].edited > 0 &&
		c.turns[n].edited < c.answered && slices.ContainsFunc(c.turns[n].asked,
		func(i int) bool { return prose.Accepts(c.items[i].fact.Text) })
}

// happened adds an item to what came later.
func (c *chooser) happened(i int, l *later) {
	it := &c.items[i]
	f := it.fact
	if l.leads(f) {
		l.lead = f.Seq
	} else {
		l.chosen, l.lead = f.Kind == digest.Decision && strings.Contains(f.Text, " → "), 0
	}
	if l.acts++; f.Kind == digest.Prompt || isWord(f) || f.Kind.ByTool() {
		l.acts-- // nothing was done
	}
	switch f.Kind {
	case digest.Edit:
		l.edited = true
		for _, name := range append(slices.Clip(it.names), path.Base(c.root.Name(f.Path))) {
			l.changed[name] = true
			l.is(strings.Contains(strings.ToLower(name), "test"), "test", "tests", "untested")
		}
	case digest.Branch:
		l.branch = cmp.Or(l.branch, f.Text)
	case digest.Commit:
		l.is(f.State == digest.Passed, "commit", "committed", "committing", "uncommitted", "unstaged")
		l.closed = l.closed || f.State == digest.Passed && f.Seq < c.answered
	case digest.Todo:
		l.listed = max(l.listed, f.Seq)
	case digest.Command, digest.Act:
		ran := f.State == digest.Passed || f.Kind == digest.Act
		l.is(ran && strings.Contains(f.Text, "git push"), "pushed", "unpushed", "ahead")
		alters := ran && prose.HasLead(f.Text, []string{"ran git config ", "ran git push ",
			"ran git branch -", "ran rm ", "ran mv ", "ran chmod "})
		for _, word := range strings.Fields(f.Text) {
			l.is(alters && strings.ContainsAny(word, "./_"), word) // a name
		}
		passed := f.Checks() && ran
		l.passed, l.linted = l.passed || passed, l.linted || passed && f.Lints()
		if named := f.Test && digest.NamesTests(f.Key); passed && named {
			l.some = append(l.some, f.Key)
		} else if passed && f.Test {
			l.tested = true
		}
	case digest.Prompt:
		if l.wanted = max(l.wanted, f.Seq); isAsked(f) {
			l.asked = append(l.asked, i)
		}
	case digest.Said, digest.Answer:
		if l.spoken = max(l.spoken, f.Seq); f.Kind == digest.Answer {
			l.told = append(l.told, i)
		}
	}
}

// isChanged reports whether a file or an identifier that a line names was changed later.
func isChanged(line string, l *later) bool {
	return slices.ContainsFunc(strings.FieldsFunc(line, func(r rune) bool {
		return strings.ContainsRune(" \t`'\"()[]{},;:*<>|=", r)
	}), func(w string) bool { return l.changed[strings.TrimRight(path.Base(w), ".")] })
}

// Overruled returns those of facts in a row that later ones overrule.
func Overruled(facts []digest.Fact, root Root) (over []digest.Fact) {
	c := newChooser(itemsOf(facts, root), root, Options{Cost: func(Line) int { return 1 }})
	for i := range c.items {
		if c.items[i].over {
			over = append(over, *c.items[i].fact)
		}
	}
	return over
}
