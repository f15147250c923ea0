// Package unionfind reads and writes a forest as one JSON file: nodes with integer parents,
// clusters, and the lineage of their summaries. docs/format/union-find-json.md is its page.
package unionfind

import (
	"encoding/json"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// The limits of a file. A reader refuses what is larger.
const (
	MaxBytes = 1 << 30  // of the file
	MaxNodes = 1 << 20  // so that one operation can hold what is decided about them
	MaxSums  = 8192     // summaries of one cluster
	MaxText  = 16 << 20 // bytes of one message or summary: as much as a message of a store
	MaxLine  = 4096     // bytes of a tombstone's line
)

// Document is a forest as a file holds it. Nodes are named by their index in Nodes, clusters and
// summaries likewise.
type Document struct {
	Store     string    // the id of the store it is of: 32 hexadecimal digits
	Forest    string    // the forest's name
	Operation uint64    // the last one that it holds; 0 for a store without any
	Time      time.Time // of that operation; zero where there is none
	Nodes     []Node    // in the order in which they were said, as far as that can be told
	Clusters  []Cluster // by Number
	Lineage   []Summary // what a summary was made of stands before it
}

// Node is a message that is a member of a cluster.
type Node struct {
	Stable     format.ID // its entry
	Parent     int       // leads to the root of its cluster; a root is its own parent
	Session    string    // where it was first said
	Seq        uint64
	Role       string
	Author     string
	Time       time.Time
	Invocation string
	Tokens     uint64
	Calls      []format.Call
	Results    []string
	Source     *Source
	Text       string
	Parts      json.RawMessage // instead of Text: a JSON array of message parts
	Gone       string          // instead of both: why there is no text any more
}

// Source says where a message was imported from.
type Source struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Message string `json:"message"`
}

// Cluster is a run of members with what stands for it.
type Cluster struct {
	Root      int // the node that the parents of its members lead to
	Stable    format.ID
	Number    uint64
	Members   []int // in order of arrival
	Arrival   uint64
	Covers    []int // of Lineage, by the members they stand for
	Tombstone *Tombstone
}

// Summary is a text that stands for members of one cluster that follow each other.
type Summary struct {
	Stable     format.ID
	Cluster    int // of Clusters
	Members    []int
	Parents    []int // of Lineage: the summaries it was made of
	Generation uint64
	Interim    bool
	Summarizer string
	Version    string
	Prompt     format.ID // of the prompt's text; zero where there is none
	Made       Moment
	Text       string
	Gone       string // instead of Text: why there is none any more
}

// Tombstone is what an evicted cluster left in the context.
type Tombstone struct {
	Stable   format.ID
	Line     string
	Eviction uint64
	Made     Moment
}

// Moment is an operation and its time; the zero Moment is one that the log does not reach back to.
type Moment struct {
	Operation uint64
	Time      time.Time
}

// Dirty reports whether a cluster has members that no summary stands for, or only an interim one.
func (d *Document) Dirty(c *Cluster) bool {
	return len(c.Covers) != 1 || d.Lineage[c.Covers[0]].Interim ||
		len(d.Lineage[c.Covers[0]].Members) != len(c.Members)
}

// SummaryOf is what the summaries of a cluster say, one after the other; ok is false where there is
// none with a text.
func (d *Document) SummaryOf(c *Cluster) (text string, ok bool) {
	for _, at := range c.Covers {
		s := &d.Lineage[at]
		if s.Gone != "" {
			continue
		}
		if ok {
			text += "\n"
		}
		text, ok = text+s.Text, true
	}
	return text, ok
}
