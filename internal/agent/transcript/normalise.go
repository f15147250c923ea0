package transcript

import (
	"math"
	"slices"
	"strconv"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// signature is the member with the opaque signature of a model.
const signature = "thoughtSignature"

// normal is the spelling of values without the opaque signatures of models, which agents add and
// drop, and with each number in one form: as JavaScript writes it, which agents do with whatever
// they copy.
func normal() *jsonvalue.Spelling {
	return &jsonvalue.Spelling{Without: signature, Number: normalNumber}
}

// NormalJSON returns the parts of a message in one spelling, with plain texts that follow each
// other as one; that of no parts for what is no array.
func NormalJSON(parts []byte) []byte {
	none := []byte("[]")
	list, err := jsonvalue.Elements(parts)
	if err != nil {
		end := max(0, jsonvalue.Skip(parts)) // something may follow the array
		if list, err = jsonvalue.Elements(parts[:end]); err != nil {
			return none
		}
	}
	spelling := normal()
	out := append(make([]byte, 0, len(parts)+2), '[')
	const open, close = `{"text":"`, `"}`
	run := false // out ends with a text that may go on
	for _, raw := range list {
		start := len(out)
		if start > 1 {
			out = append(out, ',')
		}
		at := len(out)
		out = spelling.AppendWithin(out, raw)
		part := out[at:]
		// In this form a member that follows "text" would end in something else.
		plain := len(part) >= len(open)+len(close) && string(part[:len(open)]) == open &&
			isText(part[len(open)-1:len(part)-1])
		if plain && run {
			text := part[len(open):]
			out = append(out[:start-len(close)], text...)
		}
		run = plain
	}
	return append(out, ']')
}

// Normal returns a value in the spelling of NormalJSON; null for what is no JSON.
func Normal(value []byte) []byte {
	out, ok := normal().Append(nil, value)
	if !ok {
		return []byte("null")
	}
	return out
}

// isText reports whether b is one JSON string.
func isText(b []byte) bool { return jsonvalue.Skip(b) == len(b) }

// normalNumber appends a number as JavaScript writes it.
func normalNumber(out, number []byte) []byte {
	if n := len(number); n <= 15 && number[0] != '-' &&
		!slices.ContainsFunc(number, func(c byte) bool { return c < '0' || c > '9' }) {
		return append(out, number...)
	}
	f, err := strconv.ParseFloat(string(number), 64)
	switch {
	case err != nil || math.IsInf(f, 0):
		return append(out, number...)
	case f == 0:
		f = 0 // also for -0
	}
	return append(out, jsonvalue.Encode(f)...)
}
