package main

import (
	"errors"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/spf13/cobra"
)

func newShowCmd(a *app) *cobra.Command {
	budget := 0
	cmd := a.newCmd("show [SESSION | REV]...",
		a.onView(func(s *session.Store, view *refs.View, args []string) error {
			return a.within(budget, func() error {
				if len(args) == 0 {
					return showNewest(a, s, view)
				}
				for _, rev := range args {
					if err := showRev(a, s, view, rev); err != nil {
						return err
					}
				}
				return nil
			})
		}))
	cmd.Flags().IntVar(&budget, "budget", 0, "print at most `N` tokens, of the beginning and the end")
	return cmd
}

// showNewest shows the newest message of the current session, as the log ends with it: an agent
// writes more behind it, such as a title.
func showNewest(a *app, s *session.Store, view *refs.View) error {
	name, err := sessions.HEAD(view)
	if err != nil {
		return err
	}
	id, err := s.Conversation.RewindTarget(view, name, history.MainBranch, "@")
	if errors.Is(err, history.NoStep) {
		id, err = resolve(s, view, "@")
	}
	if err != nil {
		return err
	}
	return show(a, s, view, id)
}

// showRev shows a session or an object. The name of a session, and the beginning of one, go before
// an id; words of its title come last.
func showRev(a *app, s *session.Store, view *refs.View, rev string) error {
	if name, err := history.Named(view, rev); err == nil && !strings.Contains(rev, "/") {
		return showSession(a, s, view, []string{name})
	}
	id, err := resolve(s, view, rev)
	if clusters.IsMissing(err) {
		name, none := s.Recall.Named(view, rev)
		if none == nil {
			return showSession(a, s, view, []string{name})
		}
		var several *history.AmbiguousNameError
		if errors.As(none, &several) {
			err = none
		}
		if made, known := commitOf(s, view, rev); known {
			id, err = made, nil
		}
	}
	if err != nil {
		return err
	}
	return show(a, s, view, id)
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
	a.line("%v", c.id)
	if aboutErr := a.sayCluster(s, v, c.id); aboutErr != nil {
		return aboutErr
	}
	printContent(a, c, note, text)
	return err
}

// goneNote says why a body is missing.
func goneNote(reason string) string { return "gone: " + reason }

// showEntry shows the named version of an entry.
func showEntry(a *app, s *session.Store, v *refs.View, c content) error {
	shown, err := s.History.Entry(c.id)
	if err != nil {
		return err
	}
	newest := c.id
	err = s.Recall.Expand(v, c.id, recall.ExpandOptions{}, func(other *history.Shown) error {
		newest = other.Version
		return nil
	})
	if err != nil {
		return err
	}
	if a.json {
		shown.Version = newest
		return a.answer(document.EntryOf(shown))
	}
	note := ""
	if shown.Gone != "" {
		note = goneNote(shown.Gone)
	}
	if newest != c.id {
		note = "amended by " + newest.String()
	}
	a.line("%v", c.id)
	t := &find.Telling{Reader: s.Recall.Reader, View: v, Full: true}
	err = a.sayEntry(s, v, shown)
	printContent(a, c, note, t.Text(shown))
	return err
}

func printContent(a *app, c content, note, text string) {
	if len(c.bytes) > len(c.header) {
		a.printf("\n%s\n", indented(text))
	}
	a.printf("%s", c.header)
	if note != "" {
		a.printf("%s\n", note)
	}
}

// words returns the text of a body. For a ranked extract that is its sentences in reading order.
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
		return a.answer("id", c.id, "kind", c.kind, "node", sum.Node, summaryHeadOf(sum), "inputs",
			inputDocs(sum.Inputs), "text", said, "gone", c.gone)
	case "tombstone":
		stone, err := format.DecodeTombstone(c.header)
		if err != nil {
			return err
		}
		return a.answer("id", c.id, "kind", c.kind, "node", stone.Node, "members", stone.Count,
			"summary", stone.Summary, "text", said, "gone", c.gone)
	}
	return a.answer(c.doc())
}
