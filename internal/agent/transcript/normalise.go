package transcript

import (
	"encoding/json"
	"math"
	"strconv"
)

// Normalise returns a copy of a decoded JSON value without the opaque signatures of models, which
// agents add and drop, and with each number in one form: as JavaScript writes it, which agents do
// with whatever they copy.
func Normalise(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if name != "thoughtSignature" {
				out[name] = Normalise(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = Normalise(value)
		}
		return out
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		switch {
		case err != nil || math.IsInf(f, 0):
			return v
		case f == 0:
			return 0.0 // also for -0
		}
		return f
	}
	return v
}

// NormalParts returns decoded parts as Normalise does, with plain texts that follow each other as
// one.
func NormalParts(parts []any) (out []any) {
	var run *string // the text that may go on
	for _, part := range parts {
		v := Normalise(part)
		m, _ := v.(map[string]any)
		text, ok := m["text"].(string)
		if !ok || len(m) != 1 {
			out, run = append(out, v), nil
		} else if run != nil {
			*run += text
		} else {
			run = &text
			out = append(out, map[string]*string{"text": run})
		}
	}
	return out
}
