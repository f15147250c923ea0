package find

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/outcome"
	"github.com/gemini-ctx/ctx/internal/script"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Ran is a command that worked, or that failed.
type Ran struct {
	Session string
	Entry   format.ID // the message that ran it
	Time    time.Time
	Command string // harmless, and without secrets
	Dir     string // where; "" if it is not known
	State   digest.State
	Runs    int // of the command, with those that failed
	Failed  int
	rank    int
}

// The most sessions whose acts are looked at for a question: those with the best messages for it.
const maxActSessions = 24

// How returns the commands that worked for some words, at most most, in the order of CompareRan. It
// returns none if there is no such command.
func (s *Reader) How(view *refs.View, words, session string, most int) ([]Ran, error) {
	names, err := s.actSessions(view, words, session)
	if err != nil {
		return nil, err
	}
	acts := make([]outcome.Session, 0, len(names))
	roots := map[string]brief.Root{}
	for _, name := range names {
		one, root, err := s.actsOf(view, name)
		if err != nil {
			return nil, err
		}
		acts, roots[name] = append(acts, one), root
	}
	var list []Ran
	for _, c := range outcome.How(words, acts) {
		if len(list) == most {
			break
		}
		root := roots[c.Session.Name]
		r, err := s.ran(c.Session.Name, c.Run, root)
		if err != nil {
			return nil, err
		}
		if r.Command = harmless(root.Shorten(c.Text)); c.Run.Kind == digest.Commit {
			if r.Command, err = s.scriptOf(c.Run.Entry); err != nil {
				return nil, err
			}
		}
		last, err := s.Header(c.Last.Entry)
		if err != nil {
			return nil, err
		}
		r.Time, r.Runs, r.Failed, r.rank = last.Time, c.Runs, c.Failed, c.Rank
		list = append(list, *r)
	}
	slices.SortStableFunc(list, func(x, y Ran) int { return CompareRan(y, x) })
	return list, nil
}

// mostScript is the most bytes of a script that is printed: the text of a pull request is no part
// of how it is opened.
const mostScript = 240

// scriptOf returns the script that an entry has called, as one line.
func (s *Reader) scriptOf(id format.ID) (string, error) {
	shown, err := s.Parts(id)
	if err != nil {
		return "", err
	}
	parts, _ := message.Parse(shown.Parts) // none in a body of another form
	for _, c := range message.Deeds(parts) {
		if text := (&digest.Call{Name: c.Name, Args: c.Args}).Script(); text != "" {
			return harmless(digest.WithoutMiddle(script.Line(text), mostScript)), nil
		}
	}
	return "", nil
}

// CompareRan compares commands that worked for some words: one that has more of the words and
// passed more often is larger, and of those that are about as good the one that ran last.
func CompareRan(x, y Ran) int {
	return cmp.Or(cmp.Compare(x.rank, y.rank), x.Time.Compare(y.Time))
}

// actSessions returns the sessions that may have what some words ask for, the one of which the
// newest message is oldest first: the newest run of a command is the one that counts.
func (s *Reader) actSessions(view *refs.View, words, session string) (names []string, err error) {
	if session != "" {
		return []string{session}, nil
	}
	list, err := s.Overviews(view)
	if err != nil {
		return nil, err
	}
	list = sessions.WithoutTwins(list)
	last := map[string]time.Time{}
	for i := range list {
		last[list[i].Name] = list[i].Last
		names = append(names, list[i].Name)
	}
	if len(list) > maxActSessions {
		names = nil
		hits, err := s.SearchSessions(view, SearchQuery{Text: words, Limit: maxActSessions})
		if err != nil && !errors.Is(err, search.ErrNoTerms) {
			return nil, err
		}
		for _, h := range hits {
			if _, ok := last[h.Best.Session]; ok {
				names = append(names, h.Best.Session)
			}
		}
	}
	slices.SortStableFunc(names, func(x, y string) int { return last[x].Compare(last[y]) })
	return names, nil
}

