package agent

import (
	"strings"
	"testing"
)

// An item that has grown is the same message, in a newer version.
func TestContinueGrows(t *testing.T) {
	const before, after = `"The north one."`, `"The north one, and"`
	data := string(continues.Fixtures(t)["session.json"])
	first, _, _ := continues.Steps(t, []byte(data))
	second, _, _ := continues.Steps(t, []byte(strings.Replace(data, before, after, 1)))
	if len(first) != len(second) {
		t.Fatalf("%d steps, then %d", len(first), len(second))
	}
	for i := range first {
		if first[i].Message.Origin != second[i].Message.Origin {
			t.Errorf("%v is now %v", first[i].Message.Origin, second[i].Message.Origin)
		}
	}
}
