// Package outcome finds, among what agents did, the commands that worked for something, and what
// ended a failure. The package is pure: facts go in, answers come out. Begin with How, Lines and
// Session.Ended.
package outcome

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/terms"
)

// Session is what an agent did in a session, oldest first.
type Session struct {
	Name   string
	Branch string
	Facts  []digest.Fact
}

// Command is a command that worked.
type Command struct {
	Session *Session
	Run     *digest.Fact // the newest run that passed with the shortest form of the command
	Last    *digest.Fact // the newest run that passed
	Runs    int          // with those that failed
	Failed  int
	Share   float64   // of what the words tell
	Rank    int       // the best has the highest
	has     []float64 // by word: how much it counts
}

// What a command is found by, and how much each counts: its own words and those with which the
// agent said why it ran; the paths that it is given; the words before it; what the user wanted. A
// command that only has a word in a path is no answer beside one that has it itself. Of a command
// that only looks, what it is given counts like a path, and why it ran like the words before it.
const (
	ownWeight    = 1
	pathWeight   = 0.55
	beforeWeight = 0.4
	wantedWeight = 0.3
)

// A command answers if it has at least this share of what the words tell, and this part of the best
// one's share.
const (
	leastShare = 0.5
	leastPart  = 0.65
)

// rankSteps is how finely commands are ranked: of those that are about as good the newest is first.
const rankSteps = 10

// How returns the commands that worked for some words, the best first: by what they share with the
// words, and how often they passed. It returns none if no command has enough of the words.
func How(words string, sessions []Session) []Command {
	asked := askedFor(words)
	var all []*Command
	by := map[string]*Command{}
	for i := range sessions {
		s := &sessions[i]
		wanted, before, seq := "", "", uint64(0)
		for j := range s.Facts {
			f := &s.Facts[j]
			switch f.Kind {
			case digest.Prompt:
				if wanted += " " + f.Text; f.Seq != seq {
					wanted, seq = f.Text, f.Seq
				}
				before = ""
			case digest.Said:
				before = f.Text
			case digest.Command, digest.Commit:
				if f.State == digest.Barred || f.State == digest.Dropped {
					continue
				}
				text := canonical(f.Command())
				own, paths, said := wordsAndPaths(f)
				if f.Kind == digest.Commit {
					text, own = madeBy(f)
				}
				c := by[text]
				if c == nil {
					c = &Command{has: make([]float64, len(asked))}
					by[text], all = c, append(all, c)
				}
				if c.Runs++; f.State == digest.Failed {
					c.Failed++
					continue
				}
				c.Last = f
				if c.Run == nil || f.Kind == digest.Commit ||
					len(f.Command()) <= len(c.Run.Command()) {
					c.Session, c.Run = s, f
				}
				c.add(asked, own, ownWeight)
				c.add(asked, paths, pathWeight)
				c.add(asked, before+" "+said, beforeWeight)
				c.add(asked, wanted, wantedWeight)
			}
		}
	}
	return choose(asked, all)
}

// madeBy returns the command that makes a commit or opens a pull request, and the words for it: the
// fact has only what came of it.
func madeBy(f *digest.Fact) (command, words string) {
	if f.IsRequest() {
		return "gh pr create", "gh pr create: open a draft pull request"
	}
	return "git commit", "git commit"
}

// canonical is a command as all its runs have it: without what only shortens its output.
func canonical(command string) string {
	command, _, _ = strings.Cut(command, " | ")
	for _, end := range []string{" 2>&1", " 2>/dev/null", " -v", " -count=1"} {
		command = strings.ReplaceAll(command+" ", end+" ", " ")
	}
	return strings.TrimSpace(command)
}

// program begins what stands for the name of a program: many names tell nothing in any other text,
// as make does.
const program = " g"

// wordsAndPaths returns the words of a command, with those with which the agent said why it ran,
// and the paths that it is given. What an interpreter runs is no path. Of a command that only
// looks, all but the program is paths, and why is apart.
func wordsAndPaths(f *digest.Fact) (own, paths, why string) {
	_, why, _ = strings.Cut(f.Text, " # ")
	if looks(f.Command(), false) {
		for _, one := range programs(f.Command()) {
			name, given, _ := strings.Cut(strings.TrimSpace(one), " ")
			own, paths = own+" "+name+program+name, paths+" "+given
		}
		return own, paths, why
	}
	own = why
	if f.Test {
		own += " test"
	}
	for _, one := range programs(f.Command()) {
		runs := true // the next word names what is run
		for _, field := range argumentsOf(one) {
			name := strings.Trim(field[strings.LastIndexByte(field, '/')+1:], `"'`)
			switch {
			case runs:
				own += " " + field + program + name
			case strings.Contains(field, "/") || path.Ext(name) != "" && path.Ext(name) != name:
				paths += " " + field
			default:
				own += " " + field
			}
			runs = slices.Contains(interpreters, name)
		}
		for field := range strings.FieldsSeq(one) { // as in --fix, which has no value
			if strings.HasPrefix(field, "-") && !strings.Contains(field, "=") {
				own += " " + field
			}
		}
	}
	return own, paths, why
}

