package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Shown is an entry with its text, as the reading verbs give it.
type Shown struct {
	ID    format.ID
	Entry *format.Entry
	// plain text, or what Words makes of the parts; of an epoch entry the update as it was sent, of a
	// replacement its text
	Text  string
	Parts []byte // a JSON array of message parts; nil for plain text
	Gone  string // why there is no text; "" where there is
	// Version is the newest version's id where the text is that of an amend, else ID.
	Version format.ID
	Masked  []int // parts that are shown shortened; only where that was asked for
}

// IsBare reports whether an entry has a record that an agent keeps for itself, and no words: a
// note, or a thought of the model that its maker has sealed or does not tell. An entry whose words
// are gone is not bare, nor is one with a picture or another medium.
func (s *Shown) IsBare() bool {
	if !MayBeBare(s.Entry) || s.Gone != "" || strings.TrimSpace(s.Text) != "" {
		return false
	}
	parts, _ := message.ParseClean(s.Parts) // none in a body of another form
	isNote := s.Entry.Kind == format.KindNote
	shows := func(p message.Part) bool { return p.Media != nil || !isNote && p.Text != "" }
	return (isNote || len(parts) > 0) && !slices.ContainsFunc(parts, shows)
}

// MayBeBare reports whether an entry may be one that IsBare finds, without its body.
func MayBeBare(e *format.Entry) bool {
	return e.Kind == format.KindNote ||
		e.Kind == format.KindMessage && e.Role == "model" && len(e.Calls)+len(e.Results) == 0 &&
			e.Body != nil && e.Body.Media == format.MediaParts
}

// Header reads an entry without its body. The error is objects.ErrNotFound for a missing object; an
// object of another kind is an error, too.
func (s *Reader) Header(id format.ID) (*format.Entry, error) {
	read := s.headers.Load()
	if read == nil {
		return s.readHeader(id)
	}
	if e, ok := read.Load(id); ok {
		mine := *e.(*format.Entry)
		return &mine, nil
	}
	e, err := s.readHeader(id)
	if err == nil {
		kept := *e
		read.Store(id, &kept)
	}
	return e, err
}

func (s *Reader) readHeader(id format.ID) (*format.Entry, error) {
	return Decoded(s.Objects, id, format.DecodeEntry)
}

// Decoded reads an object without its body.
func Decoded[T any](
	from interface {
		Header(id format.ID) ([]byte, error)
	}, id format.ID, decode func(header []byte) (T, error),
) (v T, err error) {
	b, err := from.Header(id)
	if err != nil {
		return v, err
	}
	if v, err = decode(b); err != nil {
		err = fmt.Errorf("object %v: %w", id, err)
	}
	return v, err
}

// Entry reads an entry with its text. Of a forgotten body the text is "", and Gone has the reason.
func (s *Reader) Entry(id format.ID) (*Shown, error) {
	shown, err := s.Parts(id)
	if err == nil && shown.Parts != nil {
		shown.Text = Words(shown.Parts)
	}
	return shown, err
}

// Parts is Entry without the words of its parts: Text is "" if there are Parts.
func (s *Reader) Parts(id format.ID) (*Shown, error) {
	raw, err := s.Objects.Get(id)
	var gone *objects.GoneError
	if err != nil && !errors.As(err, &gone) {
		return nil, err
	}
	e, err := format.DecodeEntry(raw.Header)
	if err != nil {
		return nil, fmt.Errorf("object %v: %w", id, err)
	}
	shown := &Shown{ID: id, Version: id, Entry: e}
	switch {
	case gone != nil:
		shown.Gone = gone.Reason
	case e.Kind == format.KindEpoch:
		if _, shown.Text, err = s.EpochObject(e.Epoch); IsLost(err) {
			shown.Gone = whyLost(err)
		} else if err != nil {
			return nil, err
		}
	case e.Body != nil:
		text := raw.Text()
		switch e.Body.Media {
		case format.MediaParts:
			shown.Parts = text
		case format.MediaReplace:
			r, err := format.DecodeReplacement(text)
			if err != nil {
				return nil, fmt.Errorf("object %v: %w", id, err)
			}
			shown.Text = r.Text
		default:
			shown.Text = string(text)
		}
	}
	return shown, nil
}

