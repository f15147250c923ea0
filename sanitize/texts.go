package sanitize

import (
	"bytes"
	"slices"
)

// textGroup is strings of a JSON value that are read as one text: the "text" members of neighbours
// in an array, which are a message that may have come in pieces, or the arguments of a command.
type textGroup []textPiece

// textPiece is the string b[start:end] of a JSON value, with its quotes, and what it says.
type textPiece struct {
	start, end int
	text       []byte
	spaced     bool // a space stands between it and the piece before
}

// textGroups returns the groups of two and more texts in a valid JSON value.
func textGroups(b []byte) []textGroup {
	// Spelled with escapes, a "text" is no message's, and a flag is no program's.
	if bytes.Count(b, []byte(`"text"`)) < 2 && !bytes.Contains(b, []byte(`"-`)) {
		return nil
	}
	g := grouper{in: b}
	g.value(nil)
	return g.groups
}

// grouper steps through a JSON value that is known to be valid.
type grouper struct {
	in     []byte
	at     int
	groups []textGroup
}

// value steps over the value at g.at. Its own "text" member, if it is an object, goes to own.
func (g *grouper) value(own *textGroup) {
	w := walker{in: g.in, at: g.at}
	w.space()
	switch g.in[w.at] {
	case '{':
		for w.more('}') {
			name := w.at
			w.at = stringEnd(w.in, name)
			isText := string(w.in[name:w.at]) == `"text"`
			w.space()
			w.at++ // the colon
			w.space()
			if start := w.at; isText && own != nil && w.in[start] == '"' {
				w.at = stringEnd(w.in, start)
				*own = append(*own, textPiece{start: start, end: w.at, text: unquote(w.in[start+1 : w.at-1])})
				continue
			}
			g.at = w.at
			g.value(nil)
			w.at = g.at
		}
	case '[':
		var group textGroup
		var args arguments
		for w.more(']') {
			n := len(group)
			g.at = w.at
			g.value(&group)
			args.add(g.in, w.at, g.at)
			w.at = g.at
			if len(group) == n {
				g.keep(group)
				group = nil
			}
		}
		g.keep(group)
		g.keep(args.group())
	case '"':
		w.at = stringEnd(w.in, w.at)
	default:
		for w.at < len(w.in) && bytes.IndexByte([]byte(",]} \t\r\n"), w.in[w.at]) < 0 {
			w.at++
		}
	}
	g.at = w.at
}

func (g *grouper) keep(group textGroup) {
	if len(group) > 1 {
		g.groups = append(g.groups, group)
	}
}

// spans returns the secrets of the texts read as one, in their order, with the offset at which each text begins.
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

// find returns the texts that secrets of several are in.
func (g textGroup) find() ([]Found, error) {
	found, starts, err := g.across()
	var out []Found
	for _, f := range found {
		for i, p := range g {
			if f.From < starts[i]+len(p.text) && starts[i] < f.To {
				out = append(out, Found{f.Class, p.start + 1, p.end - 1})
			}
		}
	}
	return out, err
}

// joinTexts redacts what is a secret only when texts are read as one. It returns nil when there is nothing.
func joinTexts(b []byte, t *tally) ([]byte, error) {
	var out []byte
	copied := 0
	for _, group := range textGroups(b) {
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

// across returns the secrets of the texts read as one that no text has by itself. One that begins in a text which has it,
// too, goes on in the next where what follows is no word.
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
			alone = append(alone, Found{f.Class, starts[i] + f.From, starts[i] + f.To})
		}
	}
	for _, f := range all {
		known := slices.IndexFunc(alone, func(a Found) bool { return a.From < f.To && f.From < a.To })
		end, _ := slices.BinarySearch(starts, f.From+1) // the text after the one it begins in
		if known < 0 || end < len(starts) && starts[end] < f.To && goesOn(g.bytes(starts[end], f.To, starts)) {
			found = append(found, f)
		}
	}
	return found, starts, nil
}

// bytes returns an extent of the texts read as one.
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

// without is the piece, which begins at start of the joined text, as JSON: a marker stands where a secret begins, and what
// goes on in the pieces behind it is gone.
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
			out = append(out, marker(f.Class)...)
		}
		from, changed = last, true
	}
	if !changed {
		return nil, false
	}
	return appendString(nil, strip(append(out, p.text[from:]...), t, nil)), true
}
