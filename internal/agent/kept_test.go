package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// CheckKept reads a transcript of JSON lines, or a JSON list, and checks that each of its strings
// comes back in a message, or in pieces that follow each other. Strings of records behind the last
// message wait for the next one: the transcript must end with a message. dropped are strings that
// need not come back, such as the type of a record that follows from the role of its message.
func (f *Format) CheckKept(t testing.TB, data []byte, dropped ...string) {
	t.Helper()
	steps, _, stats := f.Steps(t, data)
	have := map[string]bool{}
	for _, s := range append(dropped, stats.Session, "") {
		have[s] = true
	}
	for i := range steps {
		m := &steps[i].Message
		for _, s := range []string{m.Text, m.Author, m.Origin.Session, m.Origin.Message,
			transcript.Stamp(m.Time)} {
			have[s] = true
		}
		eachString(m.Parts, func(s string) {
			have[s] = true
			have[string(jsonvalue.Encode(s))] = true // what was encoded twice
		})
	}
	pieces := make([]string, 0, len(have))
	for s := range have {
		pieces = append(pieces, s)
	}
	slices.Sort(pieces)
	records := strings.Lines(string(data))
	if json.Valid(data) { // one document
		records = slices.Values([]string{string(data)})
	}
	for record := range records {
		eachString([]byte(record), func(s string) {
			if !have[s] && !composed(s, pieces) {
				t.Errorf("%.200q does not come back", s)
			}
		})
	}
}

// eachString calls do for each string in a JSON value, names of members apart.
func eachString(value []byte, do func(string)) {
	if len(value) == 0 {
		return
	}
	var v any
	if json.Unmarshal(value, &v) == nil {
		walkStrings(v, do)
	}
}

func walkStrings(v any, do func(string)) {
	switch v := v.(type) {
	case string:
		do(v)
	case []any:
		for _, in := range v {
			walkStrings(in, do)
		}
	case map[string]any:
		for _, in := range v {
			walkStrings(in, do)
		}
	}
}

// composed reports whether a text is made of several pieces.
func composed(s string, pieces []string) bool {
	ends := map[int]bool{0: true}
	for at := 0; at < len(s); at++ {
		if !ends[at] {
			continue
		}
		for _, p := range pieces {
			if p != "" && strings.HasPrefix(s[at:], p) {
				ends[at+len(p)] = true
			}
		}
	}
	return ends[len(s)]
}
