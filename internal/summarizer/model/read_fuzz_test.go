package model

import (
	"slices"
	"testing"
)

// FuzzRead checks that every reader returns a reply or an error for any input, and the same one
// each time.
func FuzzRead(f *testing.F) {
	for _, text := range answers {
		f.Add([]byte(text))
	}
	for _, text := range []string{"", "{", "[]", "null", "[null]", `{"mcp":{"b":1,"a":2}}`,
		`[{"name":"files"}]`, `{"type":"turn.failed"}`,
		`{"error":{}}`, "{}\n{}", `{"type":"result","modelUsage":{"a":{},"b":{}}}`,
		`{"type":"result","subtype":"success","modelUsage":{"a":{"x":1},"":{}}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		for _, a := range Agents() {
			reply, err := a.read(out)
			again, other := a.read(out)
			if reply != again || (err == nil) != (other == nil) ||
				err != nil &&
					(reply != Reply{Cut: reply.Cut} || err.Error() != other.Error()) {
				t.Errorf("%s: %+v, %v, then %+v, %v", a.Name, reply, err, again, other)
			}
			if a.list == nil {
				continue
			}
			names, err := a.list.names(out)
			if !slices.IsSorted(names) && a.Name == "opencode" || err != nil && names != nil {
				t.Errorf("%s: servers %q, %v", a.Name, names, err)
			}
		}
	})
}
