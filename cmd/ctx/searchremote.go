package main

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/internal/sharing"
)

// askRemote has the engine of a remote search.
func (o *searchOptions) askRemote(a *app, text string) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	return a.useRemote(s, []string{o.remote}, func(x *sharing.Sharer, name string) error {
		return o.printHits(a, x, name, text)
	})
}

func (o *searchOptions) printHits(a *app, x *sharing.Sharer, name, text string) error {
	hits, err := x.Search(a.c, text, o.limit)
	if errors.Is(err, sharing.ErrNoSearch) {
		return withHint(fmt.Errorf("remote %s: %w", name, err), "`ctx pull`, and search here")
	}
	if err != nil {
		return fmt.Errorf("remote %s: %w", name, err)
	}
	for _, h := range hits {
		if a.json {
			a.document("id", h.ID, "kind", "message", "score", h.Rank, "session", h.Name, "role",
				h.Role, "time", h.At, "text", oneLine(h.Text))
			continue
		}
		a.line("%.3f %s %.12s %s %s\n    %s", h.Rank, oneLine(h.Name), oneLine(h.ID),
			oneLine(h.Role), h.At.UTC().Format("2006-01-02T15:04:05Z"), oneLine(h.Text))
	}
	return a.foundOr(len(hits) > 0, nothingFound)
}
