package document

import (
	"fmt"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/session"
)

// Hit is a search hit: an entry or a cluster.
type Hit struct {
	ID      string  `json:"id"`
	Kind    string  `json:"kind"`
	Score   Score   `json:"score"`
	Session string  `json:"session"`
	Text    *string `json:"text"`
	Excerpt string  `json:"excerpt"` // the passage of text that matches, in one line
	*HitEntry
	// Clusters have these fields.
	State   string `json:"state,omitempty"`
	Members uint64 `json:"members,omitempty"`
}

// HitEntry has the fields of a hit that is an entry. They mean the same as in Entry.
type HitEntry struct {
	Branch    string  `json:"branch,omitempty"`
	Seq       uint64  `json:"seq"`
	Role      *string `json:"role"`
	Author    *string `json:"author"`
	Time      string  `json:"time"`
	Source    *string `json:"source"`
	AmendedBy *string `json:"amended_by,omitempty"`
	Rewound   bool    `json:"rewound,omitempty"`
	// The note which says that this one holds no more
	SupersededBy string `json:"superseded_by,omitempty"`
	// The next message that doubts this answer, and the model's that takes it back
	DoubtedBy    string `json:"doubted_by,omitempty"`
	OverturnedBy string `json:"overturned_by,omitempty"`
	Copies       int    `json:"copies,omitempty"` // how many more entries have the same words
}

// Score is a number with three decimals in JSON.
type Score float64

// MarshalJSON implements json.Marshaler.
func (s Score) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%.3f", float64(s)), nil }

// HitOf returns the document of a hit.
func HitOf(h find.Hit) Hit {
	d := Hit{ID: h.ID.String(), Score: Score(h.Score), Session: h.Session, Text: &h.Text,
		Excerpt: h.Excerpt}
	if c := h.Cluster; c != nil {
		d.Kind, d.State, d.Members, d.Text = "cluster", StateOf(c), c.Count, OrNull(h.Text)
		return d
	}
	e := EntryOf(h.Shown)
	d.Kind = e.Kind
	d.HitEntry = &HitEntry{
		Branch: h.Branch, Seq: e.Seq, Role: e.Role, Author: e.Author, Time: e.Time,
		Source: e.Source, AmendedBy: e.AmendedBy,
		Rewound: h.Rewound, Copies: h.Copies,
	}
	if !h.SupersededBy.IsZero() {
		d.SupersededBy = h.SupersededBy.String()
	}
	switch o := h.Objection; {
	case o.Overturned:
		d.OverturnedBy = o.By.String()
	case !o.By.IsZero():
		d.DoubtedBy = o.By.String()
	}
	return d
}

// TitleHit is a session that was found for its title or its tags.
type TitleHit struct {
	Kind    string   `json:"kind"` // session
	Score   Score    `json:"score"`
	Session string   `json:"session"`
	Title   *string  `json:"title"`
	Tags    []string `json:"tags"`
}

// TitleHitOf returns the document of a hit that is a session.
func TitleHitOf(h find.Hit) TitleHit {
	return TitleHit{"session", Score(h.Score), h.Session, OrNull(h.Text),
		append([]string{}, h.Named.About.Tags...)}
}

// StateOf returns "live" or "tombstone".
func StateOf(c *clusters.ClusterInfo) string {
	if c.Tombstone.IsZero() {
		return "live"
	}
	return "tombstone"
}

// SessionHit is a session with its best hit.
type SessionHit struct {
	Session string       `json:"session"`
	Score   Score        `json:"score"`
	Matches int          `json:"matches"` // messages with a word of the query
	Best    *Nested[Hit] `json:"best"`    // null where only the title has the words
}

// SessionHitOf returns the document of a session that was found.
func SessionHitOf(h find.SessionHit) SessionHit {
	d := SessionHit{Session: h.Best.Session, Score: Score(h.Score), Matches: h.Matches}
	if h.Best.Named == nil {
		d.Best = &Nested[Hit]{HitOf(h.Best)}
	}
	return d
}

// Match is a line of an entry that matches a pattern.
type Match struct {
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

// MatchOf returns the document of a matching line.
func MatchOf(l find.Line) Match {
	e := l.Shown.Entry
	return Match{
		ID: l.Shown.ID.String(), Session: l.Session, Seq: e.Seq, Role: OrNull(e.Role),
		Rewound: l.Rewound, Line: l.Number, Text: &l.Text,
		Start: l.At[0], End: l.At[1],
	}
}

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

// Ran is a run of a command, or another act.
type Ran struct {
	ID      string  `json:"id"`
	Session string  `json:"session"`
	Time    string  `json:"time"`
	Command string  `json:"command"`
	Dir     *string `json:"dir"`
}

// RanOf returns the document of a run.
func RanOf(r *find.Ran) Ran {
	return Ran{r.Entry.String(), r.Session, TimeText(r.Time), r.Command, OrNull(r.Dir)}
}

// Mending is a failure, and what ended it.
type Mending struct {
	Failure Ran      `json:"failure"`
	Line    string   `json:"line"`   // of the tool
	Result  string   `json:"result"` // the message with the line
	Edits   []string `json:"edits"`
	Said    *string  `json:"said"`
	SaidBy  *string  `json:"said_by"`
	Passed  *Ran     `json:"passed"` // null if nothing of the kind was done since
}

// MendingOf returns the document of a mending.
func MendingOf(m *find.Mending) Mending {
	d := Mending{Failure: RanOf(&m.Failed), Line: m.Line, Result: m.Result.String(),
		Edits: append([]string{}, m.Edits...), Said: OrNull(m.Said), SaidBy: IDText(m.SaidBy)}
	if m.Passed != nil {
		passed := RanOf(m.Passed)
		d.Passed = &passed
	}
	return d
}
