package sanitize

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/sanitize/secrets"
)

// JSON cleans one JSON value. It decodes each string, member names included, and cleans it as Text
// does. It encodes a string again only if the cleaning changed it. All other bytes, white space and
// numbers included, stay unchanged. If JSON finds nothing, out is b itself. Cleaning member names
// may produce two members with the same name.
//
// In addition to the rules of Text:
//   - If a member name is a key that names a secret, JSON replaces the whole string under it if the
//     string looks like a secret. The same applies to the strings of an array under such a name,
//     and to "value" in a pair of members such as {"name":"DB_PASSWORD","value":"…"}.
//   - Members "text" of neighboring elements of an array are also cleaned as one text, because a
//     message may come in pieces. A secret that extends over several pieces is removed from each.
//   - An array of strings that may be the arguments of a command is also cleaned as one command
//     line.
//   - Files that are texts, in base64: the member "data" beside a type of media, and a whole string
//     that is a data URL. A secret in one is replaced there, and the text is encoded again.
//   - An escape of half a surrogate pair counts as broken UTF-8.
//
// JSON returns an error if b is not one valid JSON value, if the value is nested more than 200
// deep, or if the rules do not settle. Then out and found are nil, and the value must not be
// stored.
func JSON(b []byte) (out []byte, found []Finding, err error) {
	var all tally
	for range maxRounds {
		w := walker{reader: newReader(b), found: slices.Clone(all), joins: mayJoin(b)}
		if err := w.walk(); err != nil {
			return nil, nil, fmt.Errorf("sanitize JSON: %w", err)
		}
		joined, err := joinTexts(b, w.groups, &all)
		if err != nil {
			return nil, nil, fmt.Errorf("sanitize JSON: %w", err)
		}
		switch {
		case joined != nil:
			b = joined
		case w.found.total() == all.total():
			return b, all.findings(), nil
		default:
			b, all = append(w.out, b[w.copied:]...), w.found
		}
	}
	return nil, nil, fmt.Errorf("sanitize JSON: %w", errUnsettled)
}

// walker cleans the strings of a JSON value.
type walker struct {
	reader
	out    []byte // cleaned form of in[:copied]
	copied int
	found  tally
	said   []byte // buffer of the last decoded string with escapes
	joins  bool   // texts are collected in groups
	groups []textGroup
	finds  bool    // secrets are also added to spots
	spots  []Found // the found secrets, as offsets of in
}

// walk cleans the whole value.
func (w *walker) walk() error {
	if w.err == nil {
		w.value(w.next(), secrets.NoKey, nil)
	}
	return w.err
}

// value cleans the value that begins with t and is under a key of the given kind. If the value is
// an object and group is not nil, value adds the member "text" of the object to group.
func (w *walker) value(t token, kind secrets.Key, group *textGroup) {
	switch t.kind {
	case '{':
		w.object(group)
	case '[':
		w.array(kind)
	case '"':
		w.text(t, kind)
	}
}

// object cleans the members of an object whose opening bracket has been read.
func (w *walker) object(group *textGroup) {
	named := secrets.NoKey // kind of the key in the member "name"
	var data token         // the member "data", of a type of media that is text
	isText := false
	for w.more() {
		key := w.next()
		name := w.text(key, secrets.NoKey)
		kind := secrets.KeyOf(name)
		isName := bytes.EqualFold(name, []byte("name")) || bytes.EqualFold(name, []byte("key"))
		if bytes.EqualFold(name, []byte("value")) {
			kind = named
		}
		t := w.next()
		if group != nil && t.kind == '"' && string(w.in[key.start:key.end]) == `"text"` {
			*group = append(*group, w.piece(t))
		}
		if t.kind == '"' {
			switch string(w.in[key.start:key.end]) {
			case `"data"`:
				data = t
			case `"mimeType"`, `"mime_type"`, `"media_type"`, `"mime"`:
				isText = isTextType(w.in[t.start+1:])
			}
		}
		if isName && t.kind == '"' {
			text := w.text(t, kind)
			if named = secrets.KeyOf(text); bytes.EqualFold(text, []byte("cookie")) {
				named = secrets.KeyOf([]byte("authorization"))
			}
			continue
		}
		w.value(t, kind, nil)
	}
	if isText && data.kind == '"' {
		w.file(data, 0)
	}
}

// array cleans the elements of an array whose opening bracket has been read. If w.joins is set, it
// also collects the texts of neighboring elements and the arguments of a command.
func (w *walker) array(kind secrets.Key) {
	var group textGroup
	var args arguments
	for w.more() {
		t := w.next()
		if !w.joins {
			w.value(t, kind, nil)
			continue
		}
		n := len(group)
		w.value(t, kind, &group)
		args.add(&w.reader, t)
		if len(group) == n {
			w.keep(group)
			group = nil
		}
	}
	w.keep(group)
	w.keep(args.group())
}

// text cleans a string and returns its cleaned content, which is valid until the next call.
func (w *walker) text(t token, kind secrets.Key) []byte {
	if w.err != nil {
		return nil
	}
	before := len(w.found)
	counted := w.found.total()
	s := w.in[t.start+1 : t.end-1]
	if bytes.IndexByte(s, '\\') >= 0 {
		w.said = appendUnquoted(slices.Grow(w.said[:0], len(s)), s)
		s = w.said
	}
	s, err := text(s, &w.found)
	if err != nil {
		w.err = err
		return nil
	}
	whole := ""
	if secret, ok := underKey(s, kind); ok {
		s, whole = secret, kind.Class()
		w.found.add(whole, 1)
	}
	if w.finds && w.found.total() > counted {
		w.find(t.start+1, t.end-1, whole)
	}
	if len(w.found) == before && w.found.total() == counted {
		w.dataURL(t, s)
		return s
	}
	w.out = append(w.out, w.in[w.copied:t.start]...)
	w.out = append(w.out, jsonvalue.Encode(string(s))...)
	w.copied = t.end
	return s
}

// underKey returns the marker that replaces s under a key of the given kind, if s is a secret.
func underKey(s []byte, kind secrets.Key) ([]byte, bool) {
	if kind == secrets.NoKey || !secrets.Judge(s, true, kind) {
		return nil, false
	}
	return []byte(secrets.Marker(kind.Class())), true
}

// The limits of a list of arguments that is searched as one command. A longer list is data.
const (
	maxArguments     = 256
	maxArgumentBytes = 8 << 10
)

// arguments collects the elements of an array of strings that may be a command and its arguments.
type arguments struct {
	pieces textGroup
	bytes  int
	flag   bool // an element begins with a dash
	other  bool // the array is not a command
}

// add adds the next element of the array that r reads. t is the first token of the element.
func (a *arguments) add(r *reader, t token) {
	a.bytes += t.end - t.start
	a.other = a.other || t.kind != '"' || len(a.pieces) == maxArguments ||
		a.bytes > maxArgumentBytes
	if a.other {
		return
	}
	piece := r.piece(t)
	a.flag = a.flag || len(piece.text) > 0 && piece.text[0] == '-'
	piece.spaced = len(a.pieces) > 0
	a.pieces = append(a.pieces, piece)
}

// group returns the elements as one command line, or nil if the array is not a command.
func (a *arguments) group() textGroup {
	if a.other || !a.flag {
		return nil
	}
	return a.pieces
}
