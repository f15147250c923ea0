package summaries

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// SetLabels sets the labels of the live clusters in a list. The clusters of one session get
// different labels; a cluster belongs to the session of its newest member. A label is one line of
// at most summarize.LabelColumns columns. It depends on the first words of the cluster, on its
// summary and on the other clusters of the list, so that it rarely changes.
func (s *Reader) SetLabels(list []clusters.ClusterInfo) error {
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

// LiveLabels returns the labels of live clusters, by number.
func (s *Reader) LiveLabels(st *forest.State, live []*forest.Cluster) (map[uint64]string, error) {
	list, err := s.clusters.LiveInfos(st, live)
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

// topicOf reads the topic of a live cluster, from which its label is made.
func (s *Reader) topicOf(c *clusters.ClusterInfo) (summarize.Topic, error) {
	r := &ListReader{Reader: s}
	parts, err := r.PartsOf(c.Covers, true)
	if err == nil {
		err = r.Read(labelRead)
	}
	if err != nil {
		return summarize.Topic{}, err
	}
	topic, err := topicFrom(s.Entry, c.Opening, saidIn(parts))
	if headline := Headline(parts); headline != "" {
		topic.Goal = headline
	}
	return topic, err
}

// Headline returns the first line of the newest summary in words, which says what the cluster
// is about. It returns "" if the cluster has no such summary.
func Headline(parts []view.Part) string {
	for _, p := range slices.Backward(parts) {
		if p.Text == "" || p.Text == GoneSummary {
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

// topicFrom makes a topic of the first members of a cluster, which it reads with entry, and of what
// its summaries say.
func topicFrom(
	entry func(format.ID) (*history.Shown, error), first []format.ID, said []summarize.Source,
) (summarize.Topic, error) {
	opening, err := Sources(entry, first)
	if err != nil {
		return summarize.Topic{}, err
	}
	if len(said) == 0 {
		said = opening
	}
	opening, said = ownWords(opening), ownWords(said)
	return summarize.Topic{Goal: goalOf(opening, said), Said: said, Changed: changedIn(said)}, nil
}

// ownWords returns sources without words that are neither the user's nor the model's: clients add
// reminders and output of commands to prompts, and the facts of commands and searches end with
// their outcome, and a branch is a fact.
func ownWords(list []summarize.Source) []summarize.Source {
	out := slices.Clone(list)
	for i, s := range out {
		switch s.Role {
		case "user":
			facts := digest.Of([]digest.Message{{Entry: s.Entry, Role: s.Role, Text: s.Text}})
			out[i].Text = factLines(facts)[s.Entry]
		case "model":
			lines := slices.DeleteFunc(strings.Split(s.Text, "\n"),
				func(line string) bool { return strings.HasPrefix(line, "on branch ") })
			for j, line := range lines {
				lines[j] = withoutOutcome(line)
			}
			out[i].Text = strings.Join(lines, "\n")
		}
	}
	return out
}

// withoutOutcome cuts the outcome of a command or a search off the line of its fact.
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
		how, _, _ := strings.Cut(rest, " after ")
		status, isStatus := strings.CutPrefix(how, "exit status ")
		switch {
		case how == "failed", how == "timed out", rest == "passed",
			isStatus && status != "" && strings.Trim(status, "0123456789") == "",
			len(count) < len(rest) &&
				(strings.HasPrefix(count, " failed") || strings.HasPrefix(count, " passed")):
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

// labelRead is the number of bytes of the summaries of a cluster that are read for its label,
// beside the first 2 KiB of each summary.
const labelRead = 32 << 10

// saidIn returns the texts of summaries as sources with roles.
func saidIn(parts []view.Part) []summarize.Source {
	var list []summarize.Source
	for _, p := range parts {
		if p.Text != "" && p.Text != GoneSummary {
			list = append(list, summarize.Source{Role: "model", Text: p.Text})
		}
		list = append(list, sourcesOf(p.Sentences)...)
	}
	return list
}

// goalOf returns what the user asked for first: the first prompt in the opening or in the summary
// that states a goal, from the sentence that states it. Without one it returns the first sentence
// of the model, any prompt, or the first act.
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
	for _, words := range [...][]string{changeWords[:],
		{"ran ", "read ", "searched ", "listed ", "fetched "}} {
		for _, w := range words {
			if strings.HasPrefix(line, w) {
				return true
			}
		}
	}
	return false
}
