package sanitize

import (
	"bytes"
	"slices"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
	"github.com/gemini-ctx/ctx/internal/sanitize/secrets"
)

// textGroup is a list of strings of a JSON value that are searched as one text: the members "text"
// of neighboring elements of an array, which may be pieces of one message, or the arguments of a
// command.
type textGroup []textPiece

// textPiece is one string of a group: b[start:end] of the JSON value b, quotes included, and its
// decoded text.
type textPiece struct {
	start, end int
	text       []byte
	spaced     bool // a space separates it from the previous piece
}

// piece returns the string t as a piece of a group.
func (r *reader) piece(t token) textPiece {
	return textPiece{start: t.start, end: t.end, text: unquote(r.in[t.start+1 : t.end-1])}
}

// mayJoin reports whether a value may have a group of texts. It looks for the name "text" and for
// flags only in their plain spelling: messages and programs do not write them with escapes.
func mayJoin(b []byte) bool {
	return bytes.Count(b, []byte(`"text"`)) > 1 || bytes.Contains(b, []byte(`"-`))
}

// keep adds a group to w.groups if the group has more than one text.
func (w *walker) keep(group textGroup) {
	if len(group) > 1 {
		w.groups = append(w.groups, group)
	}
}

// spans returns the secrets of the joined text in order, and the offset at which each piece begins
// in the joined text.
func (g textGroup) spans() (found []Found, starts []int, err error) {
	var all []byte
	for _, p := range g {
		if p.spaced {
			all = append(all, ' ')
		}
		starts = append(starts, len(all))
		all = append(all, p.text...)
	}
	found, err = Find(all)
	return found, starts, err
}

// find returns the pieces that the secrets of across are in. Each is returned as a whole string.
func (g textGroup) find() ([]Found, error) {
	found, starts, err := g.across()
	var out []Found
	for _, f := range found {
		for i, p := range g {
			if f.From < starts[i]+len(p.text) && starts[i] < f.To {
				out = append(out, Found{Class: f.Class, From: p.start + 1, To: p.end - 1})
			}
		}
	}
	return out, err
}

// joinTexts redacts in b the secrets that appear only when the texts of a group are joined. It
// returns nil if there are none.
func joinTexts(b []byte, groups []textGroup, t *tally) ([]byte, error) {
	var out []byte
	copied := 0
	for _, group := range groups {
		found, starts, err := group.across()
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			t.add(f.Class, 1)
		}
		for i, p := range group {
			if text, changed := p.without(found, starts[i], t); changed {
				out = append(append(out, b[copied:p.start]...), text...)
				copied = p.end
			}
		}
	}
	if out == nil {
		return nil, nil
	}
	return append(out, b[copied:]...), nil
}

// across returns the secrets of the joined text that no piece contains by itself. If a piece does
// contain a secret, across still returns it if the secret continues in the next piece and GoesOn
// accepts the continuation.
func (g textGroup) across() (found []Found, starts []int, err error) {
	all, starts, err := g.spans()
	if err != nil {
		return nil, nil, err
	}
	var alone []Found
	for i, p := range g {
		own, err := Find(p.text)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range own {
			alone = append(alone,
				Found{Class: f.Class, From: starts[i] + f.From, To: starts[i] + f.To})
		}
	}
	for _, f := range all {
		known := slices.IndexFunc(alone,
			func(a Found) bool { return a.From < f.To && f.From < a.To })
		end, _ := slices.BinarySearch(starts, f.From+1) // the piece after the one in which f begins
		if known < 0 ||
			end < len(starts) && starts[end] < f.To &&
				secrets.GoesOn(g.bytes(starts[end], f.To, starts)) {
			found = append(found, f)
		}
	}
	return found, starts, nil
}

// bytes returns the bytes from from to to of the joined text, without the separating spaces.
func (g textGroup) bytes(from, to int, starts []int) []byte {
	var out []byte
	for i, p := range g {
		first, last := max(0, from-starts[i]), min(len(p.text), to-starts[i])
		if first < last {
			out = append(out, p.text[first:last]...)
		}
	}
	return out
}

// without returns the piece as a JSON string without the found secrets. start is the offset of the
// piece in the joined text. A marker replaces a secret in the piece in which the secret begins. The
// rest of the secret, in later pieces, is removed.
func (p textPiece) without(found []Found, start int, t *tally) (text []byte, changed bool) {
	var out []byte
	from := 0
	for _, f := range found {
		first, last := max(0, f.From-start), min(len(p.text), f.To-start)
		if first >= last {
			continue
		}
		out = append(out, p.text[from:first]...)
		if f.From >= start {
			out = append(out, secrets.Marker(f.Class)...)
		}
		from, changed = last, true
	}
	if !changed {
		return nil, false
	}
	out, controls, broken := controls.Strip(append(out, p.text[from:]...), nil)
	t.add("control", controls)
	t.add("utf8", broken)
	return jsonvalue.Encode(string(out)), true
}
