package eval

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// recovery adds up Recovery, over renderings without a budget, at a quarter and at a tenth
// of the size.
type recovery struct{ sum Recovery }

func (r *recovery) report(s *measured) {
	sum := r.sum
	if sum.Messages == 0 {
		return
	}
	sum.Share = stats.MilliOf(min(stats.Share(sum.Exact, sum.IDs),
		stats.Share(sum.Reachable, sum.Messages)))
	s.Recovery = &sum
}

func (r *recovery) add(ctx context.Context, b *evalCase) error {
	e, err := b.expander(ctx)
	if err != nil {
		return err
	}
	for _, budget := range []int{0, b.Budget(4), b.Budget(10)} {
		ids, err := b.printedIDs(budget)
		if err != nil {
			return err
		}
		reached := map[format.ID]bool{}
		for _, id := range ids {
			r.sum.IDs++
			if e.exact(id, reached) {
				r.sum.Exact++
			}
		}
		if budget == 0 {
			if err := r.reach(b, e, reached); err != nil {
				return err
			}
		}
	}
	return nil
}

// reach adds the messages that the ids of a rendering without a budget lead to.
func (r *recovery) reach(b *evalCase, e *expander, reached map[format.ID]bool) error {
	text, err := b.Text(0)
	if err != nil {
		return err
	}
	if strings.Contains(text, "not listed: see `ctx forest`") {
		list, err := b.Recall.Clusters(e.view)
		if err != nil {
			return err
		}
		for _, c := range list {
			e.exact(c.ID.String(), reached)
		}
	}
	for _, id := range b.IDs {
		if id.IsZero() {
			continue
		}
		r.sum.Messages++
		if reached[id] {
			r.sum.Reachable++
		}
	}
	return nil
}

// ours finds the ids in the lines of a rendering that ctx writes itself: they begin with <.
var ours = regexp.MustCompile(`(?m)^<[a-z]+ ([0-9a-f]{4,64})\b`)

// printedIDs returns the ids in a rendering: those in the prefix of its text, and those of messages
// and sentences in its JSON form.
func (b *evalCase) printedIDs(budget int) ([]string, error) {
	text, err := b.Render(Talk, "", view.Options{Budget: budget})
	if err != nil {
		return nil, err
	}
	ids := lists.Map(ours.FindAllSubmatch(text.Bytes[:text.Prefix], -1),
		func(found [][]byte) string { return string(found[1]) })
	doc, err := b.Render(Talk, "", view.Options{Budget: budget, Format: view.JSON})
	if err != nil {
		return nil, err
	}
	for _, found := range documentID.FindAllSubmatch(doc.Bytes, -1) {
		ids = append(ids, string(found[1]))
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// documentID finds ids in a rendering as JSON. It does not match inside messages, in which quotes
// are escaped.
var documentID = regexp.MustCompile(`"(?:id|entry)":"([0-9a-f]{64})"`)

// expander expands ids, and compares the result with the messages that were appended.
type expander struct {
	*evalCase
	ctx  context.Context
	view *refs.View
	text map[format.ID]string
}

func (b *evalCase) expander(ctx context.Context) (*expander, error) {
	view, err := b.Refs.Read()
	e := &expander{evalCase: b, ctx: ctx, view: view, text: map[format.ID]string{}}
	for i, id := range b.IDs {
		e.text[id] = b.Texts[i]
	}
	return e, err
}

// exact reports whether an id expands to messages of the conversation, byte for byte. It adds these
// messages to reached.
func (e *expander) exact(id string, reached map[format.ID]bool) bool {
	full, err := e.Clusters.Resolve(e.view, id)
	if err != nil {
		return false
	}
	n, good := 0, true
	err = e.Recall.Expand(e.view, full, recall.ExpandOptions{}, func(s *history.Shown) error {
		n++
		text, known := e.text[s.ID]
		if known && text == s.Text {
			reached[s.ID] = true
		} else {
			good = false
		}
		return e.ctx.Err()
	})
	return err == nil && good && n > 0
}
