package eval

import (
	"context"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// Recovery says whether what is rendered leads back to the exact words. Both shares have to be 1.
type Recovery struct {
	IDs       int   `json:"ids"`       // that renderings printed: of clusters, tombstones and messages
	Exact     int   `json:"exact"`     // those that expand to nothing but what was appended, byte for byte
	Messages  int   `json:"messages"`  // of the conversations
	Reachable int   `json:"reachable"` // those that an id leads to which is printed, or which `ctx forest` lists where the rendering says so
	Share     Milli `json:"share"`     // of both, the smaller
}

// recovery is the gauge of it, over renderings without a budget and at a quarter and a tenth of the
// size.
type recovery struct{ sum Recovery }

func (r *recovery) report(s *SetReport) {
	sum := r.sum
	if sum.Messages == 0 {
		return
	}
	sum.Share = milli(min(share(sum.Exact, sum.IDs), share(sum.Reachable, sum.Messages)))
	s.Recovery = &sum
}

func (r *recovery) add(ctx context.Context, b *bench) error {
	e, err := b.expander(ctx)
	if err != nil {
		return err
	}
	for _, budget := range []int{0, b.budget(4), b.budget(10)} {
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

// reach counts the messages that a rendering leads to.
func (r *recovery) reach(b *bench, e *expander, reached map[format.ID]bool) error {
	text, err := b.text(0)
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
	for _, id := range b.ids {
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

// ours finds the ids in lines that are the rendering's own: those of the block that begin with <.
var ours = lazily(`(?m)^<[a-z]+ ([0-9a-f]{4,64})\b`)

// printedIDs returns the ids in a rendering: as the text prints them in its block, and of the
// messages and sentences as JSON does.
func (b *bench) printedIDs(budget int) ([]string, error) {
	text, err := b.render(view.Options{Budget: budget})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, found := range ours().FindAllSubmatch(text.Bytes[:text.Prefix], -1) {
		ids = append(ids, string(found[1]))
	}
	doc, err := b.render(view.Options{Budget: budget, Format: view.JSON})
	if err != nil {
		return nil, err
	}
	for _, found := range documentID().FindAllSubmatch(doc.Bytes, -1) {
		ids = append(ids, string(found[1]))
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// documentID finds ids in a JSON rendering. In what was said, quotes are escaped: this is found in
// its own keys only.
var documentID = lazily(`"(?:id|entry)":"([0-9a-f]{64})"`)

// expander expands ids and compares what comes with what was appended.
type expander struct {
	*bench
	ctx  context.Context
	view *refs.View
	text map[format.ID]string
}

func (b *bench) expander(ctx context.Context) (*expander, error) {
	view, err := b.view()
	e := &expander{bench: b, ctx: ctx, view: view, text: map[format.ID]string{}}
	for i, id := range b.ids {
		e.text[id] = b.texts[i]
	}
	return e, err
}

// exact reports whether an id expands, to messages of the conversation and to every byte of them.
// It adds those to reached.
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