// interpreters are programs that run the one that is named next, and commands that make them do so.
var interpreters = []string{"sudo", "time", "nice", "timeout", "env", "sh", "bash", "zsh", "python",
	"python3", "node", "ruby", "perl", "npx", "uv", "poetry", "bundle", "exec", "run"}

// asked is a word of a question, with those of the same meaning.
type asked []uint64

// kin are words that mean the same where a command is named.
var kin = [...][]string{{"format", "fmt", "formatter", "gofmt"}, {"lint", "linter", "golangci-lint"},
	{"build", "compile", "binary"}, {"dependencies", "deps", "mod"}, {"pr", "pulls"},
	{"corruption", "fsck"}, {"race", "-race"}, {"screenshot", "screenshots"}}

func askedFor(words string) (list []asked) {
	bag := termsOf(words)
	if fields := strings.Fields(strings.ToLower(words)); len(bag) == 0 && len(fields) > 0 {
		bag = termsOf(program + strings.Join(fields, program))
	}
	for _, t := range bag {
		list = append(list, asked{t.Term})
	}
	for _, group := range kin {
		var ids asked
		for _, w := range group {
			for _, t := range terms.Of(w) {
				ids = append(ids, t.Term)
			}
		}
		for i := range list {
			if slices.Contains(ids, list[i][0]) {
				list[i] = append(list[i], ids...)
			}
		}
	}
	return list
}

// termsOf returns the terms of a text, with those of the parts of its paths and names.
func termsOf(text string) terms.Bag {
	text = strings.ReplaceAll(strings.ToLower(text), "pull request", "pr")
	return terms.Of(text + " " + strings.Map(func(r rune) rune {
		if strings.ContainsRune("/._-:=", r) {
			return ' '
		}
		return r
	}, text))
}

// add notes which words of the question a text has.
func (c *Command) add(list []asked, text string, weight float64) {
	has := termsOf(text)
	for i, a := range list {
		if c.has[i] < weight && slices.ContainsFunc(a, func(id uint64) bool {
			_, ok := slices.BinarySearchFunc(has, id,
				func(t terms.Count, id uint64) int { return cmp.Compare(t.Term, id) })
			return ok
		}) {
			c.has[i] = weight
		}
	}
}

// choose returns the commands with enough of the words, the best first. A word that fewer commands
// have tells more. If no command has one of the words itself, those count that the user wanted it
// with all of them.
func choose(list []asked, all []*Command) (found []Command) {
	tells, sum := make([]float64, len(list)), 0.0
	for i := range list {
		n := 0
		for _, c := range all {
			if c.has[i] >= pathWeight {
				n++
			}
		}
		tells[i] = math.Log(1 + float64(len(all)+1)/float64(n+1))
		sum += tells[i]
	}
	best, named := leastShare/leastPart, false
	isOwn := func(w float64) bool { return w >= pathWeight }
	for _, c := range all {
		named = named || c.Run != nil && slices.ContainsFunc(c.has, isOwn)
	}
	for _, c := range all {
		for i, w := range c.has {
			c.Share += w * tells[i] / sum
		}
		if c.Run == nil || !slices.ContainsFunc(c.has, isOwn) {
			c.Share = 0
			if !named && c.Run != nil && len(list) > 1 && slices.Min(c.has) >= wantedWeight {
				c.Share = best
			}
		}
		best = max(best, c.Share)
	}
	for _, c := range all {
		if c.Share >= best*leastPart {
			passed := float64(c.Runs - c.Failed)
			c.Rank = int(rankSteps * c.Share * (1 + math.Log10(passed*passed/float64(c.Runs))))
			found = append(found, *c)
		}
	}
	slices.SortStableFunc(found, func(x, y Command) int { return cmp.Compare(y.Rank, x.Rank) })
	return found
}
