package format

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Replacement is the body of a replace entry: a text, and the targets that it stands for.
// docs/format/replace.md describes its encoding.
type Replacement struct {
	// Targets has at least one element and no duplicates. It lists no part of an entry that is a
	// target as a whole.
	Targets []Target
	Text    string // UTF-8, not empty
}

// Target is an entry or one part of it. The entry is the first version of a message, or an earlier
// replace entry.
type Target struct {
	Entry ID
	Part  int // index of the part, or WholeEntry
}

// WholeEntry is the Part of a target that is an entry with all its parts.
const WholeEntry = -1

// String returns the target in the form ENTRY or ENTRY.PART.
func (t Target) String() string {
	if t.Part == WholeEntry {
		return t.Entry.String()
	}
	return fmt.Sprintf("%v.%d", t.Entry, t.Part)
}

const replaceVersion = 1

type replaceJSON struct {
	V       int          `json:"v"`
	Targets []targetJSON `json:"targets"`
	Text    string       `json:"text"`
}

type targetJSON struct {
	Entry string `json:"entry"`
	Part  *int   `json:"part,omitempty"`
}

// EditsAny reports whether a body is a mask or a replacement that is about any of some entries.
func EditsAny(body []byte, entries map[ID]bool) bool {
	if m, err := DecodeMask(body); err == nil {
		return slices.ContainsFunc(m.Parts, func(p MaskedPart) bool { return entries[p.Entry] })
	}
	r, err := DecodeReplacement(body)
	return err == nil && slices.ContainsFunc(r.Targets,
		func(t Target) bool { return entries[t.Entry] })
}

// Encode returns the text of the body. It refuses every replacement that DecodeReplacement would
// refuse.
func (r *Replacement) Encode() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("replace: %w", err)
	}
	out := replaceJSON{V: replaceVersion, Text: r.Text}
	for _, t := range r.Targets {
		j := targetJSON{Entry: t.Entry.String()}
		if t.Part != WholeEntry {
			j.Part = &t.Part
		}
		out.Targets = append(out.Targets, j)
	}
	return bodyJSON(out)
}

// DecodeReplacement reads the text of a replacement's body. Encoding the result again gives the
// same bytes.
func DecodeReplacement(b []byte) (*Replacement, error) {
	var in replaceJSON
	if err := readBodyJSON("replace", replaceVersion, b, &in); err != nil {
		return nil, err
	}
	r := &Replacement{Text: in.Text}
	for _, j := range in.Targets {
		id, err := ParseID(j.Entry)
		if err != nil {
			return nil, fmt.Errorf("replace: entry: %w", err)
		}
		t := Target{Entry: id, Part: WholeEntry}
		if j.Part != nil {
			if t.Part = *j.Part; t.Part < 0 {
				return nil, fmt.Errorf("replace: bad part: %d", t.Part)
			}
		}
		r.Targets = append(r.Targets, t)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("replace: %w", err)
	}
	return r, sameBody("replace", r.Encode, b)
}

func (r *Replacement) check() error {
	seen, whole := map[Target]bool{}, map[ID]bool{}
	for _, t := range r.Targets {
		if t.Entry.IsZero() || t.Part < WholeEntry {
			return errors.New("a target without an entry, or with a negative part")
		}
		if seen[t] {
			return fmt.Errorf("%v twice", t)
		}
		seen[t] = true
		whole[t.Entry] = whole[t.Entry] || t.Part == WholeEntry
	}
	for _, t := range r.Targets {
		if t.Part != WholeEntry && whole[t.Entry] {
			return fmt.Errorf("%v, and all of it", t)
		}
	}
	switch {
	case len(r.Targets) == 0:
		return errors.New("no targets")
	case r.Text == "" || !utf8.ValidString(r.Text):
		return errors.New("no text, or not UTF-8")
	}
	return nil
}
