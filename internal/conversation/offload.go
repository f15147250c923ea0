package conversation

import (
	"context"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/edits/mask"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// offloadAgent is the agent in the source of an offloaded output.
const offloadAgent = "offload"

// Output is a tool output.
type Output struct {
	Tool, Call string // "" where that is not known
	Text       string
}

// Offloaded is the result of Offload.
type Offloaded struct {
	Entry format.ID // the note that has all of it; zero where it is short enough as it is
	Known bool      // the note was there already
	Chars int       // how long it is, in UTF-16 units
	Text  string    // what a message is to have of it
}

// Offload keeps a tool output that is too long for a message as a note on a branch, and returns
// what the message gets of it. A short output is returned as it is, and nothing is written. The
// same output of the same call is kept once. found lists what sanitizing took out of the text.
func (s *Writer) Offload(
	ctx context.Context, session, branch string, out Output,
) (Offloaded, []sanitize.Finding, error) {
	rule := mask.Offload{Threshold: s.Config.Offload.ThresholdChars,
		Head: s.Config.Offload.HeadPercent}
	done := Offloaded{Chars: mask.Units(out.Text), Text: out.Text}
	if !rule.TooLong(out.Text) {
		return done, nil, nil
	}
	clean, found, err := sanitize.Text([]byte(out.Text))
	if err != nil {
		return done, nil,
			fmt.Errorf("%w: cannot sanitize the output, so it is not stored: %w",
				history.ErrInput, err)
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
	list, _, err := s.Append(ctx, session, branch, []Message{m},
		AppendOptions{Verb: refs.VerbOffload})
	if err != nil {
		return done, nil, err
	}
	done.Entry, done.Known = list[0].ID, list[0].Known
	done.Text = rule.Short(text, done.Entry)
	return done, found, nil
}
