package sanitize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxDepth is how deeply arrays and objects may be nested. Message parts are
// shallow; the limit keeps hostile input from growing the stack.
const maxDepth = 200

var errNotJSON = errors.New("not one valid JSON value")

// JSON cleans one JSON value. Every string in it, member names too, is
// decoded, cleaned as by Text, and encoded again only when that changed it. A
// string whose member name is a key that names a secret is replaced whole when
// it looks like a secret; so is one in an array under such a name, and the
// "value" of a member pair like {"name":"DB_PASSWORD","value":"…"}. Members "text"
// of neighbours in an array are cleaned as one text, too, since a message may come
// in pieces; what goes of it goes from each of them. An escape
// of half a surrogate pair counts as broken UTF-8. Every other byte, white
// space and numbers included, stays as it was; when nothing was found, out is
// b itself. Cleaning member names may leave two members with one name.
//
// The error is not nil when b is not one valid JSON value, when it is nested
// more than 200 deep, or when the rules do not settle; out and found are nil
// then, and the value must not be stored.
func JSON(b []byte) (out []byte, found []Finding, err error) {
	if err := checkJSON(b); err != nil {
		return nil, nil, fmt.Errorf("sanitize JSON: %w", err)
	}
	var all tally
	for range maxRounds {
		joined, err := joinTexts(b, &all)
		if err != nil {
			return nil, nil, fmt.Errorf("sanitize JSON: %w", err)
		}
		if joined != nil {
			b = joined
		}
		w := walker{in: b, found: all}
		if err := w.value(noKey, 0); err != nil {
			return nil, nil, fmt.Errorf("sanitize JSON: %w", err)
		}
		if w.found.total() == all.total() {
			if joined == nil {
				return b, all.findings(), nil
			}
			continue
		}
		b, all = append(w.out, b[w.copied:]...), w.found
	}
	return nil, nil, fmt.Errorf("sanitize JSON: %w", errUnsettled)
}

// walker steps through a JSON value that is known to be valid.
type walker struct {
	in     []byte
	at     int    // next byte of in
	out    []byte // cleaned form of in[:copied]
	copied int
	found  tally
	said   []byte  // holds what the last string with escapes said
	finds  bool    // secrets are noted in spots as well
	spots  []Found // what was found, as offsets of in
}

// value cleans the value at w.at, which stands under a key of this kind.
func (w *walker) value(kind keyKind, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested more than %d deep", maxDepth)
	}
	w.space()
	switch w.in[w.at] {
	case '{':
		return w.object(depth)
	case '[':
		return w.array(kind, depth)
	case '"':
		_, err := w.text(kind)
		return err
	}
	for w.at < len(w.in) && strings.IndexByte(",]} \t\r\n", w.in[w.at]) < 0 {
		w.at++
	}
	return nil
}

// object cleans the members of the object at w.at.
func (w *walker) object(depth int) error {
	named := noKey // kind of the key that a "name" member holds
	for w.more('}') {
		name, err := w.text(noKey)
		if err != nil {
			return err
		}
		w.space()
		w.at++ // the colon
		w.space()
		kind := keyOf(name)
		switch {
		case len(name) > len("value"):
		case bytes.EqualFold(name, []byte("name")), bytes.EqualFold(name, []byte("key")):
			if w.in[w.at] == '"' {
				s, err := w.text(kind)
				if err != nil {
					return err
				}
				named = keyOf(s)
				continue
			}
		case bytes.EqualFold(name, []byte("value")):
			kind = named
		}
		if err := w.value(kind, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// array cleans the elements of the array at w.at.
func (w *walker) array(kind keyKind, depth int) error {
	for w.more(']') {
		if err := w.value(kind, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// more steps over the bracket or comma at w.at and reports whether an element
// follows; if not, it steps over the closing bracket.
func (w *walker) more(closing byte) bool {
	w.space()
	if w.in[w.at] != closing {
		w.at++
		w.space()
	}
	if w.in[w.at] == closing {
		w.at++
		return false
	}
	return true
}

func (w *walker) space() { w.at = runEnd(w.in, w.at, isSpace) }

// text cleans the string at w.at and returns its cleaned content, which holds until the next call.
func (w *walker) text(kind keyKind) ([]byte, error) {
	start := w.at
	end := stringEnd(w.in, start)
	w.at = end
	before := len(w.found)
	counted := w.found.total()
	s := w.in[start+1 : end-1]
	if bytes.IndexByte(s, '\\') >= 0 {
		w.said = appendUnquoted(w.said[:0], s)
		s = w.said
	}
	s, err := text(s, &w.found)
	if err != nil {
		return nil, err
	}
	whole := ""
	if secret, ok := underKey(s, kind); ok {
		s, whole = secret, kind.class()
		w.found.add(whole, 1)
	}
	if w.finds && w.found.total() > counted {
		if err := w.find(start+1, end-1, whole); err != nil {
			return nil, err
		}
	}
	if len(w.found) == before && w.found.total() == counted {
		return s, nil
	}
	w.out = append(w.out, w.in[w.copied:start]...)
	w.out = appendString(w.out, s)
	w.copied = end
	return s, nil
}

// underKey returns what replaces s under a key of this kind, if s is a secret.
func underKey(s []byte, kind keyKind) ([]byte, bool) {
	if kind == noKey || !judge(s, true, kind) {
		return nil, false
	}
	return []byte(marker(kind.class())), true
}

// stringEnd returns the offset after the string that starts at start.
func stringEnd(b []byte, start int) int {
	for i := start + 1; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		if slashes(b[start+1:], i-start-1)%2 == 0 {
			return i + 1
		}
	}
}

// appendString appends s, which is valid UTF-8, as a JSON string.
func appendString(out, s []byte) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(s)); err != nil {
		panic("sanitize: encoding a string: " + err.Error()) // a string always encodes
	}
	return append(out, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
