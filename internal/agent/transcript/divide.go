package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// The members of a part that is a piece of a text: the words of a hidden one, and the mark of a
// piece that another one comes before.
const (
	pieceWhole = "part"
	pieceText  = "piece"
	pieceJoins = "joins"
)

// Hide makes a part that no model is shown of one that a client wrote into a message of the user.
// Joined gives it back.
func Hide(agent string, part json.RawMessage) json.RawMessage {
	return Hidden(agent, jsonvalue.Object{pieceWhole: part})
}

// Divide hides what the marks of a client tell in the parts of a message in the user's name. note
// says that nobody else said anything: such a message is the client's, and nothing in it is hidden.
// Joined undoes it.
func Divide(
	agent string, marks *Voices, list []json.RawMessage,
) (parts []json.RawMessage, note bool) {
	var texts []string
	at := map[int]int{} // by index of a part: that of its text
	others := 0
	for i, raw := range list {
		switch p := ReadPart(raw); p.Kind {
		case PartText:
			at[i] = len(texts)
			texts = append(texts, p.Text)
		case PartHidden:
		default:
			others++
		}
	}
	pieces, all := marks.Texts(texts)
	switch {
	case all && others == 0:
		return list, true
	case !slices.ContainsFunc(slices.Concat(pieces...), func(p Piece) bool {
		return p.Client && strings.TrimSpace(p.Text) != ""
	}):
		return list, false
	}
	for i, raw := range list {
		n, isText := at[i]
		switch {
		case !isText || len(pieces[n]) == 1 && !pieces[n][0].Client:
			parts = append(parts, raw)
		case len(pieces[n]) == 1:
			parts = append(parts, Hide(agent, raw))
		default:
			for j, p := range pieces[n] {
				parts = append(parts, piecePart(agent, raw, p, j > 0))
			}
		}
	}
	return parts, false
}

// piecePart makes a part of a piece of the text of a part. joins says that it is not the first one.
func piecePart(agent string, of json.RawMessage, p Piece, joins bool) json.RawMessage {
	kept := jsonvalue.Object{}
	if joins {
		kept.Set(pieceJoins, true)
	}
	switch {
	case p.Client:
		kept.Set(pieceText, p.Text)
		return Hidden(agent, kept)
	case joins:
		return TextPart(p.Text, Extra(agent, kept))
	}
	o := jsonvalue.AsObject(of).Without()
	o.Set("text", p.Text)
	return jsonvalue.Encode(o)
}

// IsPiece reports whether a part is a piece that Divide or Hide made, but for the first words of a
// person, which are a part like others.
func IsPiece(agent string, part jsonvalue.Object) bool {
	kept := part.Object(agent)
	for name := range kept {
		if name != pieceWhole && name != pieceText && name != pieceJoins {
			return false
		}
	}
	return len(kept) > 0
}

// Joined returns parts as they were before Divide and Hide.
func Joined(agent string, parts []json.RawMessage) (list []json.RawMessage) {
	for _, raw := range parts {
		o := jsonvalue.AsObject(raw)
		kept := o.Object(agent)
		joins := kept.True(pieceJoins)
		switch {
		case !IsPiece(agent, o):
		case kept.Has(pieceWhole):
			raw = kept[pieceWhole]
		default:
			text := o.Text("text") + kept.Text(pieceText)
			if joins && len(list) > 0 {
				o = jsonvalue.AsObject(list[len(list)-1]).Without()
				o.Set("text", o.Text("text")+text)
				list[len(list)-1] = jsonvalue.Encode(o)
				continue
			}
			raw = TextPart(text, nil)
		}
		list = append(list, raw)
	}
	return list
}
