package unionfind

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// version is that of the file's form.
const version = 1

// The parts of a file, with their keys in the order in which they are written.
type (
	headDoc struct {
		Version   uint64  `json:"version"`
		Store     string  `json:"store"`
		Forest    string  `json:"forest"`
		Operation uint64  `json:"operation"`
		Time      *string `json:"time"`
	}
	nodeDoc struct {
		ID         int             `json:"id"`
		Stable     string          `json:"stable"`
		Parent     int             `json:"parent"`
		Session    string          `json:"session"`
		Seq        uint64          `json:"seq"`
		Role       string          `json:"role"`
		Author     string          `json:"author,omitempty"`
		Time       string          `json:"time"`
		Invocation string          `json:"invocation,omitempty"`
		Tokens     uint64          `json:"tokens,omitempty"`
		Calls      []format.Call   `json:"calls,omitempty"`
		Results    []string        `json:"results,omitempty"`
		Source     *Source         `json:"source,omitempty"`
		Text       *string         `json:"text,omitempty"`
		Parts      json.RawMessage `json:"parts,omitempty"`
		Gone       string          `json:"gone,omitempty"`
	}
	clusterDoc struct {
		Root      int           `json:"root"`
		Stable    string        `json:"stable"`
		Number    uint64        `json:"number"`
		Members   []int         `json:"members"`
		Arrival   uint64        `json:"arrival"`
		First     string        `json:"first"`
		Last      string        `json:"last"`
		Dirty     bool          `json:"dirty"`
		Covers    []string      `json:"covers"`
		Summary   *string       `json:"summary"`
		Tombstone *tombstoneDoc `json:"tombstone"`
	}
	tombstoneDoc struct {
		Stable    string  `json:"stable"`
		Line      string  `json:"line"`
		Eviction  uint64  `json:"eviction"`
		Operation *uint64 `json:"operation"`
		Time      *string `json:"time"`
	}
	summaryDoc struct {
		Stable     string   `json:"stable"`
		Root       int      `json:"root"`
		Members    []int    `json:"members"`
		Parents    []string `json:"parents"`
		Generation uint64   `json:"generation"`
		Interim    bool     `json:"interim"`
		Summarizer string   `json:"summarizer"`
		Version    string   `json:"version"`
		Prompt     *string  `json:"prompt"`
		Operation  *uint64  `json:"operation"`
		Time       *string  `json:"time"`
		Text       *string  `json:"text,omitempty"`
		Gone       string   `json:"gone,omitempty"`
	}
)

// Encode writes a document: a line for its beginning, one for each node, cluster and summary. Equal
// documents give equal bytes. It refuses what Decode would not read back, but for the length of the
// whole.
func Encode(w io.Writer, d *Document) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("union-find-json: %w", err)
	}
	p := &printer{bufio.NewWriter(w)} // it keeps the first error
	head := jsonvalue.Encode(headDoc{version, d.Store, d.Forest, d.Operation, timeOrNil(d.Time)})
	p.printf("%s,", head[:len(head)-1])
	p.list("nodes", len(d.Nodes), func(i int) any { return d.nodeDoc(i) })
	p.printf(",")
	p.list("clusters", len(d.Clusters), func(i int) any { return d.clusterDoc(&d.Clusters[i]) })
	p.printf(",")
	p.list("lineage", len(d.Lineage), func(i int) any { return d.summaryDoc(&d.Lineage[i]) })
	p.printf("}\n")
	return p.Flush()
}

type printer struct{ *bufio.Writer }

func (p *printer) printf(form string, args ...any) { _, _ = fmt.Fprintf(p, form, args...) }

func (p *printer) list(name string, n int, element func(int) any) {
	p.printf("%q:[", name)
	for i := range n {
		if i > 0 {
			p.printf(",")
		}
		p.printf("\n%s", jsonvalue.Encode(element(i)))
	}
	p.printf("\n]")
}

func (d *Document) nodeDoc(i int) nodeDoc {
	n := &d.Nodes[i]
	doc := nodeDoc{
		ID: i, Stable: n.Stable.String(), Parent: n.Parent, Session: n.Session, Seq: n.Seq,
		Role: n.Role, Author: n.Author,
		Time: format.FormatTime(n.Time), Invocation: n.Invocation, Tokens: n.Tokens, Calls: n.Calls,
		Results: n.Results,
		Source:  n.Source, Parts: n.Parts, Gone: n.Gone,
	}
	if n.Parts == nil && n.Gone == "" {
		doc.Text = &n.Text
	}
	return doc
}

func (d *Document) clusterDoc(c *Cluster) clusterDoc {
	doc := clusterDoc{
		Root: c.Root, Stable: c.Stable.String(), Number: c.Number, Members: c.Members,
		Arrival: c.Arrival, Dirty: d.Dirty(c), Covers: []string{},
		First: format.FormatTime(d.Nodes[c.Members[0]].Time),
		Last:  format.FormatTime(d.Nodes[c.Members[len(c.Members)-1]].Time),
	}
	for _, at := range c.Covers {
		doc.Covers = append(doc.Covers, d.Lineage[at].Stable.String())
	}
	if text, ok := d.SummaryOf(c); ok {
		doc.Summary = &text
	}
	if t := c.Tombstone; t != nil {
		doc.Tombstone = &tombstoneDoc{Stable: t.Stable.String(), Line: t.Line, Eviction: t.Eviction,
			Operation: t.Made.number(), Time: timeOrNil(t.Made.Time)}
	}
	return doc
}

func (d *Document) summaryDoc(s *Summary) summaryDoc {
	doc := summaryDoc{
		Stable: s.Stable.String(), Root: d.Clusters[s.Cluster].Root, Members: s.Members,
		Parents: []string{}, Generation: s.Generation, Interim: s.Interim,
		Summarizer: s.Summarizer, Version: s.Version, Operation: s.Made.number(),
		Time: timeOrNil(s.Made.Time), Gone: s.Gone,
	}
	for _, p := range s.Parents {
		doc.Parents = append(doc.Parents, d.Lineage[p].Stable.String())
	}
	if !s.Prompt.IsZero() {
		prompt := s.Prompt.String()
		doc.Prompt = &prompt
	}
	if s.Gone == "" {
		doc.Text = &s.Text
	}
	return doc
}

// timeOrNil is a time as a file has it; nil for none.
func timeOrNil(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := format.FormatTime(t)
	return &s
}

// number is the operation as a file has it; nil for none.
func (m Moment) number() *uint64 {
	if m.Operation == 0 {
		return nil
	}
	return &m.Operation
}
