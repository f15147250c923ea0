package brief

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// sign is an item that says how the work stands.
type sign struct {
	item int
	rank int // the smallest first
}

// The ranks of signs.
const (
	checkRank = iota
	causeRank
	obstacleRank
	commitRank
	activeRank
	todoRank
	failureRank
	failsRank
	branchRank
	otherCheckRank
	documentRank
)

// state takes the newest facts about the state of the work: the branch, the newest commit, the
// newest test run, the open items of the todo list, and the last failure. Builds count as tests.
// The newest run comes first, with its first error.
func (c *chooser) state(purse int) []Line {
	var out []Line
	for _, s := range c.signs() {
		it := &c.items[s.item]
		if it.line.Section == Story || s.rank == documentRank {
			it.line.Section, it.line.Turn = State, 0
		}
		whole := it.line
		if c.shown[it.fact.Entry] {
			continue
		}
		if s.rank == checkRank || s.rank == otherCheckRank {
			text, old := c.outcome(s.item)
			if it.line.Text = text; old && s.rank == otherCheckRank && c.checkedSince(s.item) {
				it.line = whole
				continue
			}
		} else if c.isUndone(it.fact) && it.fact.State == digest.Barred {
			it.line.Text += ": the user refused"
		}
		if key := it.fact.Key; s.rank == obstacleRank &&
			(strings.HasPrefix(key, "edit ") || strings.HasPrefix(key, "read ")) {
			it.line.Text = c.root.Shorten(key) + ": " + it.line.Text // of which file
		}
		most := maxState
		switch {
		case it.line.Section == Failing:
			most = maxFailing
		case s.rank == documentRank: // it is among the changed files as well
			most, it.taken = maxDocument, false
		case it.fact.Kind == digest.Unmerged:
			most = maxDocument
		}
		it.line = c.cutLine(it.line, min(purse, c.withText(it.line, most)), digest.WithoutMiddle)
		n := c.cost(it.line)
		l, ok := Line{}, false
		if n <= purse && it.line.Text != "" {
			l, ok = c.take(s.item)
		}
		if !ok {
			it.line = whole
			continue
		}
		purse -= n
		out = append(out, l)
	}
	if !c.keep { // the line of changed files says what is not committed
		return out
	}
	if l, ok := c.uncommitted(); ok && c.cost(l) <= min(purse, c.left) {
		c.left -= c.cost(l)
		out = append(out, l)
	}
	return out
}

// uncommitted returns a line with the files of the project that no commit has, the newest first.
func (c *chooser) uncommitted() (l Line, ok bool) {
	list := slices.DeleteFunc(c.changed(), func(f change) bool { return !f.uncommitted })
	if len(list) == 0 {
		return l, false
	}
	l = c.items[list[0].item].line
	l.Section = State
	l.Text = changedText(list, true, func(text string) bool {
		l.Text = text
		return c.cost(l) <= c.withText(l, maxState)
	})
	return l, l.Text != ""
}

// isOutside reports whether the name of a file is of one outside of the project.
func isOutside(name string) bool { return isAbs(name) || strings.HasPrefix(name, "../") }

// signs returns the newest items of each kind that says how the work stands, by rank.
func (c *chooser) signs() []sign {
	var list []sign
	seen := map[string]bool{}
	tested := slices.ContainsFunc(c.items, func(it item) bool { return it.fact.Test })
	some := false // the newest tests passed, and are those that were named
	for i := range slices.Backward(c.items) {
		f := c.items[i].fact
		what, rank := "", 0
		switch {
		case f.Kind == digest.Branch:
			what, rank = "branch", branchRank
		case f.Kind == digest.Unmerged:
			what, rank = f.Key, causeRank
		case f.Kind == digest.Commit && f.State == digest.Passed:
			what, rank = f.Key, commitRank
		case f.Key == digest.IssueKey && f.State == digest.Passed:
			what, rank = f.Key, commitRank
		case c.isUndone(f) && !seen[f.Key]: // a summary may have it as done
			what, rank = "undone "+f.Key, commitRank
		case f.Runs():
			what, rank = "in the background", otherCheckRank
		case f.Checks() && f.State == digest.Failed && !c.items[i].over && seen["tests"] &&
			(f.Lints() || f.Test && some):
			what, rank = "fails still", failsRank
		case f.Checks() && (f.Test || !tested):
			what, rank = "tests", checkRank
			some = some || !seen[what] && f.State == digest.Passed && digest.NamesTests(f.Key)
		case f.Checks() && f.State == digest.Failed && !seen["tests"]:
			what, rank = "failed", checkRank // since the tests ran
		case f.Checks() && f.State == digest.Passed && (!c.short || c.besideSummary() ||
			!strings.ContainsAny(f.Command(), "&;|")): // a row of commands takes the room of others
			// How else the work is checked
			what, rank = "check", otherCheckRank
		case c.grouped && f.TellsHeadings() && c.items[i].held.By == "": // a plan, what was found
			what, rank = "document", documentRank
		case f.Kind == digest.Todo && f.State != digest.Done && !c.items[i].over:
			if what, rank = "todo "+f.Key, todoRank; f.State == digest.Active {
				rank = activeRank
			}
		case c.isObstacle(i):
			what, rank = "obstacle", obstacleRank
			c.items[i].line.Turn = 0
		case f.Kind == digest.Failure && c.items[i].line.Section == Failing:
			what, rank = "failure", failureRank
		}
		if what == "" || seen[what] {
			continue
		}
		seen[what] = true
		list = append(list, sign{i, rank})
		if cause := c.causeOf(i); rank == checkRank && cause >= 0 {
			list = append(list, sign{cause, causeRank})
		}
	}
	return c.mostUrgent(list)
}

