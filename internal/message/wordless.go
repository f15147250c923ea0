package message

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Wordless describes parts that have no words for people: the kinds of the records that an agent
// keeps in a note ("claude-code: turn_duration"), "thought", types of media, "no output" of a call,
// or "no text". Names are as the agent wrote them: a caller that prints them has to clean them.
func Wordless(parts []Part, note bool) string {
	var held []string
	for i := range parts {
		p := &parts[i]
		kind := ""
		if note {
			kind = record(p.Raw)
		}
		switch {
		case kind != "":
			held = append(held, kind)
		case p.Result != nil && p.Result.Output() == "":
			held = append(held, mediaIn(p.Raw)...)
		case p.Thought && (note || p.HasText):
			held = append(held, "thought")
		case p.Media != nil && p.Media.MimeType != "":
			held = append(held, p.Media.MimeType)
		}
	}
	switch held = slices.Compact(held); {
	case len(held) > 0:
		return strings.Join(held, ", ")
	case slices.ContainsFunc(parts, func(p Part) bool { return p.Result != nil }):
		return "no output"
	}
	return "no text"
}

// Label describes media to people: the type, and the address or the size, as in
// "[image/png, 3 kB]". Both are as the agent wrote them: a caller that prints them has to clean
// them.
func (m *Media) Label() string {
	var says []string
	if m.MimeType != "" {
		says = append(says, m.MimeType)
	}
	switch {
	case m.URI != "":
		says = append(says, m.URI)
	case m.Data != "":
		says = append(says, strconv.Itoa((len(m.Data)*3/4+1023)/1024)+" kB")
	}
	return "[" + strings.Join(says, ", ") + "]"
}

// mediaIn returns the types of media that a value has somewhere in it, as agents write them.
func mediaIn(value json.RawMessage) (types []string) {
	if list, err := jsonvalue.ElementsWithin(value); err == nil {
		for _, v := range list {
			types = append(types, mediaIn(v)...)
		}
		return types
	}
	members, _ := jsonvalue.MembersWithin(value) // none if it is no object
	for _, m := range members {
		switch kind, ok := jsonvalue.Text(m.Value); {
		case ok && slices.Contains(mediaNames[:], m.Name) && strings.Contains(kind, "/"):
			types = append(types, kind)
		case !ok:
			types = append(types, mediaIn(m.Value)...)
		}
	}
	return types
}

// mediaNames are the members in which agents name a type of media.
var mediaNames = [...]string{"media_type", "mimeType", "mime"}

// record returns the agent and the kind of the record that a part keeps; "" for none. Agents name
// the kind in the member "subtype" or "type", of the record, or of its payload or attachment.
func record(part json.RawMessage) string {
	members, _ := jsonvalue.MembersWithin(part) // none if it is no object
	for _, m := range members {
		top, _ := jsonvalue.MembersWithin(m.Value)
		if len(top) == 0 {
			continue
		}
		for _, of := range []string{"payload", "attachment", ""} {
			in := top
			if of != "" {
				in, _ = jsonvalue.MembersWithin(valueOf(top, of))
			}
			for _, name := range []string{"subtype", "type"} {
				if kind, ok := jsonvalue.Text(valueOf(in, name)); ok {
					return m.Name + ": " + kind
				}
			}
		}
		return m.Name
	}
	return ""
}

func valueOf(members []jsonvalue.Member, name string) json.RawMessage {
	for _, m := range members {
		if m.Name == name {
			return m.Value
		}
	}
	return json.RawMessage("null")
}
