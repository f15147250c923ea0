package forget_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// TestForgetAnswers forgets a call, and sees whether a later message of the session goes with it:
// as the records of agents repeat what a call said, and as they do not.
func TestForgetAnswers(t *testing.T) {
	edit := `{"file_path":"/quay/lamps.go","old_string":"off","new_string":"north lamp on\nsouth"}`
	for _, c := range []struct {
		name, args, later string
		goes              bool
	}{
		{"the same text", `{"prompt":"look for the lamps"}`,
			`{"claude-code":{"toolUseResult":{"prompt":"look for the lamps"}},"thought":true}`, true},
		{"a list in it", `{"questions":[{"question":"Which lamp is it?"}]}`,
			`{"claude-code":{"toolUseResult":{"questions":[{"question":"Which lamp is it?"}]}}}`, true},
		{"lines of a diff", edit,
			`{"qwen":{"resultDisplay":{"fileDiff":"@@ -1 +1,2 @@\n-off\n+north lamp on\n+south"}}}`, true},
		{"lines with numbers", edit, `{"pi":{"details":{"diff":"-1 off\n+1 north lamp on"}}}`, true},
		{"lines apart", edit, `{"x":{"patch":[{"lines":["-off","+north lamp on"]}]}}`, true},
		{"of a patch", `{"input":"*** Begin Patch\n*** Add File: a\n+north lamp on\n*** End Patch"}`,
			`{"codex":{"before":[{"payload":{"changes":{"a":{"content":"north lamp on\n"}}}}]}}`, true},
		{"JSON in a text", edit, `{"x":"{\"new\":\"north lamp on\\nsouth\"}"}`, true},
		{"what was printed", `{"command":"echo north lamp on"}`,
			`{"text":"$ echo north lamp on\nnorth lamp on"}`, true},
		{"a key", `{"content":"LAMP=north12345"}`, `{"x":"LAMP=north12345"}`, true},
		{"the path alone", edit,
			`{"claude-code":{"toolUseResult":{"filePath":"/quay/lamps.go"}}}`, false},
		{"a name alone", `{"mode":"files_with_matches"}`, `{"x":"files_with_matches"}`, false},
		{"a short text", `{"command":"ls -la"}`, `{"x":"ls -la"}`, false},
		{"other words", edit, `{"x":"it is done, as it should be"}`, false},
	} {
		for _, id := range []string{"c1", "c2"} { // the call that the later message names
			t.Run(c.name+" of "+id, func(t *testing.T) {
				s := kit.Create(t)
				result := `{"functionResponse":{"id":"` + id +
					`","name":"edit","response":{"output":"It is done, sir."}}}`
				ids := appendAll(t, s,
					`[{"functionCall":{"id":"c1","name":"edit","args":`+c.args+`}},`+
						`{"functionCall":{"id":"c2","name":"edit","args":{}}}]`,
					`[`+result+`,`+c.later+`]`, `[{"text":"north lamp on"}]`)
				report := storetest.Must[forget.Report](t)(
					forget.Run(context.Background(), s.Opened, forget.Options{IDs: ids[:1]}))
				goes := c.goes && id == "c1"
				if (report.Kinds[ids[1]] != "") != goes || report.Kinds[ids[2]] != "" {
					t.Fatalf("%+v", report.Kinds)
				}
				// The same result of another call stays; the record of this one does not come back.
				done := kit.Must2(t)(s.Conversation.Append(context.Background(), "late",
					history.MainBranch, []conversation.Message{
						{Role: "tool", Text: "It is done, sir."},
						{Role: "tool", Text: "again", Source: source(1)}},
					conversation.AppendOptions{}))
				if done[0].Forgotten || done[1].Forgotten != goes {
					t.Errorf("late: %+v", done)
				}
			})
		}
	}
}

func source(i int) *conversation.Source {
	return &conversation.Source{Agent: "quay", Session: "s", Message: fmt.Sprint(i)}
}

// appendAll appends messages of the model and of tools in turn, and returns their ids.
func appendAll(t *testing.T, s *session.Store, parts ...string) (ids []format.ID) {
	t.Helper()
	for i, p := range parts {
		role := "model"
		if i%2 == 1 {
			role = "tool"
		}
		kit.Must2(t)(s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			[]conversation.Message{{Role: role, Parts: []byte(p), Source: source(i)}},
			conversation.AppendOptions{}))
	}
	log := storetest.Must[[]*history.Shown](t)(s.Recall.Log(
		storetest.View(t, s).Get("sessions/talk/main").ID, recall.LogOptions{}))
	for _, shown := range log {
		ids = append(ids, shown.ID)
	}
	return ids
}
