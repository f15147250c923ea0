package session

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/view"
)

// shrinks reports whether a branch renders fewer tokens at one value than at another, as text and without a budget. Where it cannot be rendered as it
// is, because of words that are gone, any change is better.
func (t *tx) shrinks(b BranchName, from, to format.Value) (bool, error) {
	if err := t.flush(); err != nil { // what is to be rendered is in it
		return false, err
	}
	before, err := t.rendered(t.view, b, from)
	if err != nil {
		return true, nil
	}
	after, err := t.rendered(t.view, b, to)
	return after < before, err
}

func (s *Store) rendered(now *refs.View, b BranchName, v format.Value) (tokens int, err error) {
	in, err := s.renderInputOf(now, v, b.Session, b.Branch, view.Options{})
	if err != nil {
		return 0, err
	}
	out, err := view.Render(in, view.Options{})
	return out.Tokens, err
}
