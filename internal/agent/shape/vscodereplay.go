package shape

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// The kinds of lines with changes of an object.
const (
	whole  = "0" // the object
	set    = "1"
	push   = "2" // adds to a list, from an index on
	remove = "3"
)

// vscodeReplay returns a session as one object: as it is, or as lines with its changes make it.
// skipped counts the lines that make none.
func vscodeReplay(_ *Form, r io.Reader) (doc io.Reader, skipped map[string]int, err error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := jsonvalue.ParseObject(bytes.TrimSpace(b)); ok && !isChange(bytes.TrimSpace(b)) {
		return bytes.NewReader(b), nil, nil
	}
	if line, _, _ := bytes.Cut(b, []byte("\n")); !isChange(line) {
		return bytes.NewReader(b), nil, nil // the reader of objects says what is wrong
	}
	stats := transcript.NewStats()
	var state any
	err = transcript.Lines(bytes.NewReader(b), &stats, nil, true, func(o jsonvalue.Object) error {
		var path []any
		var value any
		_ = json.Unmarshal(o["k"], &path) // nothing: the object
		_ = json.Unmarshal(o["v"], &value)
		switch kind := string(o["kind"]); kind {
		case whole:
			state = value
		case set, remove, push:
			state = change(state, path, func(old any) any {
				list, isList := old.([]any)
				more, _ := value.([]any)
				if kind != push || !isList && old != nil {
					return value
				}
				at := len(list)
				if o.Has("i") {
					at = min(at, int(o.Number("i")))
				}
				return append(list[:at:at], more...)
			})
		default:
			stats.Skip(transcript.SkipUnknown, 1)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	made, err := json.Marshal(state)
	return bytes.NewReader(made), stats.Skipped, err
}

func isChange(line []byte) bool {
	o, _ := jsonvalue.ParseObject(bytes.TrimSpace(line))
	return string(o["kind"]) == whole && o.Has("v")
}

// change replaces what is at a path in a value, and returns the value. A path that leads nowhere
// changes nothing.
func change(in any, path []any, by func(old any) any) any {
	if len(path) == 0 {
		return by(in)
	}
	switch in := in.(type) {
	case map[string]any:
		if name, ok := path[0].(string); ok {
			in[name] = change(in[name], path[1:], by)
		}
	case []any:
		n, ok := path[0].(float64)
		if i := int(n); ok && i >= 0 && i < len(in) {
			in[i] = change(in[i], path[1:], by)
		} else if ok && i == len(in) && len(path) == 1 {
			return append(in, by(nil))
		}
	}
	return in
}