// actsOf returns what was done in the main branch of a session: nothing where damage hides it.
func (s *Reader) actsOf(view *refs.View, session string) (outcome.Session, brief.Root, error) {
	name, tip, err := mainOf(view, session)
	if err != nil {
		return outcome.Session{}, brief.Root{}, err
	}
	facts, root, _, err := s.AllFacts(name, tip)
	if err != nil && s.PassOver(session, err) {
		err = nil
	}
	return outcome.Session{Name: session, Branch: name.Branch, Facts: facts}, root, err
}

// mainOf returns the main branch of a session, or its first one, and the tip of it.
func mainOf(view *refs.View, session string) (history.BranchName, format.Value, error) {
	branches := history.BranchesIn(view, session)
	branch := history.MainBranch
	if !slices.Contains(branches, branch) && len(branches) > 0 {
		branch = branches[0]
	}
	tip, err := history.Tip(view, session, branch)
	return history.BranchName{Session: session, Branch: branch}, tip, err
}

// ran returns the run of a command, or another act.
func (s *Reader) ran(session string, f *digest.Fact, root brief.Root) (*Ran, error) {
	shown, err := s.Parts(f.Entry)
	if err != nil {
		return nil, err
	}
	r := &Ran{Session: session, Entry: f.Entry, Time: shown.Entry.Time, State: f.State}
	if r.Command, _, _ = strings.Cut(f.Text, ": failed"); f.Kind == digest.Command {
		r.Command = f.Command()
	}
	r.Command = harmless(root.Shorten(r.Command))
	parts, _ := message.Parse(shown.Parts) // none in a body of another form
	r.Dir = message.Directory(parts)
	for _, c := range message.Deeds(parts) {
		members, _ := jsonvalue.Members(c.Args) // none if it is no object
		for _, m := range members {
			if text, ok := jsonvalue.Text(m.Value); ok && (m.Name == "workdir" || m.Name == "cwd") {
				r.Dir = text
			}
		}
	}
	if r.Dir != "" {
		r.Dir = harmless(root.Name(filepath.ToSlash(r.Dir)))
	}
	return r, nil
}

// harmless returns a text as one line, without secrets: what is stored was cleaned by the rules of
// its time.
func harmless(text string) string {
	clean, _, err := sanitize.Text([]byte(text))
	if err != nil {
		return "" // more than can be looked at
	}
	return sanitize.Line(string(clean))
}

// Mending is a failure, and what ended it.
type Mending struct {
	Failed Ran
	Line   string // of the tool that failed: quoted data
	// Result is the message with the line. It is that of Failed itself if a person pasted the error:
	// the command of Failed is then what the person said, and a check ended it.
	Result format.ID
	// Of the act that did not fail so; nil if nothing of the kind was done since
	Passed *Ran
	Edits  []string
	Said   string // by the agent, about the failure
	SaidBy format.ID
	like   float64
}

// How many messages with an error are looked at, for each of its first lines.
const (
	maxStood = 24
	maxAsked = 3
)

// FixQuery says what Fixes looks for.
type FixQuery struct {
	Text    string // the error, as it was printed
	Session string // only in this session; "" for all
	Limit   int
}

// Fixes returns where an error stood and what ended it, the most like the error first, at most
// most. Lines are compared without numbers, times, addresses and directories. What ended a failure
// is the next act of its kind that passed. Failures that nothing ended are there only if there are
// no others. It returns none if no message of a tool or a person has a line that is much like one
// of the error.
func (s *Reader) Fixes(view *refs.View, q FixQuery) ([]Mending, error) {
	type stood struct {
		shown   *history.Shown
		line    string
		like    float64
		session string
	}
	found := map[format.ID]*stood{}
	var order []*stood
	text, _, err := sanitize.Text([]byte(q.Text)) // it may have the colours of a terminal
	if err != nil {
		return nil, err
	}
	lines := outcome.Lines(string(text))
	roles := []string{transcript.RoleTool, transcript.RoleUser}
	for i := range min(len(lines), maxAsked) * len(roles) {
		hits, err := s.Search(view, SearchQuery{Text: lines[i/len(roles)].Text,
			Role: roles[i%len(roles)], Session: q.Session, Limit: maxStood})
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if found[h.ID] == nil {
				at := &stood{shown: h.Shown, session: h.Session}
				at.like, at.line = outcome.Share(lines, h.Text, outcome.Least)
				found[h.ID], order = at, append(order, at)
			}
		}
	}
	order = slices.DeleteFunc(order, func(at *stood) bool { return at.like == 0 })
	sessions := map[string][]*stood{}
	for _, at := range order {
		sessions[at.session] = append(sessions[at.session], at)
	}
	var list []Mending
	for name, all := range sessions {
		acts, root, err := s.actsOf(view, name)
		if err != nil {
			return nil, err
		}
		runs, places := map[int]bool{}, make([]int, len(all))
		for i, at := range all {
			places[i] = s.runOf(&acts, at.shown)
			runs[places[i]] = true
		}
		for i, at := range all {
			if places[i] < 0 || acts.Quotes(places[i]) {
				continue
			}
			m, err := s.mending(&acts, places[i], runs, root)
			if err != nil {
				return nil, err
			}
			m.Line, m.Result, m.like = harmless(at.line), at.shown.ID, at.like
			list = append(list, *m)
		}
	}
	return chosen(list, q.Limit), nil
}

