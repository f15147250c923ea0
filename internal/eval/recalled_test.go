package eval

import (
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
)

// spoken is a transcript of prompts and answers in turns, which began at an hour of a day.
func spoken(name string, hour int, said ...string) sets.Transcript {
	t := sets.Transcript{Name: name, Agent: claudecode.Agent}
	parent := "null"
	for i, text := range said {
		kind := [...]string{"user", "assistant"}[i%2]
		id := fmt.Sprintf(`"%s-%d"`, name, i)
		t.Data = fmt.Appendf(t.Data, `{"parentUuid":%s,"sessionId":%q,"type":%q,"message":{"role":%q,`+
			`"content":[{"type":"text","text":%q}]},"uuid":%s,"timestamp":"2026-02-03T%02d:00:%02d.000Z"}`+
			"\n", parent, name, kind, kind, text, id, hour, i)
		parent = id
	}
	return t
}

func TestRecalled(t *testing.T) {
	lamps := sets.Set{Name: "lamps", Transcripts: []sets.Transcript{
		// Later than the other one, which knows nothing of it
		spoken("b", 9, "trimWick drops a lamp again", "I look at lamp_oil.go.", "yes", "Done."),
		spoken("a", 8, "Why does trimWick lose the last lamp?", "It counted from one in lamp_oil.go."),
	}}
	pianos := sets.Set{Name: "pianos", Transcripts: []sets.Transcript{
		spoken("c", 8, "Why is trimString out of tune?", "It is old."),
	}}
	r := run(t, Options{Only: []string{"recall"}}, lamps, pianos)
	rows := r.Sets[0].Recalled
	if len(rows) != 4 {
		t.Fatalf("%+v", rows)
	}
	for i, want := range [...]struct{ n, given, held int }{
		{1, 0, 0}, {2, 1, 1}, {1, 0, 0}, {0, 0, 0}} {
		if got := rows[i]; got.N != want.n || got.Given != want.given || got.Held != want.held ||
			got.Most > 400 {
			t.Errorf("row %d: %+v, want %+v", i, got, want)
		}
	}
}
