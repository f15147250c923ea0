package session

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/session/view"
)

// openingMembers is how many of a cluster's first members are looked at for what was asked for.
const openingMembers = 8

// SetLabels sets the labels of the live clusters in a list. The clusters of one session get different
// labels; a cluster belongs to the session of its newest member. A label is one line of at most
// summarize.LabelColumns columns. It is made of the first words of the cluster and of its summary, so
// that it stays as it is as long as these and the other clusters of the list do.
func (s *Store) SetLabels(list []ClusterInfo) error {
	bySession := map[string][]int{}
	for i, c := range list {
		if c.Tombstone.IsZero() {
			bySession[c.Last.Session] = append(bySession[c.Last.Session], i)
		}
	}
	for _, clusters := range bySession {
		topics := make([]summarize.Topic, len(clusters))
		for n, i := range clusters {
			var err error
			if topics[n], err = s.topicOf(&list[i]); err != nil {
				return err
			}
		}
		for n, label := range summarize.Labels(topics) {
			list[clusters[n]].Label = label
		}
	}
	return nil
}

// liveLabels returns the labels of live clusters, by number.
func (s *Store) liveLabels(st *forest.State, live []*forest.Cluster) (map[uint64]string, error) {
	list, err := s.infosOf(st, live)
	if err != nil {
		return nil, err
	}
	if err := s.SetLabels(list); err != nil {
		return nil, err
	}
	labels := make(map[uint64]string, len(list))
	for _, c := range list {
		labels[c.Number] = c.Label
	}
	return labels, nil
}

// topicOf reads what the label of a live cluster is made of.
func (s *Store) topicOf(c *ClusterInfo) (summarize.Topic, error) {
	r := &listReader{Store: s}
	parts, err := r.partsOf(c.Covers, true)
	if err == nil {
		err = r.read(labelRead)
	}
	if err != nil {
		return summarize.Topic{}, err
	}
	topic, err := s.topicFrom(c.opening, saidIn(parts))
	if headline := headlineOf(parts); headline != "" {
		topic.Goal = headline
	}
	return topic, err
}

// headlineOf returns the line that the newest summary in plain words begins with: who writes a summary
// says first what it is about. "" where a cluster has no such summary.
func headlineOf(parts []view.Part) string {
	for _, p := range slices.Backward(parts) {
		if p.Text == "" || p.Text == goneSummary {
			continue
		}
		for line := range strings.SplitSeq(p.Text, "\n") {
			if line = strings.Trim(line, "#* \t\r"); summarize.TellsGoal(line) {
				return line
			}
		}
	}
	return ""
}

// topicFrom makes a topic of the first members of a cluster and of what its summaries say.
func (s *Store) topicFrom(first []format.ID, said []summarize.Source) (summarize.Topic, error) {
	opening, err := sourcesBy(s.Entry, first)
	if err != nil {
		return summarize.Topic{}, err
	}
	if len(said) == 0 {
		said = opening
	}
	opening, said = ownWords(opening), ownWords(said)
	return summarize.Topic{Goal: goalOf(opening, said), Said: said, Changed: changedIn(said)}, nil
}

// ownWords returns sources without what is no word of the user or the model: clients add reminders and the
// output of commands to prompts, and the facts of commands and searches end with what came of them.
func ownWords(list []summarize.Source) []summarize.Source {
	out := slices.Clone(list)
	for i, s := range out {
		switch s.Role {
		case "user":
			facts := digest.Of([]digest.Message{{Entry: s.Entry, Role: s.Role, Text: s.Text}})
			out[i].Text = factLines(facts)[s.Entry]
		case "model":
			lines := strings.Split(s.Text, "\n")
			for j, line := range lines {
				lines[j] = withoutOutcome(line)
			}
			out[i].Text = strings.Join(lines, "\n")
		}
	}
	return out
}

// withoutOutcome cuts what came of a command or a search off the line of its fact.
func withoutOutcome(line string) string {
	end := -1
	switch {
	case strings.HasPrefix(line, "ran "):
		end = outcomeAt(line)
	case strings.HasPrefix(line, "searched "):
		end = strings.LastIndex(line, ": ")
	}
	if end < 0 {
		return line
	}
	return line[:end]
}

