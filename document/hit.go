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
	Excerpt string  `json:"excerpt"` // the passage of text that matches, in one line
	*HitEntry
	// Of clusters.
	State   string `json:"state,omitempty"`
	Members uint64 `json:"members,omitempty"`
}

// HitEntry is what a hit has of an entry; a key that Entry has as well says the same there.
type HitEntry struct {
	Branch    string  `json:"branch,omitempty"`
	Seq       uint64  `json:"seq"`
	Role      *string `json:"role"`
	Author    *string `json:"author"`
	Time      string  `json:"time"`
	Source    *string `json:"source"`
	AmendedBy *string `json:"amended_by,omitempty"`
	Rewound   bool    `json:"rewound,omitempty"`
	Copies    int     `json:"copies,omitempty"` // how many more entries have the same words
}

// Score is printed with three decimals everywhere.
type Score float64

// MarshalJSON implements json.Marshaler.
func (s Score) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%.3f", float64(s)), nil }

// HitOf returns a hit.
func HitOf(h session.Hit) Hit {
	d := Hit{V: 1, ID: h.ID.String(), Score: Score(h.Score), Session: h.Session, Text: &h.Text, Excerpt: h.Excerpt}
	if c := h.Cluster; c != nil {
		d.Kind, d.State, d.Members, d.Text = "cluster", StateOf(c), c.Count, OrNull(h.Text)
		return d
	}
	e := EntryOf(h.Shown)
	d.Kind = e.Kind
	d.HitEntry = &HitEntry{
		Branch: h.Branch, Seq: e.Seq, Role: e.Role, Author: e.Author, Time: e.Time, Source: e.Source, AmendedBy: e.AmendedBy,
		Rewound: h.Rewound, Copies: h.Copies,
	}
	return d
}

// StateOf says whether a cluster is live or a tombstone.
func StateOf(c *session.ClusterInfo) string {
	if c.Tombstone.IsZero() {
		return "live"
	}
	return "tombstone"
}

// SessionHit is a session that a search found.
type SessionHit struct {
	V       int    `json:"v"`
	Session string `json:"session"`
	Score   Score  `json:"score"`
	Matches int    `json:"matches"` // messages with a word of the query
	Best    Hit    `json:"best"`
}

// SessionHitOf returns a session that was found.
func SessionHitOf(h session.SessionHit) SessionHit {
	return SessionHit{V: 1, Session: h.Best.Session, Score: Score(h.Score), Matches: h.Matches, Best: HitOf(h.Best)}
}

// Match is a line of an entry that a pattern matches.
type Match struct {
	V       int     `json:"v"`
	ID      string  `json:"id"`
	Session string  `json:"session"`
	Seq     uint64  `json:"seq"`
	Role    *string `json:"role"`
	Rewound bool    `json:"rewound,omitempty"`
	Line    int     `json:"line,omitempty"` // from 1
	Text    *string `json:"text,omitempty"` // of the line
	Start   int     `json:"start"`          // bytes of text: the first match
	End     int     `json:"end"`
}

// MatchOf returns a line that matches.
func MatchOf(l session.Line) Match {
	e := l.Shown.Entry
	return Match{
		V: 1, ID: l.Shown.ID.String(), Session: l.Session, Seq: e.Seq, Role: OrNull(e.Role), Rewound: l.Rewound, Line: l.Number, Text: &l.Text,
		Start: l.At[0], End: l.At[1],
	}
}
