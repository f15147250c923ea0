package epoch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/sanitize"
)

// The limits of one observation.
const (
	maxValue = 8 << 10  // bytes of a value in canonical form
	maxText  = 1 << 20  // bytes of a text
	maxKeys  = 1024     // of an epoch
	MaxInput = 16 << 20 // bytes of all lines together
)

// Set is the observations of one moment. They are sanitized and checked, have each key once, and
// are in the order of the sources.
type Set struct {
	list  []observation
	Found []sanitize.Finding // secrets that were removed
}

// observation is the state of one source: its value, that it was removed, or that it could not be
// read.
type observation struct {
	key                  string
	value                []byte // canonical; nil if there is none
	unavailable          bool
	first, changed, gone *string
}

// ErrInput says that observations are not valid.
var ErrInput = errors.New("bad input")

// Read reads observations, a JSON object a line:
//
//	{"key":"core/date","value":any JSON,"first":"…","changed":"…","removed_text":"…"}
//	{"key":"core/date","unavailable":true}
//	{"key":"core/date","removed":true,"removed_text":"…"}
//
// Each line is sanitized first. The error wraps ErrInput and names the line and the key.
func Read(lines []byte) (*Set, error) {
	if len(lines) > MaxInput {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrInput, MaxInput)
	}
	s := &Set{}
	seen := map[string]bool{}
	number := 0
	for line := range bytes.Lines(lines) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		o, err := s.read(line)
		if err == nil && seen[o.key] {
			err = errors.New("key twice")
		}
		if err == nil && len(s.list) == maxKeys {
			err = fmt.Errorf("%d keys are the most", maxKeys)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d%s: %w", ErrInput, number, named(o.key), err)
		}
		seen[o.key] = true
		s.list = append(s.list, o)
	}
	if len(s.list) == 0 {
		return nil, fmt.Errorf("%w: none was given", ErrInput)
	}
	return s, nil
}

func named(key string) string {
	if key == "" {
		return ""
	}
	return ": " + key
}

// read reads one line. If it fails, it returns the key if it could read that.
func (s *Set) read(line []byte) (observation, error) {
	clean, found, err := sanitize.JSON(line)
	if err != nil {
		return observation{}, errors.New("not a JSON object")
	}
	s.found(found)
	whole, err := canonical(clean)
	if err != nil {
		return observation{}, err
	}
	var members map[string]json.RawMessage
	if whole[0] != '{' || json.Unmarshal(whole, &members) != nil {
		return observation{}, errors.New("not a JSON object")
	}
	var o observation
	var removed bool
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		var into any
		switch name {
		case "key":
			into = &o.key
		case "value":
			o.value = value
			continue
		case "unavailable":
			into = &o.unavailable
		case "removed":
			into = &removed
		case "first":
			into = &o.first
		case "changed":
			into = &o.changed
		case "removed_text":
			into = &o.gone
		default:
			return o, fmt.Errorf("unknown member %.80q", name)
		}
		if json.Unmarshal(value, into) != nil {
			return o, fmt.Errorf("%s cannot be %.40s", name, value)
		}
	}
	if !format.IsEpochKey(o.key) {
		return observation{},
			fmt.Errorf(
				"bad key %.80q: a namespace, a slash and a name is the form, as in core/date",
				o.key)
	}
	return o, o.check(removed)
}

func (o *observation) check(removed bool) error {
	said := 0
	for _, is := range []bool{o.value != nil, o.unavailable, removed} {
		if is {
			said++
		}
	}
	switch {
	case said != 1:
		return errors.New("one of value, unavailable and removed belongs to an observation")
	case len(o.value) > maxValue:
		return fmt.Errorf(
			"value of %d bytes: %d is the most; give its digest as the value, and what it says "+
				"as the text", len(o.value), maxValue)
	}
	for _, t := range []struct {
		kind string
		text *string
	}{{"first", o.first}, {"changed", o.changed}, {"removed_text", o.gone}} {
		switch {
		case t.text == nil:
		case strings.TrimSpace(*t.text) == "":
			return fmt.Errorf("%s is empty", t.kind)
		case len(*t.text) > maxText:
			return fmt.Errorf("%s of %d bytes: %d is the most", t.kind, len(*t.text), maxText)
		}
	}
	return nil
}

// Without returns the set without those observations for whose value or text, as blobs, forgotten
// is true. It also returns the keys of these observations.
func (s *Set) Without(forgotten func(format.Raw) bool) (*Set, []string) {
	rest := &Set{Found: s.Found}
	var keys []string
	for _, o := range s.list {
		drop := o.value != nil && forgotten(blobOf(o.value, format.MediaParts))
		for _, text := range []*string{o.first, o.changed, o.gone} {
			drop = drop || text != nil && forgotten(blobOf([]byte(*text), format.MediaText))
		}
		if drop {
			keys = append(keys, o.key)
			continue
		}
		rest.list = append(rest.list, o)
	}
	return rest, keys
}

// found adds up the secrets that were removed.
func (s *Set) found(list []sanitize.Finding) {
	for _, f := range list {
		at := -1
		for i := range s.Found {
			if s.Found[i].Class == f.Class {
				at = i
			}
		}
		if at < 0 {
			s.Found = append(s.Found, f)
			continue
		}
		s.Found[at].Count += f.Count
	}
}
