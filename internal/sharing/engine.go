package sharing

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/objects"
)

// indexBatch is how many messages an engine is told of at once.
const indexBatch = 500

// index tells an engine that can search of the messages that are about to be pushed, and of those
// that were forgotten. It comes before the head, so that what is on the remote is found there. Any
// other remote is told nothing.
func (x *Sharer) index(ctx context.Context, chosen []chosenObject, forgot []format.ID) error {
	engine, ok := x.r.(remote.Searcher)
	if !ok {
		return nil
	}
	var batch []remote.Message
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := engine.Index(ctx, batch)
		batch = batch[:0]
		return err
	}
	for _, c := range chosen {
		if c.session == "" {
			continue
		}
		m, ok, err := x.message(c)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if batch = append(batch, m); len(batch) == indexBatch {
			if err := send(); err != nil {
				return err
			}
		}
	}
	if err := send(); err != nil || len(forgot) == 0 {
		return err
	}
	return engine.Forget(ctx, x.s.Shared, lists.Map(forgot, func(id format.ID) string {
		return id.String()
	}))
}

// message returns what an engine is told of an object; ok is false for what is no message with
// words.
func (x *Sharer) message(c chosenObject) (m remote.Message, ok bool, err error) {
	header, err := x.s.Objects.Header(c.id)
	if err != nil || !isMessage(header) {
		return m, false, err
	}
	shown, err := x.s.History.Entry(c.id)
	if objects.IsGone(err) {
		return m, false, nil
	}
	if err != nil || shown.Gone != "" || strings.TrimSpace(shown.Text) == "" {
		return m, false, err
	}
	return remote.Message{
		ID: c.id.String(), Store: x.s.Shared, Session: c.session, At: shown.Entry.Time,
		Role: shown.Entry.Role, Text: cut(shown.Text, remote.MaxText),
	}, true, nil
}

// cut returns the beginning of a text, in whole characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// ErrNoSearch says that a remote has no engine that can search.
var ErrNoSearch = errors.New("the remote cannot search")

// Hit is a message that an engine has found.
type Hit struct {
	remote.Hit
	Name string // the session as this store calls it, or would if it pulled
}

// Search asks the engine of a remote, over what all stores share there. Errors: ErrNoSearch, those
// of the remote.
func (x *Sharer) Search(ctx context.Context, query string, n int) ([]Hit, error) {
	engine, ok := x.r.(remote.Searcher)
	if !ok {
		return nil, ErrNoSearch
	}
	view, err := x.s.Refs.Read()
	if err != nil {
		return nil, err
	}
	stores, err := x.stores(view)
	if err != nil {
		return nil, err
	}
	found, err := engine.Search(ctx, cut(query, remote.MaxQuery), n)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(found))
	for i, h := range found {
		name := h.Session
		switch of, there := stores[h.Store]; {
		case h.Store == x.s.Shared:
		case there:
			name += "@" + of.label
		default:
			name += "@" + h.Store[:min(len(h.Store), 8)]
		}
		hits[i] = Hit{h, name}
	}
	return hits, nil
}
