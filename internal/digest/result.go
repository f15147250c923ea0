package digest

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/terms"
)

// The limits of what is read of a result.
const (
	maxOutput   = 64 << 10 // bytes: the first and the last half
	maxFailures = 4        // lines that tell how an act failed
	maxFailed   = 8        // names of failed tests
	maxLine     = 300      // bytes of a line that becomes a fact
)

// result completes the facts of the call that the result answers.
func (d *Digester) result(r *Result) {
	facts, script := d.Open[r.ID], d.Scripts[r.ID]
	delete(d.Open, r.ID)
	delete(d.Scripts, r.ID)
	if len(facts) == 0 {
		return
	}
	for _, i := range facts {
		if f := &d.Made[i]; f.Kind == Edit {
			if d.Heard = true; f.State == Dropped {
				f.State = ""
			}
		}
	}
	o := outcomeOf(r)
	if o.running != "" {
		f := &d.Made[facts[0]]
		if o.running == unnamed {
			_, o.running, _ = strings.Cut(f.Text, beside)
		}
		d.Open[runningPrefix+o.running] = facts
		if f.Kind == Command && !strings.Contains(f.Text, beside) {
			f.Text += beside + o.running
		}
		if f.Test && d.errors(f.Key, o.output) > 0 {
			d.Made[facts[0]].State = Failed // it fails, though its end is not known
		}
		return
	}
	if f := &d.Made[facts[0]]; o.stopped && f.Kind == Command {
		f.Text, _, _ = strings.Cut(f.Text, beside)
		return
	}
	if words, ok := refusal(o.output, r.Failed); ok {
		d.refused(facts, words)
		return
	}
	last := &d.Made[facts[len(facts)-1]]
	ends := func(f *Fact) bool { return f.Kind == Command || f.Kind == Commit }
	for ends(last) && !ends(&d.Made[facts[0]]) {
		facts = facts[1:] // what a script wrote is there however it ended
	}
	f := d.Made[facts[0]]
	how, _, _ := message.Ended(o.output)
	o.failed = o.failed || f.State == Failed || how == message.Stopped
	if how == message.Stopped {
		o.output = "" // nothing got in its way
	}
	hidden := !o.failed && hidesEnd(script)
	if n := shownEnd(script, o.output); hidden && n > 0 {
		o.failed, o.exit, hidden = true, n, false
	}
	checks := func(i int) bool { return d.Made[i].isCheck() }
	switch f.Kind {
	case Command, Commit:
		commands := 0
		for _, i := range facts {
			if ends(&d.Made[i]) {
				commands++
			}
		}
		for n, i := range facts {
			if ends(&d.Made[i]) {
				end := o // of several checks, what is printed at the end is of the last
				if hidden && checks(i) && !slices.ContainsFunc(facts[n+1:], checks) &&
					!readTests(o.output).seen && broke(o.output) {
					end.failed, end.exit = true, -1
				}
				if len(o.exits) == commands && commands > 0 {
					end.exit, o.exits = o.exits[0], o.exits[1:]
					end.failed, end.untold = end.exit != 0, false
					commands--
				}
				d.ended(i, end)
				f = d.Made[i]
			}
		}
		if !o.failed && !f.Elsewhere && (f.Kind == Commit || strings.Contains(f.Text, "push")) {
			d.pushed(o.output)
		}
		if !f.Elsewhere && mayRestore(script) {
			d.unmerged(script, o.output, o.failed)
		}
		if !o.failed && strings.Contains(f.Text, " merge") {
			d.mergedRequest(f.Text, o.output)
		}
		if o.failed && f.Kind == Commit && f.State == Passed {
			// A later command of the script failed
			d.branchShown(f, o.output, true)
			d.failures(f.Key, o.output)
		}
		if mayRestore(script) && !o.failed && !f.Elsewhere {
			d.restored(script, o.output, slices.DeleteFunc(slices.Clone(facts), func(i int) bool {
				return d.Made[i].Kind != Commit || d.Made[i].IsRequest()
			}))
			d.shownTree(script, o.output)
		}
	case Question:
		d.chosen(facts, o)
	case Todo:
		if o.failed {
			d.notListed(facts)
		} else {
			d.numberedTask(f.Text, o.output)
		}
	case Said:
	case Search:
		if o.failed && o.exit != 1 {
			d.failedAct(facts, o.output)
		} else if !o.failed {
			d.found(facts[0], o.output)
			d.short(o.output)
		}
	default:
		switch {
		case o.failed:
			d.failedAct(facts, o.output)
		case f.Kind == Act && f.Key == IssueKey:
			d.Made[facts[0]].Text, d.Made[facts[0]].State = f.opened(o.output), Passed
		case f.Kind == Edit && len(facts) == 1 && d.undoes(facts[0]):
			d.gone(f.Path)
		case f.Kind == Read && len(facts) == 1:
			d.Made[facts[0]].Text += naming(terms.Defined(unnumbered(o.output)))
		case f.Kind == Act && strings.HasPrefix(f.Text, delegated):
			said, ok := between(o.output, "<task_result>", "</task_result>") // of opencode
			if !ok {
				said = ownWords(o.output)
			}
			d.sentences(Returned, said)
		case f.Kind == Act:
			d.short(o.output)
		}
	}
}

