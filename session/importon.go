package session

import (
	"context"
	"io"

	"github.com/gemini-ctx/ctx/agent/geminicli"
	"github.com/gemini-ctx/ctx/agent/transcript"
)

// ImportGeminiMarked is ImportGemini into the session of the transcript's own id, and the mark to go on from.
func (s *Store) ImportGeminiMarked(ctx context.Context, r io.Reader) (Imported, geminicli.Mark, error) {
	im := &importer{Store: s, ctx: ctx, emitted: map[string]int{}}
	stats, mark, err := geminicli.ReadMarked(r, im.step)
	done, err := im.end(stats, err)
	return done, mark, err
}

// ImportGeminiOn brings in what a transcript has from the mark m on, which is where r begins, as one operation with what graduates by it. m is the end of it then.
// geminicli.ErrWhole, and nothing is changed, where that leads back before m.
func (s *Store) ImportGeminiOn(ctx context.Context, r io.Reader, m *geminicli.Mark) (Imported, error) {
	im := &importer{Store: s, ctx: ctx, emitted: map[string]int{}, graduates: true}
	next := *m
	stats, err := geminicli.ReadOn(r, &next, im.step)
	done, err := im.end(stats, err)
	if err == nil {
		*m = next
	}
	return done, err
}

// end records what is left of a transcript, and reports.
func (im *importer) end(stats geminicli.Stats, err error) (Imported, error) {
	if err == nil {
		err = im.flush()
	}
	im.out.Stats, im.out.Skipped, im.out.Unknown = stats, stats.Skipped, stats.Unknown
	if im.out.Session == "" {
		im.out.Session = stats.Session
	}
	for _, sp := range stats.Spawned {
		im.out.Children = append(im.out.Children, Child{Session: sp.Thread, Parent: Parent{Session: im.out.Session, Call: transcript.Fit(sp.Call)}})
	}
	return im.out, err
}
