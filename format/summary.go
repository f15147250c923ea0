package format

import "errors"

// Media types of the bodies that ctx writes itself.
const (
	MediaText    = "text/plain" // UTF-8
	MediaJSON    = "application/json"
	MediaParts   = MediaJSON                          // a JSON array of message parts
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
	return encode("summary", summaryVersion, s)
}

// DecodeSummary reads a summary's header.
func DecodeSummary(b []byte) (*Summary, error) {
	return decode(b, "summary", summaryVersion, &Summary{})
}

func (s *Summary) lines(c *Lines) {
	c.Must("node").ID(&s.Node)
	c.Must("generation").Number(&s.Generation)
	if c.Opt("interim", s.Interim); c.Reads() {
		s.Interim = c.Has()
	}
	c.Must("summarizer").Name(&s.Summarizer).Name(&s.Version)
	c.Opt("prompt", !s.Prompt.IsZero()).ID(&s.Prompt)
	Each(c, "input", &s.Inputs, func(c *Lines, in *Input) *Lines {
		return c.Either(&in.Summary, "summary", "node").ID(&in.ID)
	})
	c.body(&s.Body, true)
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