// sureShare is the least share of an error's lines that a sure answer has, and maxSure the most
// messages that are read for each of the first lines.
const (
	sureShare = 0.6
	maxSure   = 8
)

// SureFix returns what ended an error while a model waits; nil for nothing that is sure: a failure
// of the same program as the command, with most of the error, that ended outside of a session, and
// that is fresh, by the act that passed. The first that has the whole error will do, or else the
// one that has most of it.
func (s *Reader) SureFix(
	view *refs.View, text, command, except string, fresh func(passed format.ID) bool,
) (best *Mending, err error) {
	lines := outcome.Lines(text)
	type looked struct {
		acts outcome.Session
		root brief.Root
	}
	known, seen := map[string]*looked{}, map[format.ID]bool{}
	whole := false
	look := func(session string, shown *history.Shown) (done bool, err error) {
		like, line := outcome.Share(lines, shown.Text, outcome.Sure)
		if like < sureShare || seen[shown.ID] || best != nil && like <= best.like {
			return false, nil
		}
		seen[shown.ID], whole = true, whole || like >= outcome.Sure
		at := known[session]
		if at == nil {
			at = &looked{}
			if at.acts, at.root, err = s.actsOf(view, session); err != nil {
				return false, err
			}
			known[session] = at
		}
		run := s.runOf(&at.acts, shown)
		if run < 0 || !outcome.SameProgram(command, at.acts.Facts[run].Command()) {
			return false, nil
		}
		m, err := s.mending(&at.acts, run, map[int]bool{run: true}, at.root)
		if err != nil || m.Passed == nil || m.Passed.State != digest.Passed ||
			!fresh(m.Passed.Entry) {
			return false, err
		}
		m.Line, m.Result, m.like = harmless(line), shown.ID, like
		best = m
		return like >= outcome.Sure, nil
	}
	for _, l := range lines[:min(len(lines), maxAsked)] {
		if whole {
			break // further lines stand in the same messages
		}
		err := s.searchWords(view, SearchQuery{Text: l.Text, Role: transcript.RoleTool,
			Except: except, Limit: maxSure}, look)
		if err != nil {
			return nil, err
		}
	}
	return best, nil
}

// maxInstead is how many of the newest sessions are looked at for the last run of a command.
const maxInstead = 8

// Instead returns, while a model waits, what passed in place of a command that was wrong when it
// ran last in the project; nil for nothing. A session that ran it itself knows. fresh says whether
// what passed is worth telling.
func (s *Reader) Instead(
	view *refs.View, command, session string, fresh func(passed format.ID) bool,
) (*Mending, error) {
	list, err := s.Overviews(view) // the newest first
	if err != nil {
		return nil, err
	}
	list = sessions.WithoutTwins(list)
	for i := range list[:min(len(list), maxInstead)] {
		acts, root, err := s.actsOf(view, list[i].Name)
		if err != nil {
			return nil, err
		}
		last, right := acts.Instead(command)
		switch {
		case last == nil:
			continue
		case right == nil, session == cmp.Or(list[i].Also, list[i].Name), !fresh(right.Entry):
			return nil, nil
		}
		failed, err := s.ran(acts.Name, last, root)
		if err != nil {
			return nil, err
		}
		passed, err := s.ran(acts.Name, right, root)
		return &Mending{Failed: *failed, Passed: passed}, err
	}
	return nil, nil
}

