package jsonl

import "testing"

// FuzzLoopLine: any line is an event or an error, and no event is larger than its line.
func FuzzLoopLine(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `[1]`, `{`, `null`, ``,
		`{"text":"a","partial":true}`,
		`{"call":{"id":"c1","name":"run","args":{"a":[1,{"b":"\u0000"}]}}}`, `{"call":null}`,
		`{"text":null,"call":{}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := (&Deltas{Unknown: map[string]int{}}).decode(line)
		if err == nil &&
			(len(e.text) > 3*len(line) || len(e.args) > len(line) || len(e.name) > 3*len(line)) {
			t.Errorf("%q: %+v", line, e)
		}
	})
}
