package session

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
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
	t := summarize.Topic{Said: saidIn(parts)}
	opening, err := s.opening(c.opening)
	if err != nil {
		return t, err
	}
	if len(t.Said) == 0 {
		t.Said = opening
	}
	t.Goal = goalOf(opening, t.Said)
	return t, nil
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

// opening reads what the first messages of a cluster say and do, as they were said first. What was
// forgotten says nothing.
func (s *Store) opening(ids []format.ID) ([]summarize.Source, error) {
	return sourcesBy(s.Entry, ids)
}

// goalOf returns what was asked for first: the words of the first prompt that says anything, in what a
// cluster begins with or else in what its summary kept; without one the first words of anybody but a tool.
func goalOf(opening, said []summarize.Source) string {
	all := slices.Concat(opening, said)
	for _, prompts := range [...]bool{true, false} {
		for _, s := range all {
			text := strings.ReplaceAll(s.Text, "\n", " ")
			if s.Role != "tool" && prompts == (s.Role == "user") && summarize.TellsGoal(text) {
				return text
			}
		}
	}
	for _, s := range all {
		if s.Role == "user" && s.Text != "" {
			return s.Text
		}
	}
	return ""
}

// labelOfLine returns the label in the line of a tombstone: all but the count and the days at its end.
func labelOfLine(line string) string {
	if i := strings.LastIndex(line, " ("); i >= 0 {
		return line[:i]
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
	opening, err := s.opening(members[:min(len(members), openingMembers)])
	if err != nil {
		return "", err
	}
	topic := summarize.Topic{Goal: goalOf(opening, said), Said: said}
	return others.Label(topic) + " " + summarize.Span(len(members), first.Time, last.Time), nil
}

// isModels reports whether a role is that of a model or of its tools.
func isModels(role string) bool { return role == "model" || role == "tool" }
