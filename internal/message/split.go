package message

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Split returns parts with every part that says several things taken apart: into its text, its
// media, its result and its call, in this order. A call comes before a result that answers it. A
// thought keeps its media, and no reader shows either. Members that this package does not know go
// to the last piece of their part. Parts that say one thing are returned as they are, with the same
// bytes.
func Split(parts []Part) []Part {
	if !slices.ContainsFunc(parts, Part.several) {
		return parts
	}
	var out []Part
	for i := range parts {
		out = append(out, parts[i].split()...)
	}
	return out
}

// several reports whether a part says more than one thing. It is asked of every part, and so makes
// no list.
func (p Part) several() bool {
	n := 0
	media := p.Media != nil && !(p.Thought && p.HasText)
	for _, has := range [...]bool{p.HasText, media, p.Result != nil, p.Call != nil} {
		if has {
			n++
		}
	}
	return n > 1
}

// Names of the members that say something.
const (
	nameText    = "text"
	nameThought = "thought"
	nameInline  = "inlineData"
	nameFile    = "fileData"
	nameCall    = "functionCall"
	nameResult  = "functionResponse"
)

// pieces returns the names of the members that belong together, a list for each thing that a part
// says.
func (p *Part) pieces() [][]string {
	var list [][]string
	switch {
	case p.Thought && (p.HasText || p.Media != nil):
		list = append(list, []string{nameThought, nameText, nameInline, nameFile})
	default:
		if p.HasText {
			list = append(list, []string{nameText})
		}
		if p.Media != nil {
			list = append(list, []string{nameInline, nameFile})
		}
	}
	if p.Result != nil {
		list = append(list, []string{nameResult})
	}
	if p.Call != nil {
		list = append(list, []string{nameCall})
	}
	if n := len(list); p.answersItself() {
		list[n-1], list[n-2] = list[n-2], list[n-1]
	}
	return list
}

// answersItself reports whether the result of a part answers the call of the same part: they have
// one id, or neither has an id and they name one tool.
func (p *Part) answersItself() bool {
	if p.Call == nil || p.Result == nil || p.Call.ID != p.Result.ID {
		return false
	}
	return p.Call.ID != "" || p.Call.Name == p.Result.Name
}

func (p *Part) split() []Part {
	if !p.several() {
		return []Part{*p}
	}
	pieces := p.pieces()
	objects := make([][]byte, len(pieces))
	err := eachMember(p.Raw, func(name string, value json.RawMessage) bool {
		has := func(names []string) bool { return slices.Contains(names, name) }
		at := slices.IndexFunc(pieces, has)
		if at < 0 {
			at = len(pieces) - 1
		}
		objects[at] = appendMember(objects[at], name, value)
		return true
	})
	if err != nil {
		return []Part{*p} // Raw is not what was parsed
	}
	out := make([]Part, len(pieces))
	for i, object := range objects {
		if out[i], err = ParsePart(append(object, '}')); err != nil {
			return []Part{*p}
		}
	}
	return out
}

// appendMember writes a member at the end of an object that is not closed yet.
func appendMember(object []byte, name string, value json.RawMessage) []byte {
	if object == nil {
		object = []byte{'{'}
	} else {
		object = append(object, ',')
	}
	object, _ = jsontext.AppendQuote(object, name) // the one error is invalid UTF-8, which it replaces
	return append(append(object, ':'), bytes.TrimSpace(value)...)
}
