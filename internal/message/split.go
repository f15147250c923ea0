package message

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Split divides every part with several contents into its text, its media, its result and its call,
// in this order. If the result answers the call of the same part, the call comes first. A thought
// keeps its media, because no reader shows either. Unknown members go to the last piece of their
// part. Split returns all other parts unchanged, with the same bytes.
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

// several reports whether a part has several contents. It is called for every part, so it allocates
// nothing.
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

// The names of the members that have a meaning.
const (
	nameText    = "text"
	nameThought = "thought"
	nameInline  = "inlineData"
	nameFile    = "fileData"
	nameCall    = "functionCall"
	nameResult  = "functionResponse"
)

// pieces returns the names of the members of each piece of a part.
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

// answersItself reports whether the result of a part answers the call of the same part: both have
// the same id, or neither has an id and both name the same tool.
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
	members, err := jsonvalue.MembersWithin(p.Raw)
	if err != nil {
		return []Part{*p} // Raw is not what was parsed
	}
	for _, m := range members {
		has := func(names []string) bool { return slices.Contains(names, m.Name) }
		at := slices.IndexFunc(pieces, has)
		if at < 0 {
			at = len(pieces) - 1
		}
		objects[at] = appendMember(objects[at], m)
	}
	out := make([]Part, len(pieces))
	for i, object := range objects {
		if out[i], err = ParsePart(append(object, '}')); err != nil {
			return []Part{*p}
		}
	}
	return out
}

// appendMember appends a member to an object that is not closed yet.
func appendMember(object []byte, m jsonvalue.Member) []byte {
	if object == nil {
		object = []byte{'{'}
	} else {
		object = append(object, ',')
	}
	// Its only error is invalid UTF-8, which it replaces
	object, _ = jsontext.AppendQuote(object, m.Name)
	return append(append(object, ':'), m.Value...)
}
