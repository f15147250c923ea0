package summaries

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Stored reads a summary and its body without the nonce.
func Stored(s *history.Reader, id format.ID) (*format.Summary, []byte, error) {
	header, body, err := s.Text(id)
	if err != nil {
		return nil, nil, err
	}
	sum, err := decode(id, header)
	return sum, body, err
}

// headerOf reads a summary without its body.
func headerOf(s *history.Reader, id format.ID) (*format.Summary, error) {
	header, err := s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	return decode(id, header)
}

func decode(id format.ID, header []byte) (*format.Summary, error) {
	sum, err := format.DecodeSummary(header)
	if err != nil {
		return nil, fmt.Errorf("object %v: %w", id, err)
	}
	return sum, nil
}

// ReadText returns the text of a summary and its generation. The text is "" for an extract and
// for a forgotten text.
func (s *Reader) ReadText(id format.ID) (text string, generation uint64, err error) {
	sum, body, err := Stored(s.Reader, id)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		sum, err = headerOf(s.Reader, id)
	}
	if err != nil {
		return "", 0, err
	}
	if sum.Body.Media != format.MediaText {
		body = nil
	}
	return string(body), sum.Generation, nil
}

// ReadClaim returns the inputs of a claim in order: texts, and what tool calls did. It leaves out
// inputs without text and the middle of a message with more than limit tokens. A limit of 0 is
// none.
func (s *Reader) ReadClaim(view *refs.View, c *Claim, limit int) ([]summarize.Input, error) {
	said, err := s.readMembers(view, c)
	if err != nil {
		return nil, err
	}
	var list []summarize.Input
	at := c.Offset
	entries := func(end uint64) {
		for ; at < end; at++ {
			if p := pieceOf(said[c.Members[at-c.Offset]], limit); strings.TrimSpace(p.Text) != "" {
				list = append(list, p)
			}
		}
	}
	for _, v := range c.Covers {
		entries(v.Offset)
		text, _, err := s.ReadText(v.Summary)
		if err != nil {
			return nil, err
		}
		list = append(list, summarize.Input{Summary: true, ID: v.Summary, Text: text})
		at = v.Offset + v.Count
	}
	entries(c.End())
	return list, nil
}

// readMembers reads the members of a claim that are not under its covers.
func (s *Reader) readMembers(view *refs.View, c *Claim) (map[format.ID]memberText, error) {
	list, err := memberTexts(func(id format.ID) (*history.Shown, error) {
		return s.Latest(view, id)
	}, c.direct())
	if err != nil {
		return nil, err
	}
	said := make(map[format.ID]memberText, len(list))
	for _, m := range list {
		said[m.ID] = m
	}
	return said, nil
}

func pieceOf(m memberText, limit int) summarize.Input {
	e, text := m.Entry, m.Text
	if limit > 0 {
		text = WithoutMiddle(text, limit)
	}
	return summarize.Input{ID: m.ID, Role: e.Role, Author: e.Author,
		Time: e.Time.UTC().Truncate(time.Millisecond), Text: text}
}

// leftOut replaces the middle of a message.
const leftOut = "\n[…]\n"

// WithoutMiddle cuts a text to so many tokens: an answer often comes last, so that both ends stay.
func WithoutMiddle(text string, tokens int) string {
	if summarize.Tokens(text) <= tokens {
		return text
	}
	runes := []rune(text)
	low, high := 0, len(runes)/2 // of each end
	cut := func(n int) string { return string(runes[:n]) + leftOut + string(runes[len(runes)-n:]) }
	for low < high {
		n := (low + high + 1) / 2
		if summarize.Tokens(cut(n)) <= tokens {
			low = n
		} else {
			high = n - 1
		}
	}
	return cut(low)
}

// InputTokens is how many tokens some inputs have.
func InputTokens(list []summarize.Input) int {
	n := 0
	for _, p := range list {
		n += summarize.Tokens(p.Text)
	}
	return n
}
