package session

import (
	"context"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/gemini-ctx/ctx/session/mask"
)

// offloadAgent is the agent in the source of an offloaded output.
const offloadAgent = "offload"

// Output is what a tool printed.
type Output struct {
	Tool, Call string // "" where that is not known
	Text       string
}

// Offloaded is what became of an output.
type Offloaded struct {
	Entry format.ID // the note that has all of it; zero where it is short enough as it is
	Known bool      // the note was there already
	Chars int       // how long it is, in UTF-16 units
	Text  string    // what a message is to have of it
}

// Offload keeps an output that is too long for a message as a note on a branch, which no agent's clean-up takes away, and returns what the
// message is to have of it. One that is short enough is returned as it is, and nothing is written. The same output of the same call is
// kept once. What was taken out in sanitising is in found, and not in the text.
func (s *Store) Offload(ctx context.Context, session, branch string, out Output) (Offloaded, []sanitize.Finding, error) {
	rule := mask.Offload{Threshold: s.Config.Offload.ThresholdChars, Head: s.Config.Offload.HeadPercent}
	done := Offloaded{Chars: mask.Units(out.Text), Text: out.Text}
	if !rule.TooLong(out.Text) {
		return done, nil, nil
	}
	clean, found, err := sanitize.Text([]byte(out.Text))
	if err != nil {
		return done, nil, fmt.Errorf("%w: cannot sanitise the output, so it is not stored: %w", ErrInput, err)
	}
	text := string(clean)
	if !rule.TooLong(text) {
		done.Text = text
		return done, found, nil
	}
	m := Message{Note: true, Role: "tool", Author: out.Tool, Text: text, Time: s.Now()}
	if out.Call != "" {
		m.Source = &Source{Agent: offloadAgent, Session: session, Message: out.Call}
	}
	list, _, err := s.Append(ctx, session, branch, []Message{m}, AppendOptions{Verb: refs.VerbOffload})
	if err != nil {
		return done, nil, err
	}
	done.Entry, done.Known = list[0].ID, list[0].Known
	done.Text = rule.Short(text, done.Entry)
	return done, found, nil
}