// outcomeAt returns where the fact of a command begins to say how it ended, as ": failed", ": exit
// status 2" and ": 3 failed: TestA" do; -1 where it does not say.
func outcomeAt(line string) int {
	for at := 0; ; {
		i := strings.Index(line[at:], ": ")
		if i < 0 {
			return -1
		}
		at += i
		rest := line[at+2:]
		count := strings.TrimLeft(rest, "0123456789")
		status, isStatus := strings.CutPrefix(rest, "exit status ")
		switch {
		case rest == "failed", rest == "passed",
			isStatus && status != "" && strings.Trim(status, "0123456789") == "",
			len(count) < len(rest) && (strings.HasPrefix(count, " failed") || strings.HasPrefix(count, " passed")):
			return at
		}
		at += 2
	}
}

// changeWords are the words with which the facts of changed files begin.
var changeWords = [...]string{"edited ", "wrote ", "moved ", "deleted "}

// changedIn returns the files that sources say were changed.
func changedIn(said []summarize.Source) []string {
	var files []string
	for _, s := range said {
		if s.Role != "model" {
			continue
		}
		for line := range strings.SplitSeq(s.Text, "\n") {
			for _, w := range changeWords {
				if path, ok := strings.CutPrefix(line, w); ok {
					path, _, _ = strings.Cut(path, " ")
					files = append(files, strings.TrimSuffix(path, ":"))
				}
			}
		}
	}
	return files
}

// labelRead is how many bytes of the summaries of a cluster are read for its label, beside the first 2 KiB of
// each: the best of what it says.
const labelRead = 32 << 10

// saidIn returns what summaries say, with the roles of those who said it.
func saidIn(parts []view.Part) []summarize.Source {
	var list []summarize.Source
	for _, p := range parts {
		if p.Text != "" && p.Text != goneSummary {
			list = append(list, summarize.Source{Role: "model", Text: p.Text})
		}
		list = append(list, sourcesOf(p.Sentences)...)
	}
	return list
}

// goalOf returns what was asked for first: the first prompt that says anything, from the first sentence
// that does, in what a cluster begins with or else in what its summary kept. Without one it is the first sentence of the model,
// any prompt, or what was done first.
func goalOf(opening, said []summarize.Source) string {
	all := slices.Concat(opening, said)
	prompt, done := "", ""
	for _, s := range all {
		if s.Role != "user" || s.Text == "" {
			continue
		}
		lines := strings.Split(s.Text, "\n")
		if i := slices.IndexFunc(lines, summarize.TellsGoal); i >= 0 {
			return strings.Join(lines[i:], " ")
		}
		prompt = cmp.Or(prompt, strings.ReplaceAll(s.Text, "\n", " "))
	}
	for _, s := range all {
		if s.Role == "user" || s.Role == "tool" {
			continue
		}
		for line := range strings.SplitSeq(s.Text, "\n") {
			if isAct(line) {
				done = cmp.Or(done, line)
			} else if summarize.TellsGoal(line) {
				return line
			}
		}
	}
	return cmp.Or(prompt, done)
}

// isAct knows the lines of acts, beside those of changes.
func isAct(line string) bool {
	for _, words := range [...][]string{changeWords[:], {"ran ", "read ", "searched ", "listed ", "fetched "}} {
		for _, w := range words {
			if strings.HasPrefix(line, w) {
				return true
			}
		}
	}
	return false
}

// labelOfLine returns the label in the line of a tombstone: all but the count and the days at its end.
func labelOfLine(line string) string {
	if i := strings.LastIndex(line, " ("); i >= 0 {
		return line[:i]
	}
	if line == "" || strings.HasPrefix(line, "(") {
		return summarize.NoLabel
	}
	return line
}

// lineOf returns the line of a tombstone: where a model took part the label of the cluster, else names,
// commands and numbers that tell it apart; and behind either its size and its days. said is what its
// summary says.
func (s *Store) lineOf(members []format.ID, said []summarize.Source, others *summarize.Others) (string, error) {
	first, last, err := s.ends(members[0], members[len(members)-1])
	if err != nil {
		return "", err
	}
	if !isModels(first.Role) && !isModels(last.Role) && !slices.ContainsFunc(said, func(s summarize.Source) bool { return isModels(s.Role) }) {
		return others.Line(said, len(members), first.Time, last.Time), nil
	}
	topic, err := s.topicFrom(members[:min(len(members), openingMembers)], said)
	if err != nil {
		return "", err
	}
	return others.Label(topic) + " " + summarize.Span(len(members), first.Time, last.Time), nil
}

// isModels reports whether a role is that of a model or of its tools.
func isModels(role string) bool { return role == "model" || role == "tool" }