// mending returns the failure of an act, and what ended it.
func (s *Reader) mending(
	acts *outcome.Session, at int, stood map[int]bool, root brief.Root,
) (*Mending, error) {
	failed, err := s.ran(acts.Name, &acts.Facts[at], root)
	if err != nil {
		return nil, err
	}
	m := &Mending{Failed: *failed}
	said := func(f *digest.Fact) {
		if f != nil {
			m.Said, m.SaidBy = harmless(root.Shorten(f.Text)), f.Entry
		}
	}
	end := acts.Ended(at, stood)
	if end == nil {
		if outcome.IsTold(&acts.Facts[at]) {
			said(acts.Answered(at))
		}
		return m, nil
	}
	if m.Passed, err = s.ran(acts.Name, end.Run, root); err != nil {
		return nil, err
	}
	for _, edit := range end.Edits {
		m.Edits = append(m.Edits, harmless(root.Shorten(edit)))
	}
	said(end.Said)
	return m, nil
}

// runOf returns the place of the act that an entry is the result of; -1 if it is of none that can
// be done again.
func (s *Reader) runOf(acts *outcome.Session, result *history.Shown) int {
	for i := range slices.Backward(acts.Facts) {
		f := &acts.Facts[i]
		if f.Seq > result.Entry.Seq {
			continue
		}
		if result.Entry.Role == transcript.RoleUser && f.Entry == result.ID && outcome.IsTold(f) {
			return i
		}
		if f.Kind == digest.Failure && f.Entry == result.ID { // of a command that went on meanwhile
			key := f.Key
			for j := i - 1; j >= 0; j-- {
				if a := &acts.Facts[j]; a.Kind != digest.Failure && a.State == digest.Failed &&
					a.ActKey() == key {
					return j
				}
			}
		}
		if f.Seq+maxResults < result.Entry.Seq {
			break
		}
		if f.Kind != digest.Command && f.Kind != digest.Edit && f.Kind != digest.Act {
			continue
		}
		e, err := s.Header(f.Entry)
		if err != nil {
			return -1
		}
		for _, call := range e.Calls {
			if slices.Contains(result.Entry.Results, call.ID) {
				return i
			}
		}
	}
	// Codex says of what a command prints later which command that is.
	for i := range slices.Backward(acts.Facts) {
		f := &acts.Facts[i]
		if command := f.Command(); f.Seq <= result.Entry.Seq && f.Kind == digest.Command &&
			f.State == digest.Failed && len(command) >= leastNamed &&
			strings.Contains(result.Text, command) {
			return i
		}
	}
	return -1
}

// leastNamed is how many bytes of a command tell it from words of an output.
const leastNamed = 8

// CompareMendings compares mendings of an error: a failure that something ended is larger than any
// other, then one with a line that is more like the error, then a newer one.
func CompareMendings(x, y Mending) int {
	ended := func(m Mending) int {
		if m.Passed != nil {
			return 1
		}
		return 0
	}
	return cmp.Or(ended(x)-ended(y), cmp.Compare(int(x.like*10), int(y.like*10)),
		x.Failed.Time.Compare(y.Failed.Time), strings.Compare(y.Line, x.Line))
}

// chosen returns the best of some mendings, each failure that the same act ended once.
func chosen(list []Mending, most int) (out []Mending) {
	slices.SortStableFunc(list, func(x, y Mending) int { return CompareMendings(y, x) })
	for _, m := range list {
		if len(out) == most || m.Passed == nil && len(out) > 0 && out[0].Passed != nil {
			break
		}
		if !slices.ContainsFunc(out, func(o Mending) bool {
			return m.Passed != nil && o.Passed.Entry == m.Passed.Entry ||
				o.Failed.Entry == m.Failed.Entry
		}) {
			out = append(out, m)
		}
	}
	return out
}
