// Package epoch has the rules of context epochs: from the epoch in force and new observations it
// computes the next epoch and the text to send. It reads and writes nothing.
//
// An epoch records what the model was last told (its beliefs). An observation with an equal value
// is no change, even if its JSON is written differently. A source that cannot be read leaves its
// belief as it is. A text that was sent is never changed.
package epoch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
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
	s.Found = sanitize.AddFindings(s.Found, found)
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
		return observation{}, fmt.Errorf(
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

// canonical returns the form in which a JSON value is compared and stored: no white
// space, members by name in UTF-16 order, strings without needless escapes, and numbers as RFC 8785
// writes them. One point differs from RFC 8785: a number with more digits than a double holds keeps
// all of them, so that two ids of 19 digits stay two. CanonicalizeRawInts and CanonicalizeRawFloats
// of jsontext cannot do that, so numbers are written here.
//
// It fails if b is not one JSON value in UTF-8, if an object has two members of one name, if a
// string has half of a surrogate pair, and if a number has an exponent of more than four digits.
func canonical(b []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(b))
	if err := v.Format(jsontext.ReorderRawObjects(true)); err != nil {
		var syntax *jsontext.SyntacticError
		if errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax) {
			return nil, fmt.Errorf("name twice in an object: %.80q", syntax.JSONPointer.LastToken())
		}
		return nil, errors.New("not one JSON value in UTF-8")
	}
	return jsonvalue.Rewrite(v, canonicalScalar)
}

// canonicalScalar writes equal numbers alike, and leaves strings and literals as they are.
func canonicalScalar(scalar []byte) ([]byte, error) {
	if scalar[0] != '-' && (scalar[0] < '0' || scalar[0] > '9') {
		return scalar, nil
	}
	return canonicalNumber(string(scalar))
}

// maxExponent is the farthest that the first digit of a number may be from the decimal point.
const maxExponent = 9999

func canonicalNumber(text string) ([]byte, error) {
	abs, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(abs), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	e, err := strconv.Atoi(cmp.Or(strings.TrimPrefix(exponent, "+"), "0"))
	digits := strings.TrimLeft(whole+fraction, "0")
	point := len(digits) - len(fraction) + e // the value is 0.digits × 10^point
	digits = strings.TrimRight(digits, "0")
	switch {
	case err == nil && digits == "" && -maxExponent <= e && e <= maxExponent:
		return []byte("0"), nil // minus zero is the same
	case err != nil || digits == "" || point > maxExponent || point < -maxExponent:
		return nil, fmt.Errorf("number out of range: %.40q", text)
	case negative:
		return []byte("-" + plainNumber(digits, point)), nil
	}
	return []byte(plainNumber(digits, point)), nil
}

// plainNumber writes the number 0.digits × 10^point, as ECMAScript does.
func plainNumber(digits string, point int) string {
	n := len(digits)
	switch {
	case n <= point && point <= 21:
		return digits + strings.Repeat("0", point-n)
	case 0 < point && point <= 21:
		return digits[:point] + "." + digits[point:]
	case -6 < point && point <= 0:
		return "0." + strings.Repeat("0", -point) + digits
	case n == 1:
		return fmt.Sprintf("%se%+d", digits, point-1)
	}
	return fmt.Sprintf("%s.%se%+d", digits[:1], digits[1:], point-1)
}