// ended adds to the fact of a command how the command ended.
func (d *Digester) ended(i int, o outcome) {
	f := &d.Made[i]
	f.Text, _, _ = strings.Cut(f.Text, beside)
	commits := f.Kind == Commit && !f.IsRequest()
	title, hash, subject := titleOf(f.Text, committing), "", ""
	if commits {
		hash, subject = commitMade(o.output, title)
	}
	switch {
	case o.failed && (hash == "" || !isItsTitle(subject, title)):
	case commits && (prose.HasLead(prose.FirstLine(o.output, maxLine), noMerge) || hash == "" &&
		prose.HasLead(o.output, []string{"error: ", "fatal: "})):
		f.State = Failed
		return
	case f.IsRequest():
		f.Text = f.opened(o.output)
	case commits:
		if title == "" || title == amending {
			title = cmp.Or(prose.Cut(subject, maxTitle), title)
		}
		if f.Text = titled("committed", title); hash != "" {
			f.Text += " (" + hash + ")"
		}
		if f.State = Passed; o.failed {
			return
		}
	}
	t := readTests(o.output)
	if f.Test && t.seen {
		failed := o.failed || t.failed > 0 || len(t.names) > 0
		told := t.String()
		if f.State = Passed; failed {
			f.State = Failed
		}
		if failed && t.failed == 0 && len(t.names) == 0 { // something else did
			told = o.how() + " after " + told
		}
		f.Text += ": " + told
		if failed && len(t.names) == 0 {
			d.failures(f.Key, o.output)
		}
		return
	}
	// A branch stays checked out when a later command of the same script fails
	d.branchShown(*f, o.output, o.failed)
	f = &d.Made[i]
	if o.untold && !o.failed {
		return
	}
	if !o.failed {
		f.State = Passed
		if f.Kind == Command {
			d.short(o.output)
		}
		return
	}
	f.State = Failed
	f.Text += ": " + o.how()
	d.failures(f.Key, o.output)
}

// noMerge begin what git prints for a merge that makes no commit.
var noMerge = []string{"Already up to date", "Already up-to-date", "Updating "}

// failedAct marks the facts of a failed call, for example of a file that could not be read or
// changed.
func (d *Digester) failedAct(facts []int, output string) {
	for _, i := range facts {
		d.Made[i].State = Failed
		d.Made[i].Text += ": failed"
	}
	d.failures(d.Made[facts[0]].ActKey(), output)
}

// ActKey returns the key that an act shares with the lines that tell how it failed, and with later
// acts of its kind on the same subject.
func (f *Fact) ActKey() string {
	switch f.Kind {
	case Command, Commit:
		return f.Key
	case Edit, Read:
		return string(f.Kind) + " " + f.Path
	}
	what, _, _ := strings.Cut(f.Text, ": ")
	return string(f.Kind) + " " + what
}

// wordsFollow stands for words of the user to a refused call that are a message of their own.
const wordsFollow = "\n"

// refusal reports whether the user refused a call, and returns the user's words. Claude Code says
// that such a call failed: what a tool printed that did not is of a page or a file.
func refusal(output string, failed bool) (words string, ok bool) {
	if !failed && strings.HasPrefix(output, "The user doesn't want to ") {
		return "", false
	}
	if prose.HasLead(output, []string{"exec_command failed"}) && // of Codex
		strings.Contains(output[:min(len(output), maxHead)], "rejected by user") {
		return "", true
	}
	how, head, words := message.Ended(output)
	if words == "" && strings.HasSuffix(strings.TrimSpace(head), ":") {
		words = wordsFollow
	}
	return words, how == message.Refused
}

// Refused begins the text of a decision against a call, and is the key of the user's words to it.
const Refused = "the user refused: "

