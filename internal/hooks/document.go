package hooks

import (
	"bytes"
	"context"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/importer"
)

// askWhole is the answer to a plugin whose document begins after a message that the store lacks.
// The plugin then hands over the whole session.
const askWhole = `{"whole":true}`

// take records the document of the event. A document that begins after a message is recorded if the
// session has that message: all before it was handed over then, and has not changed since.
func (h *hook) take(ctx context.Context) (copied, error) {
	row, _ := catalog.Named(h.agent.Name)
	in := bytes.NewReader(h.event.Document)
	if h.event.After == "" {
		done, changed, err := importWhole(ctx, h.s, &row, "", in, &transcript.Mark{})
		if err == nil {
			err = graduate(ctx, h.s, changed)
		}
		return done, err
	}
	there, err := h.s.Importer.HasMessage(h.event.Session, row.Source, h.event.After)
	if err != nil || !there {
		h.lacks = true
		return copied{}, err
	}
	out, err := h.s.Importer.ImportLive(
		ctx, "", func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return row.Read("", in, emit)
		})
	if err == nil {
		err = h.s.Importer.AddDrift(importer.DriftOf(row.Name, "", &out))
	}
	return report(out, false), err
}
