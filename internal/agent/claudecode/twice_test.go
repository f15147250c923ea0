package claudecode

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// A transcript whose records are too many to be kept is read twice, to the same steps.
func TestReadTwice(t *testing.T) {
	b, err := os.ReadFile("testdata/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	user := func(id, parent string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"sessionId":"s","type":"user","message":{"role":"user",`+
			`"content":"1"},"uuid":%q,"timestamp":"2026-02-03T08:00:00.000Z"}`+"\n", parent, id)
	}
	in := string(b) + "{\n" + user("x", "null") + user("y", `"x"`) + user("z", `"x"`) + `{"torn`
	var want string
	for _, room := range []int{maxKept, 0, 5000} {
		var steps []transcript.Step
		stats, err := readWithin(room, "", strings.NewReader(in), func(st transcript.Step) error {
			st.Tree = nil
			steps = append(steps, st)
			return nil
		}, func(*reader) error { return nil })
		got := fmt.Sprintf("%+v %+v %v", steps, stats, err)
		if want == "" {
			want = got
		}
		if got != want || err != nil || len(steps) == 0 {
			t.Errorf("within %d bytes: got\n%.2000s\nwant\n%.2000s", room, got, want)
		}
	}
}