// refused marks the facts of a call that the user refused. To leave a question unanswered decides
// nothing.
func (d *Digester) refused(facts []int, words string) {
	for _, i := range facts {
		d.Made[i].State = Barred
	}
	if d.Made[facts[0]].Kind == Question {
		d.sentences(Prompt, words)
		return
	}
	key := ""
	if words == wordsFollow {
		key, words = Instead, ""
	}
	d.add(Fact{Kind: Decision, Text: prose.Cut(Refused+d.Made[facts[0]].Text, maxTitle), Key: key})
	first := len(d.Made)
	d.sentences(Prompt, words)
	for i := first; i < len(d.Made); i++ {
		d.Made[i].Key = Refused
	}
}

// Instead is the key of the user's words to a call that was refused, in a message of their own.
const Instead = "instead"

// answersRefusal reports whether a message of the user has the words to the call that was refused
// right before it: its result ends where they begin.
func (d *Digester) answersRefusal(m *Message) bool {
	last := len(d.Made) - 1
	return last >= 0 && d.Made[last].Kind == Decision && d.Made[last].Key == Instead &&
		d.Made[last].Seq+1 == m.Seq
}

// silences are the words of clients for a question that nobody answered, in lower case.
var silences = [...]string{"no response", "no answer", "not answer", "not respond", "timed out",
	"timeout", "declined", "dismissed", "cancelled", "canceled", "unanswered", "skipped",
	"interrupted", "away from keyboard", "without answering"}

// isSilence reports whether a result says that nobody answered.
func isSilence(output string) bool {
	line := strings.ToLower(prose.FirstLine(output, maxTitle))
	return line == "" || slices.ContainsFunc(silences[:],
		func(s string) bool { return strings.Contains(line, s) })
}

// chosen adds the user's answers to a tool's questions: one fact for each "question"="answer". A
// question that has an answer is done: the answer repeats it.
func (d *Digester) chosen(questions []int, o outcome) {
	output, n, silent := o.output, 0, false
	for _, pair := range pairsOf(output) {
		question, answer := pair[0], pair[1]
		if answer == "" || answer == "Unanswered" { // as opencode says it
			silent = true
			continue
		}
		d.add(
			Fact{Kind: Decision,
				Text: prose.Short(question, maxTitle) + " → " + prose.Short(answer, maxTitle)})
		n++
	}
	given, isObject := answersOf(output)
	for _, id := range slices.Sorted(maps.Keys(given)) {
		question := id
		if i, err := strconv.Atoi(id); err == nil && i >= 0 && i < len(questions) {
			question = d.Made[questions[i]].Text
		} else if len(questions) == 1 {
			question = d.Made[questions[0]].Text
		}
		d.add(Fact{Kind: Decision,
			Text: prose.Short(question, maxTitle) + " → " + prose.Short(given[id], maxTitle)})
		n++
	}
	switch {
	case n == 0 && (o.failed || isObject || silent || isSilence(output)):
		return
	case n == 0 && len(questions) == 1:
		d.add(Fact{Kind: Decision, Text: d.Made[questions[0]].Text + " → " +
			prose.Short(output, maxTitle)})
	case n == 0:
		d.add(Fact{Kind: Decision, Text: prose.Short(output, maxTitle)})
	}
	for _, i := range questions {
		d.Made[i].State = Done
	}
}

// pairsOf returns the questions and answers of a text with "question"="answer", "question"="answer"
// user notes: words. Each of them may have quotation marks of its own.
func pairsOf(output string) (pairs [][2]string) {
	output, _, _ = strings.Cut(output, ". You can now continue")
	_, rest, _ := strings.Cut(output, `"`)
	for {
		question, answer, ok := strings.Cut(rest, `"="`)
		if !ok {
			return pairs
		}
		if next := strings.Index(answer, `"="`); next >= 0 {
			end, sep := -1, ""
			for _, sep = range [...]string{`", "`, `, "`, `"`} {
				if end = strings.LastIndex(answer[:next], sep); end >= 0 {
					break
				}
			}
			end = max(end, 0)
			answer, rest = answer[:end], strings.TrimPrefix(answer[end:], sep)
		} else {
			rest = ""
		}
		_, notes, _ := strings.Cut(answer, " user notes: ")
		answer, _, _ = strings.Cut(answer, `" user notes: `)
		answer, _, _ = strings.Cut(answer, `" selected preview:`)
		if answer = strings.TrimSuffix(answer, `"`); notes != "" {
			answer = strings.TrimPrefix(answer+": "+notes, ": ")
		}
		pairs = append(pairs, [2]string{question, answer})
	}
}