// isUndone reports whether a fact is of a commit or a pull request that failed or was refused,
// where that counts: beside a summary.
func (c *chooser) isUndone(f *digest.Fact) bool {
	return c.besideSummary() && f.Kind == digest.Commit && f.Undone()
}

// minRecurs is the number of times that a call fails with the same words until these are no slip.
const minRecurs = 3

// isObstacle reports whether an item says what gets in the way of the work: words with which calls
// failed again and again, or with which git refused a command that did not pass later.
func (c *chooser) isObstacle(i int) bool {
	it := &c.items[i]
	if it.line.Seq == c.items[len(c.items)-1].line.Seq { // nobody has gone around it yet
		return it.line.Section == Tool && it.fact.Kind == digest.Failure ||
			it.fact.Kind == digest.Decision && strings.HasPrefix(it.fact.Text, digest.Refused)
	}
	if it.fact.Kind != digest.Failure || it.line.Section != Tool || digest.IsSlip(it.fact.Text) {
		return false
	}
	refused := strings.HasPrefix(it.fact.Text, "fatal: ")
	return (refused || len(it.uses) >= minRecurs) && !slices.ContainsFunc(c.items[i:],
		func(later item) bool {
			return later.fact.Key == it.fact.Key && later.fact.State == digest.Passed
		})
}

// mostUrgent sorts signs by rank. It leaves out todo items above the largest number, and a failure
// if a test run says more.
func (c *chooser) mostUrgent(list []sign) []sign {
	slices.SortStableFunc(list, func(a, b sign) int { return cmp.Compare(a.rank, b.rank) })
	todos, checked := 0, len(list) > 0 && list[0].rank == checkRank
	return slices.DeleteFunc(list, func(s sign) bool {
		switch s.rank {
		case activeRank, todoRank:
			todos++
			return todos > maxTodos
		case failureRank:
			return checked
		}
		return false
	})
}

// causeOf returns the item with the first error line of the newest run of a command, or -1.
func (c *chooser) causeOf(i int) int {
	f := c.items[i].fact
	if f.State != digest.Failed {
		return -1
	}
	for j := i + 1; j < len(c.items); j++ {
		if e := c.items[j].fact; e.Kind == digest.Failure && e.Key == f.Key {
			return j
		}
	}
	return -1
}

// outcome returns the text of a command that ended, with how it ended, and whether files were
// changed after it.
func (c *chooser) outcome(i int) (text string, old bool) {
	f := *c.items[i].fact // the facts are the caller's
	f.Text = c.items[i].line.Text
	text = f.Ended()
	edited := func(it item) bool { return it.fact.Kind == digest.Edit }
	if c.restored > f.Seq || slices.ContainsFunc(c.items[i+1:], edited) {
		return text + ", before the last change", true
	}
	return text, false
}

// restoredAt returns the seq of the newest fact that files were put back, of which no item is left.
func restoredAt(facts []digest.Fact) (seq uint64) {
	for i := range facts {
		if f := &facts[i]; f.Kind == digest.Edit && f.State == digest.Dropped &&
			f.Key != digest.Kept && f.Key != digest.Unkept {
			seq = f.Seq
		}
	}
	return seq
}

// checkedSince reports whether another check ran after an item.
func (c *chooser) checkedSince(i int) bool {
	return slices.ContainsFunc(c.items[i+1:], func(it item) bool {
		return it.fact.Ran() && (it.fact.Test || it.fact.Checks())
	})
}
