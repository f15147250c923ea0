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

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/script"
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
	Text    string       // its shortest form that passed
	Run     *digest.Fact // the newest run that passed so
	Last    *digest.Fact // the newest run that passed
	Runs    int          // with those that failed
	Failed  int
	Share   float64    // of what the words tell
	Rank    int        // the best has the highest
	has     []float64  // by word: how much it counts
	steps   []*Command // of several in a row: each of them
	alone   bool       // it passed with no other before it in its row
}

// What a command is found by, and how much each counts: its own words; those with which the agent
// said why it ran; the paths that it is given; the words before it; what the user wanted. A
// command that only has a word in a path is no answer beside one that has it itself. Of a command
// that only looks, what it is given counts like a path, and why it ran like the words before it.
const (
	ownWeight    = 1
	whyWeight    = 0.9
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
	first := map[format.ID]*Session{} // a fork has the messages before it, too
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
				if first[f.Entry] == nil {
					first[f.Entry] = s
				}
				if !f.Ran() || first[f.Entry] != s {
					continue // or nobody knows how it ended
				}
				var steps []*Command
				for _, one := range actsOf(f) {
					c := by[one.key]
					if c == nil {
						c = &Command{has: make([]float64, len(asked))}
						by[one.key], all = c, append(all, c)
					}
					if c.Runs++; f.State == digest.Failed {
						c.Failed++
						continue
					}
					c.Last, c.alone = f, c.alone || one.whole || len(steps) == 0
					if c.Run == nil || f.Kind == digest.Commit || len(one.text) <= len(c.Text) {
						c.Session, c.Run, c.Text = s, f, one.text
					}
					c.add(asked, one.own, ownWeight)
					if one.whole && strings.HasSuffix(one.text, "…") {
						c.add(asked, one.aim, pathWeight) // a long script, of which a part is shown
					} else {
						c.add(asked, one.aim, whyWeight)
					}
					c.add(asked, one.paths, pathWeight)
					if c.add(asked, one.why, beforeWeight); !one.looks {
						c.add(asked, before, beforeWeight)
						c.add(asked, wanted, wantedWeight)
					}
					if one.whole {
						c.steps = append(c.steps, steps...)
					}
					steps = append(steps, c)
				}
			}
		}
	}
	return choose(asked, all)
}

// act is a command, or one of several in a row.
type act struct {
	text, key       string // as it ran, and as all its runs have it
	own, paths, why string // the words by which it is found
	aim             string // why it ran, unless that is apart
	whole           bool   // it is several in a row
	looks           bool   // it only prints what is there, or what somebody wrote
}

// actsOf returns what a command or a commit did: of several commands in a row each, without those
// that only print, and then all of them. Of a row that failed only the one is known that its key
// names, or the last.
func actsOf(f *digest.Fact) []act {
	switch {
	case f.IsRequest():
		return []act{{key: "gh pr create", own: "gh pr create: open a draft pull request"}}
	case f.Kind == digest.Commit:
		return []act{{key: "git commit", own: "git commit"}}
	}
	_, why, _ := strings.Cut(f.Text, " # ")
	whole := act{text: f.Command(), whole: true}
	var list []act
	first := ""
	for _, text := range script.Split(whole.text, "&&", "||", ";", "\n") {
		text = strings.TrimSpace(text)
		switch name, _, _ := strings.Cut(text, " "); {
		case text == "" || looks(text, false):
			continue
		case slices.Contains([]string{"export", "source", ".", "set"}, name):
			first += text + " && "
			continue
		}
		list = append(list, act{text: first + text, key: canonical(first + text)})
	}
	isPart := func(a act) bool {
		name, _, _ := strings.Cut(a.text, " ")
		return has(" for while until if case do then done fi esac { ( ", name)
	}
	if len(list) == 0 || slices.ContainsFunc(list, isPart) { // what is in a loop is no line
		list = list[:0]
	}
	if len(list) == 0 {
		list = []act{{text: whole.text, key: canonical(whole.text)}}
	}
	if len(list) == 1 {
		list[0].find(why, f.Test)
		return list
	}
	named := slices.ContainsFunc(list, func(a act) bool { return a.isRun(f) })
	for i := range list {
		a := &list[i]
		a.find("", f.Test && a.isRun(f))
		a.why = why
		whole.key += a.key + " && "
		whole.own, whole.paths = whole.own+" "+a.own, whole.paths+" "+a.paths
	}
	if whole.aim, whole.looks = why, looks(whole.text, true); whole.looks {
		whole.aim, whole.why = "", why
	}
	if f.State == digest.Failed {
		list = slices.DeleteFunc(list, func(a act) bool {
			return named != a.isRun(f) || !named && a.text != list[len(list)-1].text
		})
	}
	return append(list, whole)
}

// isRun reports whether the key of a run names an act.
func (a *act) isRun(f *digest.Fact) bool {
	return f.Key != "" && strings.Contains(a.text, f.Key)
}

// canonical is a command as all its runs have it: without what only shortens its output.
func canonical(command string) string {
	command = script.Split(command, "|")[0]
	for _, end := range []string{" 2>&1", " 2>/dev/null", " -v", " -count=1"} {
		command = strings.ReplaceAll(command+" ", end+" ", " ")
	}
	return strings.TrimSpace(command)
}

// program begins what stands for the name of a program: many names tell nothing in any other text,
// as make does.
const program = " g"

