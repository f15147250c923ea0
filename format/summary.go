package format

import (
	"errors"
	"fmt"
)

// Media types of the bodies that ctx writes itself.
const (
	MediaText    = "text/plain"                       // UTF-8
	MediaParts   = "application/json"                 // a JSON array of message parts
	MediaExtract = "application/vnd.ctx.extract+json" // a ranked list of sentences
)

// Summary is a text that stands for the entries of one node. The text is the body.
// docs/format/summary.md describes the header.
type Summary struct {
	Node       ID
	Generation uint64 // 1 if made of entries alone, else one more than that of its newest input
	// Made at a leave, without a wait for a summarizer; such a cluster is not clean
	Interim    bool
	Summarizer string // the summarizer's name
	Version    string
	Prompt     ID // SHA-256 of the prompt; zero if there is none
	Inputs     []Input
	Body       Body
}

// Input is one input of a summary: another summary, or the entries of a node.
type Input struct {
	Summary bool // ID is that of a summary, else that of a node
	ID      ID
}

const summaryVersion = 1

// Encode returns the summary's header.
func (s *Summary) Encode() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	w := newHeader("summary", summaryVersion)
	w.line("node", w.id(s.Node))
	w.number("generation", s.Generation)
	if s.Interim {
		w.line("interim")
	}
	w.nameList("summarizer", s.Summarizer, s.Version)
	if !s.Prompt.IsZero() {
		w.line("prompt", s.Prompt.String())
	}
	for _, in := range s.Inputs {
		w.line("input", inputKind(in.Summary), w.id(in.ID))
	}
	w.body(s.Body)
	return w.bytes()
}

func inputKind(summary bool) string {
	if summary {
		return "summary"
	}
	return "node"
}

// DecodeSummary reads a summary's header.
func DecodeSummary(b []byte) (*Summary, error) {
	r, err := readHeader(b, "summary", summaryVersion)
	if err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	s := &Summary{}
	s.Node = r.id(r.must("node", 1)[0])
	s.Generation = r.uint(r.must("generation", 1)[0])
	_, s.Interim = r.take("interim", 0)
	by := r.must("summarizer", 2)
	s.Summarizer, s.Version = r.name(by[0]), r.name(by[1])
	s.Prompt = r.optID("prompt")
	for {
		f, ok := r.take("input", 2)
		if !ok {
			break
		}
		if f[0] != "summary" && f[0] != "node" {
			r.fail(fmt.Errorf("input: unknown kind: %.40q", f[0]))
		}
		s.Inputs = append(s.Inputs, Input{Summary: f[0] == "summary", ID: r.id(f[1])})
	}
	s.Body = r.mustNonceBody()
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	return s, nil
}

func (s *Summary) check() error {
	switch {
	case s.Generation == 0:
		return errors.New("generation counts from 1")
	case len(s.Inputs) == 0:
		return errors.New("no input")
	}
	return nil
}

// Links returns the node that the summary is of, then its inputs.
func (s *Summary) Links() []Link {
	list := []Link{{s.Node, NodeKind}}
	for _, in := range s.Inputs {
		want := NodeKind
		if in.Summary {
			want = SummaryKind
		}
		list = append(list, Link{in.ID, want})
	}
	return links(list...)
}

// Over returns the node over the entries that the summary stands for.
func (s *Summary) Over() ID { return s.Node }
