package document

import (
	"fmt"

	"github.com/gemini-ctx/ctx/session"
)

// Hit is a hit of search: the entry as log has it, or a cluster.
type Hit struct {
	V       int     `json:"v"`
	ID      string  `json:"id"`
	Kind    string  `json:"kind"`
	Score   Score   `json:"score"`
	Session string  `json:"session"`
	Text    *string `json:"text"`
	// Of entries.
	Branch    string  `json:"branch,omitempty"`
	Seq       uint64  `json:"seq,omitempty"`
	Role      *string `json:"role,omitempty"`
	Author    *string `json:"author,omitempty"`
	Time      string  `json:"time,omitempty"`
	Source    *string `json:"source,omitempty"`
	AmendedBy *string `json:"amended_by,omitempty"`
	Rewound   bool    `json:"rewound,omitempty"`
	// Of clusters.
	State   string `json:"state,omitempty"`
	Members uint64 `json:"members,omitempty"`
}

// Score is printed with three decimals everywhere.
type Score float64

// MarshalJSON implements json.Marshaler.
func (s Score) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%.3f", float64(s)), nil }

// HitOf returns a hit.
func HitOf(h session.Hit) Hit {
	d := Hit{V: 1, ID: h.ID.String(), Score: Score(h.Score), Session: h.Session, Text: &h.Text, Rewound: h.Rewound}
	if c := h.Cluster; c != nil {
		d.Kind, d.State, d.Members, d.Text = "cluster", StateOf(c), c.Count, OrNull(h.Text)
		return d
	}
	e := EntryOf(h.Shown)
	d.Branch = h.Branch
	d.Kind, d.Seq, d.Role, d.Author, d.Time, d.Source, d.AmendedBy = e.Kind, e.Seq, e.Role, e.Author, e.Time, e.Source, e.AmendedBy
	return d
}

// StateOf says whether a cluster is live or a tombstone.
func StateOf(c *session.ClusterInfo) string {
	if c.Tombstone.IsZero() {
		return "live"
	}
	return "tombstone"
}
