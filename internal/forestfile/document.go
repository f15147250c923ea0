package forestfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// The limits of a file. A reader refuses what is larger.
const (
	MaxBytes = 1 << 30  // of the file
	MaxNodes = 1 << 20  // so that one operation can hold what is decided about them
	MaxSums  = 8192     // summaries of one cluster
	MaxText  = 16 << 20 // bytes of one message or summary: as much as a message of a store
	MaxLine  = 4096     // bytes of a tombstone's line
)

// version is that of the file's form.
const version = 1

// Document is a forest as a file holds it, with the members in the order in which they are written.
type Document struct {
	Head
	Nodes    []Node    // in the order in which they were said, as far as that can be told
	Clusters []Cluster // by Number
	Lineage  []Summary // what a summary was made of stands before it

	byRoot map[int]int       // clusters, by Root; set by check
	byID   map[format.ID]int // summaries, by Stable; set by check
}

// Head is what a file says of the whole.
type Head struct {
	Version   uint64 `json:"version"`   // Encode sets it
	Store     string `json:"store"`     // the id of the store it is of: 32 hexadecimal digits
	Forest    string `json:"forest"`    // the forest's name
	Operation uint64 `json:"operation"` // the last one that it holds; 0 for a store without any
	Time      Time   `json:"time"`      // of that operation; zero where there is none
}

// Node is a message that is a member of a cluster. It has one of Text, Parts and Gone.
type Node struct {
	ID         int             `json:"id"`     // its index in Document.Nodes
	Stable     format.ID       `json:"stable"` // its entry
	Parent     int             `json:"parent"` // leads to the root of its cluster, its own parent
	Session    string          `json:"session"`
	Seq        uint64          `json:"seq"`
	Role       string          `json:"role"`
	Author     string          `json:"author,omitempty"`
	Time       Time            `json:"time"`
	Invocation string          `json:"invocation,omitempty"`
	Tokens     uint64          `json:"tokens,omitempty"`
	Calls      []format.Call   `json:"calls,omitempty"`
	Results    []string        `json:"results,omitempty"`
	Source     *Source         `json:"source,omitempty"`
	Text       *string         `json:"text,omitempty"`
	Parts      json.RawMessage `json:"parts,omitempty"` // a JSON array of message parts
	Gone       string          `json:"gone,omitempty"`  // why there is no text any more
}

// Source says where a message was imported from.
type Source struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Message string `json:"message"`
}

// Cluster is a run of members with what stands for it.
type Cluster struct {
	Root    int       `json:"root"` // the node that the parents of its members lead to
	Stable  format.ID `json:"stable"`
	Number  uint64    `json:"number"`
	Members []int     `json:"members"` // in order of arrival
	Arrival uint64    `json:"arrival"`
	// First, Last, Dirty and Summary follow from the rest: Encode sets them.
	First     Time        `json:"first"`
	Last      Time        `json:"last"`
	Dirty     bool        `json:"dirty"`
	Covers    []format.ID `json:"covers"` // of Lineage, by the members they stand for; not nil
	Summary   *string     `json:"summary"`
	Tombstone *Tombstone  `json:"tombstone"`
}

// Tombstone is what an evicted cluster left in the context.
type Tombstone struct {
	Stable   format.ID `json:"stable"`
	Line     string    `json:"line"`
	Eviction uint64    `json:"eviction"`
	Moment
}

// Summary is a text that stands for members of one cluster that follow each other. It has one of
// Text and Gone.
type Summary struct {
	Stable     format.ID   `json:"stable"`
	Root       int         `json:"root"` // of its cluster
	Members    []int       `json:"members"`
	Parents    []format.ID `json:"parents"` // of Lineage: the summaries it was made of; not nil
	Generation uint64      `json:"generation"`
	Interim    bool        `json:"interim"`
	Summarizer string      `json:"summarizer"`
	Version    string      `json:"version"`
	Prompt     format.ID   `json:"prompt"` // of the prompt's text; zero where there is none
	Moment
	Text *string `json:"text,omitempty"`
	Gone string  `json:"gone,omitempty"` // why there is no text any more
}

// Moment is an operation and its time; the zero Moment is one that the log does not reach back to.
type Moment struct {
	Operation Number `json:"operation"`
	Time      Time   `json:"time"`
}

// Number is that of an operation: null in a file where it is 0.
type Number uint64

// MarshalJSON writes the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendUint(nil, uint64(n), 10), nil
}

// Time is a time as a header has it: null in a file where it is zero.
type Time struct{ time.Time }

// MarshalJSON writes the time, or null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return jsonvalue.Encode(format.FormatTime(t.Time)), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(b []byte) (err error) {
	if s, ok := jsonvalue.Text(b); ok {
		if t.Time, err = format.ParseTime(s); err == nil {
			return nil
		}
	} else if string(b) == "null" {
		return nil
	}
	return fmt.Errorf("not a time: %.40s", b)
}

// ClusterOf returns the index of the cluster of a summary, in a document that was read.
func (d *Document) ClusterOf(s *Summary) int { return d.byRoot[s.Root] }

// SummaryAt returns the index of a summary of the lineage, in a document that was read.
func (d *Document) SummaryAt(id format.ID) int { return d.byID[id] }

// derive sets the members of a cluster that follow from the rest.
func (d *Document) derive(c *Cluster) {
	c.First, c.Last = d.Nodes[c.Members[0]].Time, d.Nodes[c.Members[len(c.Members)-1]].Time
	c.Dirty, c.Summary = d.dirty(c), nil
	for _, id := range c.Covers {
		switch s := &d.Lineage[d.byID[id]]; {
		case s.Gone != "":
		case c.Summary == nil:
			c.Summary = s.Text
		default:
			both := *c.Summary + "\n" + *s.Text
			c.Summary = &both
		}
	}
}

// dirty reports whether a cluster has members that no summary stands for, or only an interim one.
func (d *Document) dirty(c *Cluster) bool {
	if len(c.Covers) != 1 {
		return true
	}
	s := &d.Lineage[d.byID[c.Covers[0]]]
	return s.Interim || len(s.Members) != len(c.Members)
}

// Said returns the text of a node; "" where it has none.
func (n *Node) Said() string { return valueOf(n.Text) }

// Said returns the text of a summary; "" where it has none.
func (s *Summary) Said() string { return valueOf(s.Text) }

func valueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
