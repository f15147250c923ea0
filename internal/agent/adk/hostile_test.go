package adk

import (
	"fmt"
	"strings"
	"testing"
)

// Events that are made to be slow are read in time with their size: the test would not end if
// anything in them were compared with everything else.
func TestHostile(t *testing.T) {
	many := func(n int, f func(i int) string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = f(i)
		}
		return strings.Join(list, ",")
	}
	call := func(i int) string { return fmt.Sprintf(`{"functionCall":{"id":"%d","name":"x"}}`, i) }
	for name, in := range map[string]string{
		"fields": `{"author":"a",` +
			many(20000, func(i int) string { return fmt.Sprintf(`"f%d":1`, i) }) + "}",
		"parts": `{"author":"a","content":{"parts":[` + many(30000, call) + `]}}`,
		"thoughts": `{"author":"a","customMetadata":{"ctx":{"v":1,"hidden":[` +
			many(12000, func(i int) string { return `{"at":0,"part":{}}` }) + `]}}}`,
		"members": `{"id":"s",` +
			many(15000, func(i int) string { return fmt.Sprintf(`"m%d":1`, i) }) + `,"events":[]}`,
		"brackets": strings.Repeat("[", 1<<18) + strings.Repeat("]", 1<<18),
		"quotes":   `{"author":"` + strings.Repeat(`\"`, 1<<17) + `","actions":{}}`,
		"rewinds": many(4000,
			func(int) string {
				return `{"author":"a","actions":{"rewindBeforeInvocationId":"no"}}`
			}),
	} {
		if name == "rewinds" {
			in = "[" + in + "]"
		}
		_, now, stats := readAll(t, []byte(in), ReadOptions{Session: "s"})
		out, _ := writeAll(t, now, WriteOptions{Session: "s"})
		t.Logf("%s: %d bytes, %d messages, skipped %v, %d bytes out", name, len(in), len(now),
			stats.Skipped, len(out))
	}
}