// answersOf returns the answers in a result that is an object of them, by the number (Gemini CLI)
// or the id (Codex) of their question.
func answersOf(output string) (given map[string]string, ok bool) {
	var all struct {
		Answers map[string]json.RawMessage `json:"answers"`
	}
	if !strings.HasPrefix(output, "{") || json.Unmarshal([]byte(output), &all) != nil ||
		all.Answers == nil {
		return nil, false
	}
	given = map[string]string{}
	for id, raw := range all.Answers {
		answer := ""
		if json.Unmarshal(raw, &answer) != nil {
			var several struct {
				Answers []string `json:"answers"`
			}
			_ = json.Unmarshal(raw, &several) // without any, nobody answered
			answer = strings.Join(several.Answers, ", ")
		}
		if answer != "" {
			given[id] = answer
		}
	}
	return given, true
}

// notListed takes back what a call that failed would have changed in a list.
func (d *Digester) notListed(facts []int) {
	for _, i := range facts {
		f := d.Made[i]
		if f.Kind != Todo {
			continue
		}
		before := Fact{Kind: Todo, Key: f.Key, State: Dropped, Text: f.Text}
		for n := range facts[0] {
			if g := &d.Made[n]; g.Kind == Todo && g.Key == f.Key {
				before.State = g.State
			}
		}
		switch at := slices.Index(d.Plan, f.Key); {
		case f.State == Dropped && at < 0:
			d.Plan = append(d.Plan, f.Key)
		case before.State == Dropped && at >= 0:
			d.Plan = slices.Delete(d.Plan, at, at+1)
		}
		d.add(before)
	}
}

// numberedTask notes the number that a task list gave to its newest task: "Task #7 created".
func (d *Digester) numberedTask(title, output string) {
	_, rest, ok := strings.Cut(prose.FirstLine(output, maxLine), "Task #")
	if !ok {
		return
	}
	if n, ok := leadingNumber(rest); ok {
		d.Tasks[number(n)] = title
	}
}

// recorded adds the branch that the record of a message names, where another one was named before.
func (d *Digester) recorded(m *Message) {
	if m.Branch == d.Branch || !isBranchName(m.Branch) ||
		m.Dir != "" && d.isBeside(path.Clean(m.Dir)) {
		return
	}
	d.Branch = m.Branch
	d.add(Fact{Kind: Branch, Key: "branch", Text: "on branch " + m.Branch})
}

// branchShown adds the branch that a command ends on, unless it is one of another repository: the
// last one that its output names, or else that its words name. The record of a message may be older
// than the command's end.
func (d *Digester) branchShown(f Fact, output string, failed bool) {
	script, _, _ := strings.Cut(strings.TrimPrefix(f.Text, "ran "), " # ")
	if f.Elsewhere || d.at.Dir != "" && d.isBeside(path.Clean(d.at.Dir)) ||
		f.Kind != Commit && !prose.HasAny(script, []string{"git ", "gh "}) {
		return
	}
	name := ""
	asks := slices.ContainsFunc([]string{"git branch --show-current",
		"git rev-parse --abbrev-ref HEAD", "git symbolic-ref --short HEAD"},
		func(asks string) bool { return strings.HasSuffix(script, asks) })
	eachLine(output, func(line string) bool {
		if asks && isBranchName(line) { // no label of an agent below the output
			name = line
		}
		for _, lead := range [...]string{"On branch ", "Switched to a new branch '",
			"Switched to branch '"} {
			if rest, ok := strings.CutPrefix(line, lead); ok {
				name, _, _ = strings.Cut(rest, "'")
			}
		}
		return true
	})
	if name == "" && !asks && !failed {
		name = branchMade(script)
	}
	if isBranchName(name) && name != "HEAD" {
		d.add(Fact{Kind: Branch, Key: "branch", Text: "on branch " + name})
	}
}

// maxBranch is the most bytes of the name of a branch.
const maxBranch = 100

// isBranchName reports whether git lets a branch have this name. What a command prints may be
// anything else, and would be told as what the agent did.
func isBranchName(name string) bool {
	return name != "" && len(name) <= maxBranch && name[0] != '-' && name[0] != '.' &&
		!strings.ContainsAny(name, " ~^:?*[\\<>\"`") && !strings.Contains(name, "..") &&
		!strings.Contains(name, "@{") && !strings.HasSuffix(name, "/") &&
		!strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) })
}
