package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Media types of the bodies of mask and replace entries.
const (
	MediaMask    = "application/vnd.ctx.mask+json"
	MediaReplace = "application/vnd.ctx.replace+json"
)

// Mask is the body of a mask entry: it lists the parts of earlier messages that are shown
// shortened. docs/format/mask.md describes its encoding.
type Mask struct {
	Parts []MaskedPart // at least one; no part twice
}

// MaskedPart names a part of a message and holds the text that is shown in its place.
type MaskedPart struct {
	Entry ID     `json:"entry"` // the first version of the message
	Part  int    `json:"part"`  // index of the part; 0 for a message of plain text
	Call  string `json:"call"`  // the call that the part answers; "" if that is not known
	Tool  string `json:"tool"`  // the tool that printed the part; "" if that is not known
	Text  string `json:"text"`  // UTF-8, not empty
}

const maskVersion = 1

type maskJSON struct {
	V     int          `json:"v"`
	Parts []MaskedPart `json:"parts"`
}

// Encode returns the text of the body. It refuses every mask that DecodeMask would refuse.
func (m *Mask) Encode() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	return bodyJSON(maskJSON{maskVersion, m.Parts})
}

// DecodeMask reads the text of a mask's body. Encoding the result again gives the same bytes.
func DecodeMask(b []byte) (*Mask, error) {
	var in maskJSON
	if err := readBodyJSON("mask", maskVersion, b, &in); err != nil {
		return nil, err
	}
	m := &Mask{in.Parts}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	return m, sameBody("mask", m.Encode, b)
}

func (m *Mask) check() error {
	type key struct {
		id   ID
		part int
	}
	seen := map[key]bool{}
	for _, p := range m.Parts {
		switch k := (key{p.Entry, p.Part}); {
		case p.Entry.IsZero() || p.Part < 0:
			return errors.New("a part of nothing")
		case seen[k]:
			return fmt.Errorf("part %d of %v twice", p.Part, p.Entry)
		case p.Text == "" || !utf8.ValidString(p.Text) || !utf8.ValidString(p.Call) ||
			!utf8.ValidString(p.Tool):
			return fmt.Errorf("part %d of %v: no text, or not UTF-8", p.Part, p.Entry)
		default:
			seen[k] = true
		}
	}
	if len(m.Parts) == 0 {
		return errors.New("no parts")
	}
	return nil
}

// bodyJSON returns the one accepted encoding of a JSON body: one line with a newline at its end,
// keys in the order of the struct, no white space, and no escapes except those that JSON requires
// and those of U+2028 and U+2029.
func bodyJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// readBodyJSON reads a body of the given version into v. Another version gives a *VersionError.
func readBodyJSON(what string, version int, b []byte, v any) error {
	var of struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(b, &of); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if of.V != version {
		return &VersionError{What: what, Got: of.V, Known: version}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// sameBody returns an error unless encode returns exactly b.
func sameBody(what string, encode func() ([]byte, error), b []byte) error {
	again, err := encode()
	if err == nil && !bytes.Equal(again, b) {
		err = fmt.Errorf("%s: not in its one encoding", what)
	}
	return err
}
