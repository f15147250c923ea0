package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// About is what the owner of a store says of a session: one record, which travels with it.
type About struct {
	V      int      `json:"v"`
	Title  string   `json:"title,omitempty"`  // "" leaves the agent's, or the first prompt
	Tags   []string `json:"tags,omitempty"`   // sorted, none twice
	Pinned bool     `json:"pinned,omitempty"` // it comes first in lists
}

// Labels are what is said besides the title: that the session is pinned, and #tags.
func (a *About) Labels() (list []string) {
	if a.Pinned {
		list = append(list, "pinned")
	}
	for _, tag := range a.Tags {
		list = append(list, "#"+tag)
	}
	return list
}

// aboutVersion is the form of a record.
const aboutVersion = 1

// The limits of a record: bytes of a title and of a tag, and tags.
const (
	maxAboutTitle = 200
	maxTag        = 40
	maxTags       = 32
)

// AboutRefs begins the names of the refs of these records.
const AboutRefs = StateRefs + "about/"

// AboutRef returns the name of the ref of what is said of a session.
func AboutRef(session string) string { return AboutRefs + session }

// DecodeAbout reads the content of the blob that an AboutRef names.
func DecodeAbout(b []byte) (a About, err error) {
	if err = json.Unmarshal(b, &a); err == nil && a.V != aboutVersion {
		err = fmt.Errorf("unknown form")
	}
	if err == nil {
		err = a.check()
	}
	return a, err
}

// Encode returns the content of the blob. Errors: ErrInput.
func (a About) Encode() ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	a.V = aboutVersion
	return json.Marshal(a)
}

func (a *About) check() error {
	line := func(what, text string, most int, bad func(rune) bool) error {
		switch {
		case len(text) > most:
			return fmt.Errorf("%s of %d bytes: %d is the most", what, len(text), most)
		case strings.ContainsFunc(text, unicode.IsControl):
			return fmt.Errorf("bad %s: %q holds a control character", what, Clip(text))
		case !utf8.ValidString(text) || strings.ContainsFunc(text, bad):
			return fmt.Errorf("bad %s: %q", what, Clip(text))
		}
		return nil
	}
	none := func(rune) bool { return false }
	if err := line("title", a.Title, maxAboutTitle, none); err != nil {
		return err
	}
	if len(a.Tags) > maxTags {
		return fmt.Errorf("%d tags: %d is the most", len(a.Tags), maxTags)
	}
	for i, tag := range a.Tags {
		err := line("tag", tag, maxTag, func(r rune) bool {
			return r == ',' || r == '#' || unicode.IsSpace(r)
		})
		if err != nil {
			return fmt.Errorf("%w: a tag is a word without commas and #", err)
		}
		if tag == "" || strings.ContainsRune("+-", rune(tag[0])) || i > 0 && a.Tags[i-1] >= tag {
			return fmt.Errorf("bad tag: %q", Clip(tag))
		}
	}
	return nil
}

// AboutOf returns what is said of a session; nothing if that was forgotten.
func (s *Reader) AboutOf(v *refs.View, session string) (a About, err error) {
	if a, err = s.AboutAt(v.Get(AboutRef(session)).ID); err != nil {
		err = fmt.Errorf("cannot read %s: %w", AboutRef(session), err)
	}
	return a, err
}

// AboutAt returns the record in a blob; nothing for no blob, and if it was forgotten.
func (s *Reader) AboutAt(id format.ID) (a About, err error) {
	b, err := s.stateBlob(id)
	if err == nil && b != nil {
		a, err = DecodeAbout(b)
	}
	return a, err
}

// ChangeOf names the command that makes a of was: rename, tag, pin or unpin.
func (a *About) ChangeOf(was *About) string {
	switch {
	case a.Title != was.Title:
		return "rename"
	case !a.Pinned && was.Pinned:
		return "unpin"
	case a.Pinned != was.Pinned:
		return "pin"
	}
	return "tag"
}

// stateBlob returns the body that a ref of state names; nil where there is none, or it is gone.
func (s *Reader) stateBlob(id format.ID) ([]byte, error) {
	if id.IsZero() {
		return nil, nil
	}
	raw, err := s.Objects.Get(id)
	if err != nil && ButGone(err) == nil {
		return nil, nil
	}
	return raw.Body, err
}