// find sets the words by which an act is found. What an interpreter runs is no path, and a text in
// quotes counts like one. Of what only looks, what it is given is paths, and why it ran is apart.
func (a *act) find(why string, test bool) {
	a.looks = looks(a.text, true)
	if a.aim = why; a.looks {
		a.aim, a.why = "", why
	}
	if test {
		a.own += " test"
	}
	for _, one := range programs(a.text) {
		if a.looks {
			a.look(strings.Fields(one))
			continue
		}
		runs := true // the next word names what is run
		one, quoted := withoutTexts(one)
		a.paths += quoted
		for _, field := range argumentsOf(one) {
			name := strings.Trim(field[strings.LastIndexByte(field, '/')+1:], `"'`)
			switch {
			case runs:
				a.own += " " + field + program + name
			case strings.Contains(field, "/") || path.Ext(name) != "" && path.Ext(name) != name:
				a.paths += " " + field
			default:
				a.own += " " + field
			}
			runs = slices.Contains(interpreters, name)
		}
		for field := range strings.FieldsSeq(one) { // as in --fix, which has no value
			if strings.HasPrefix(field, "-") && !strings.Contains(field, "=") {
				a.own += " " + field
			}
		}
	}
}

// withoutTexts takes arguments of several words out of a command, unless an interpreter runs them.
func withoutTexts(command string) (rest, texts string) {
	name, _, _ := strings.Cut(command, " ")
	if slices.Contains(interpreters, name) {
		return command, ""
	}
	for _, word := range script.Split(command, " ") {
		if strings.ContainsAny(word, " \n") {
			texts += " " + word
		} else {
			rest += " " + word
		}
	}
	return rest, texts
}

// look adds the words of a program that only looks: those of git and gh are in its verbs, too.
func (a *act) look(words []string) {
	n := min(1, len(words))
	for n > 0 && n < min(len(words), 3) && has(" git gh ", words[0]) && words[n][0] != '-' {
		n++
	}
	if n > 0 {
		a.own += " " + strings.Join(words[:n], " ") + program + words[0]
	}
	a.paths += " " + strings.Join(words[n:], " ")
}

// interpreters are programs that run the one that is named next, and commands that make them do so.
var interpreters = []string{"sudo", "time", "nice", "timeout", "env", "sh", "bash", "zsh", "python",
	"python3", "node", "ruby", "perl", "npx", "uv", "poetry", "bundle", "exec", "run"}

// asked is a word of a question, with those of the same meaning.
type asked []uint64

// isVerb reports whether a word asks for an act.
func (a asked) isVerb() bool {
	return slices.ContainsFunc(terms.Of(verbs),
		func(v terms.Count) bool { return v.Term == a[0] })
}

// kin are words that mean the same where a command is named.
var kin = [...][]string{{"format", "fmt", "formatter", "gofmt"}, {"lint", "linter", "golangci-lint"},
	{"build", "compile", "binary"}, {"dependencies", "deps", "mod"}, {"pr", "pulls"},
	{"corruption", "fsck"}, {"race", "-race"}, {"screenshot", "screenshots"}}

// anyRun are words that ask for a run of what the others name: `lint run` does not answer "run the
// tests".
const anyRun = "run execute invoke use"

// verbs ask for an act: a command that has none of those beside which others are asked for, as its
// own word or in why it ran, is no answer. A list of branches is none to "delete a branch".
const verbs = "test lint build compile format create open make delete remove drop rebase merge push " +
	"commit sign install uninstall publish deploy update upgrade bump reply resolve revert rename " +
	"migrate benchmark generate edit start stop restart download upload"

func askedFor(words string) (list []asked) {
	bag, verbs := termsOf(words), terms.Of(anyRun)
	isAny := func(t terms.Count) bool {
		return slices.ContainsFunc(verbs, func(v terms.Count) bool { return v.Term == t.Term })
	}
	if told := slices.DeleteFunc(slices.Clone(bag), isAny); len(told) > 0 {
		bag = told
	}
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
	isVerb := lists.Map(list, asked.isVerb)
	for _, c := range all {
		asks, acts := false, false
		for i, w := range c.has {
			c.Share += w * tells[i] / sum
			asks, acts = asks || isVerb[i], acts || isVerb[i] && w >= whyWeight
		}
		if asks && !acts && len(list) > 1 {
			c.Share = 0
			continue
		}
		if c.Run == nil || !slices.ContainsFunc(c.has, isOwn) {
			c.Share = 0
			if !named && c.Run != nil && len(list) > 1 && slices.Min(c.has) >= wantedWeight {
				c.Share = best
			}
		}
		best = max(best, c.Share)
	}
	// What failed until another command came before it is no answer without that one.
	isFound := func(c *Command) bool {
		return c.Share >= best*leastPart && (c.alone || c.Failed == 0)
	}
	for _, c := range all {
		if isFound(c) && !slices.ContainsFunc(c.steps, isFound) { // what a row is of is enough
			passed := float64(c.Runs - c.Failed)
			c.Rank = int(rankSteps * c.Share * (1 + math.Log10(passed*passed/float64(c.Runs))/2))
			found = append(found, *c)
		}
	}
	slices.SortStableFunc(found, func(x, y Command) int { return cmp.Compare(y.Rank, x.Rank) })
	return found
}
