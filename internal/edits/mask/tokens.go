package mask

import (
	"encoding/json"
	"strings"
)

// The estimate is that of the Gemini CLI for a part, in quarters of a token, rounded down once at
// the end: of a result the name, the response as JSON and what is attached, each UTF-16 unit a
// quarter; of a text one and a half for each unit that is not ASCII.
const (
	perToken     = 4
	perNonASCII  = 6
	longText     = 100_000 // units from which on every one counts a quarter
	imageTokens  = 3000
	pdfTokens    = 25800
	attachedDeep = 3 // attachments in attachments are counted so deep
)

// Tokens estimates the number of tokens of a part.
func Tokens(p Part) int {
	if p.Raw == nil {
		return (units(p.Tool) + units(p.Text)) / perToken
	}
	return rawQuarters(p.Raw, 0) / perToken
}

func rawQuarters(raw json.RawMessage, depth int) int {
	part := readPart(raw)
	switch {
	case part.Result != nil:
		r := part.Result
		n := units(r.Name) + responseUnits(r.Response)
		if depth < attachedDeep {
			for _, in := range r.Parts {
				n += rawQuarters(in, depth+1)
			}
		}
		return n
	case part.HasText:
		return textQuarters(part.Text)
	case part.Media != nil && strings.HasPrefix(part.Media.MimeType, "image/"):
		return imageTokens * perToken
	case part.Media != nil && part.Media.MimeType == "application/pdf":
		return pdfTokens * perToken
	}
	return units(string(plain(raw)))
}

// responseUnits is the length of a response: of a string the string's, of anything else that of its
// JSON.
func responseUnits(raw json.RawMessage) int {
	var s string
	if json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
		return units(s)
	}
	return units(string(plain(raw)))
}

func textQuarters(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < 0x80:
			n++
		case r < 0x10000:
			n += perNonASCII
		default:
			n += 2 * perNonASCII
		}
	}
	if u := units(s); u > longText {
		return u
	}
	return n
}

// units is the number of UTF-16 units of s.
func units(s string) int {
	n := 0
	for _, r := range s {
		if n++; r >= 0x10000 {
			n++
		}
	}
	return n
}
