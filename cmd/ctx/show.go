package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

func newShowCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show REV...",
		Short: "Show objects in full",
		Long: long(`Shows an object: its id, the lines of its header, and in words what its body says. An entry is shown as it is, also where a newer
version of it is there; a line then says so. Of what was forgotten the header is shown, and that it is gone.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example:           "  ctx show @\n  ctx show --json 3f9a6c01",
		Args:              between(1, -1),
		ValidArgsFunction: a.completeRevs(),
		RunE: func(_ *cobra.Command, args []string) error {
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			for _, rev := range args {
				id, err := resolve(s, view, rev)
				if err == nil {
					err = show(a, s, view, id)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func show(a *app, s *session.Store, v *refs.View, id format.ID) error {
	c, err := readContent(s, id)
	var gone *objects.GoneError
	switch {
	case err != nil && !errors.As(err, &gone):
		return err
	case c.kind == "entry":
		return showEntry(a, s, v, c)
	case a.json:
		return showJSON(a, c)
	}
	text, err := c.words()
	note := ""
	if gone != nil {
		note = goneNote(gone.Reason)
	}
	printContent(a, c, note, text)
	return err
}

// goneNote says of a body why it is not there.
func goneNote(reason string) string { return "gone: " + reason }

// showEntry shows the version that was named.
func showEntry(a *app, s *session.Store, v *refs.View, c content) error {
	shown, err := s.Entry(c.id)
	if err != nil {
		return err
	}
	newest := c.id
	err = s.Expand(v, c.id, session.ExpandOptions{}, func(other *session.Shown) error {
		newest = other.Version
		return nil
	})
	if err != nil {
		return err
	}
	if a.json {
		shown.Version = newest
		return a.printJSON(docOf(shown))
	}
	note := ""
	if shown.Gone != "" {
		note = goneNote(shown.Gone)
	}
	if newest != c.id {
		note = "amended by " + newest.String()
	}
	printContent(a, c, note, shown.Text)
	return nil
}

func printContent(a *app, c content, note, text string) {
	a.printf("%v\n%s", c.id, c.header)
	if note != "" {
		a.printf("%s\n", note)
	}
	if len(c.bytes) > len(c.header) {
		a.printf("\n%s\n", text)
	}
}

// words is what a body says to a person: of a ranked extract its sentences in reading order.
func (c *content) words() (string, error) {
	if c.kind != "summary" || c.gone {
		return string(c.body), nil
	}
	sum, err := format.DecodeSummary(c.header)
	if err != nil || sum.Body.Media != format.MediaExtract {
		return string(c.body), err
	}
	list, err := summarize.Decode(c.body)
	text := ""
	for i, sentence := range summarize.Order(list) {
		if i > 0 {
			text += "\n"
		}
		text += sentence.Text
	}
	return text, err
}

type summaryDoc struct {
	V    int    `json:"v"`
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Node string `json:"node"`
	summaryHeadDoc
	Inputs []inputDoc `json:"inputs"`
	Text   *string    `json:"text"`
	Gone   bool       `json:"gone"`
}

type tombstoneDoc struct {
	V       int     `json:"v"`
	ID      string  `json:"id"`
	Kind    string  `json:"kind"`
	Node    string  `json:"node"`
	Members uint64  `json:"members"`
	Summary string  `json:"summary"`
	Text    *string `json:"text"`
	Gone    bool    `json:"gone"`
}

func showJSON(a *app, c content) error {
	text, err := c.words()
	if err != nil {
		return err
	}
	said := &text
	if c.gone {
		said = nil
	}
	switch c.kind {
	case "summary":
		sum, err := format.DecodeSummary(c.header)
		if err != nil {
			return err
		}
		d := summaryDoc{V: 1, ID: c.id.String(), Kind: c.kind, Node: sum.Node.String(), Inputs: []inputDoc{}, Text: said, Gone: c.gone}
		d.summaryHeadDoc = summaryHeadOf(sum)
		for _, in := range sum.Inputs {
			d.Inputs = append(d.Inputs, inputDoc{Kind: inputKind(in.Summary), ID: in.ID.String()})
		}
		return a.printJSON(d)
	case "tombstone":
		stone, err := format.DecodeTombstone(c.header)
		if err != nil {
			return err
		}
		return a.printJSON(tombstoneDoc{
			V: 1, ID: c.id.String(), Kind: c.kind, Node: stone.Node.String(), Members: stone.Count, Summary: stone.Summary.String(), Text: said, Gone: c.gone,
		})
	}
	return a.printJSON(c.doc())
}