// Version reads an entry with the text of its version newest; with its own where newest is zero.
func (s *Reader) Version(id, newest format.ID) (*Shown, error) {
	shown, err := s.Entry(id)
	if err != nil || newest.IsZero() || newest == id {
		return shown, err
	}
	newer, err := s.Entry(newest)
	if err != nil {
		return nil, err
	}
	first := shown.Entry
	e := *newer.Entry
	e.Kind, e.Amends, e.Seq, e.Parents = first.Kind, format.ID{}, first.Seq, first.Parents
	return &Shown{ID: id, Version: newest, Entry: &e, Text: newer.Text, Parts: newer.Parts,
		Gone: newer.Gone}, nil
}

// Latest reads the latest version of a message.
func (s *Reader) Latest(view *refs.View, id format.ID) (*Shown, error) {
	newest, err := s.Newest(view, id)
	if err != nil {
		return nil, err
	}
	return s.Entry(newest)
}

// LatestParts is Latest without the words of parts.
func (s *Reader) LatestParts(view *refs.View, id format.ID) (*Shown, error) {
	newest, err := s.Newest(view, id)
	if err != nil {
		return nil, err
	}
	return s.Parts(newest)
}

// Text reads the header of an object and its body without the nonce.
func (s *Reader) Text(id format.ID) (header, text []byte, err error) {
	raw, err := s.Objects.Get(id)
	if err != nil {
		return nil, nil, err
	}
	return raw.Header, raw.Text(), nil
}

// EpochObject reads an epoch object and, of an update, its text. Where the text was forgotten it
// returns the epoch with a *objects.GoneError.
func (s *Reader) EpochObject(id format.ID) (*format.Epoch, string, error) {
	raw, err := s.Objects.Get(id)
	var gone *objects.GoneError
	if err != nil && !errors.As(err, &gone) {
		return nil, "", err
	}
	e, err := format.DecodeEpoch(raw.Header)
	if errors.As(err, new(*format.VersionError)) {
		return nil, "", err
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: object %v: %w", ErrNotEpoch, id, err)
	}
	if gone != nil {
		return e, "", gone
	}
	return e, string(raw.Body), nil
}

// ReplacementAt reads the replacement of a replace entry.
func (s *Reader) ReplacementAt(id format.ID) (*format.Replacement, error) {
	_, body, err := s.Text(id)
	if err != nil {
		return nil, err
	}
	r, err := format.DecodeReplacement(body)
	if err != nil {
		return nil, fmt.Errorf("object %v: %w", id, err)
	}
	return r, nil
}

// ReplacedBy calls each once for every message that a replace entry stands for, in order. Where it
// stands for another replace entry, the messages of that one count.
func (s *Reader) ReplacedBy(id format.ID, each func(format.ID) error) error {
	seen := map[format.ID]bool{}
	for todo := []format.ID{id}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		e, err := s.Header(at)
		if err != nil {
			return err
		}
		if e.Kind != format.KindReplace {
			if err := each(at); err != nil {
				return err
			}
			continue
		}
		r, err := s.ReplacementAt(at)
		if err != nil {
			return err
		}
		for i := len(r.Targets) - 1; i >= 0; i-- {
			todo = append(todo, r.Targets[i].Entry)
		}
	}
	return nil
}

// MaxMessage is the limit of the text or the parts of one message, in bytes.
const MaxMessage = 16 << 20

// Words returns the words in a JSON array of message parts, as message.Words does; the bytes as
// they are where they are not valid parts.
func Words(parts []byte) string {
	list, err := message.ParseClean(parts)
	if err != nil {
		return string(parts)
	}
	return message.Words(list)
}

// CallIDs returns the ids of the calls that an entry makes.
func CallIDs(e *format.Entry) []string {
	return lists.Map(e.Calls, func(c format.Call) string { return c.ID })
}

// Batch is what one operation appended to a branch, for those who would read it at once.
type Batch struct {
	Session, Branch string
	// The tips of the branch before and after; From is zero for a new branch
	From, To format.ID
	Said     []Said // oldest first
}

// Said is an appended entry with its words.
type Said struct {
	Entry
	Text  string          // plain text, or what Words makes of the parts, if that is at hand
	Parts json.RawMessage // a JSON array of message parts; nil for plain text
	// Plain says that the entry is a message or a note with these words. Of other entries there is
	// only the header.
	Plain bool
}

// Words returns what the entry says.
func (d *Said) Words() string {
	if d.Text == "" && d.Parts != nil {
		return Words(d.Parts)
	}
	return d.Text
}
