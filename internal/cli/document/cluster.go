package document

import (
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/session"
)

// briefTokens is how many tokens of a summary a list shows: a short paragraph.
const briefTokens = 100

// Cluster is a cluster in a list.
type Cluster struct {
	ID        string   `json:"id"`
	State     string   `json:"state"`
	Members   uint64   `json:"members"`
	Summary   *string  `json:"summary"`
	First     string   `json:"first"`
	Last      string   `json:"last"`
	Dirty     bool     `json:"dirty"`
	Interim   bool     `json:"interim"` // the summary, or part of it, was made in passing
	Covers    []string `json:"covers"`  // the summaries
	Tombstone *string  `json:"tombstone,omitempty"`
	Label     string   `json:"label"` // one line of at most 70 columns
}

// ClusterOf returns the document of a cluster, with the beginning of its summary.
func ClusterOf(s *session.Store, c clusters.ClusterInfo) (Cluster, error) {
	d := Cluster{
		ID: c.ID.String(), State: "live", Members: c.Count, First: TimeText(c.First.Time),
		Last:  TimeText(c.Last.Time),
		Dirty: c.Dirty, Covers: []string{}, Tombstone: IDText(c.Tombstone), Label: c.Label,
	}
	for _, v := range c.Covers {
		d.Covers = append(d.Covers, v.Summary.String())
		d.Interim = d.Interim || v.Interim
	}
	if !c.Tombstone.IsZero() {
		d.State, d.Summary = "tombstone", OrNull(c.Line)
		return d, nil
	}
	text, found, err := s.Recall.CoversText(c.Covers, briefTokens)
	if found {
		d.Summary = &text
	}
	return d, err
}
