package document

import "github.com/gemini-ctx/ctx/session"

// briefTokens is how much of a cluster's summary a list shows: a short paragraph.
const briefTokens = 100

// Cluster is a cluster as forest lists it.
type Cluster struct {
	V         int      `json:"v"`
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

// ClusterOf returns a cluster with the beginning of its summary, and with its label if c has one.
func ClusterOf(s *session.Store, c session.ClusterInfo) (Cluster, error) {
	d := Cluster{
		V: 1, ID: c.ID.String(), State: "live", Members: c.Count, First: TimeText(c.First.Time), Last: TimeText(c.Last.Time),
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
	text, found, err := s.Brief(c.Covers, briefTokens)
	if found {
		d.Summary = &text
	}
	return d, err
}
