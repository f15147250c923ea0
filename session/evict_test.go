package session

import (
	"context"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/session/view"
)

func TestPlainText(t *testing.T) {
	for _, tt := range []struct{ parts, want string }{
		{`[{"text":"Running."},{"thought":true,"text":"hm"},{"functionCall":{"name":"run_shell_command","args":{"command":"go test ./...","dir":"x"}}}]`,
			"Running.\n$ go test ./..."},
		{`[{"functionCall":{"name":"read_file","args":{"path":"a.go","limit":5}}}]`, "[call read_file] limit: 5\npath: a.go"},
		{`[{"functionResponse":{"name":"n","response":{"output":"FAIL\nexit status 2"}}}]`, "FAIL\nexit status 2"},
		{`[{"functionResponse":{"name":"n","response":{"output":"a\nb","exitCode":3,"error":null}}}]`, "exitCode: 3\na\nb"},
		{`[{"functionResponse":{"name":"n","response":[{"k":["x","y"]}]}}]`, "k: x\nk: y"},
		{`[{"functionCall":{"name":"n"}}]`, "[call n] "},
		{`[{"functionResponse":{"name":"n","response":` + strings.Repeat("[", 9) + strings.Repeat("]", 9) + `}}]`, "[]"},
		{`{"not":"an array"}`, "as it is"},
	} {
		if got := plainText(&Shown{Parts: []byte(tt.parts), Text: "as it is"}); got != tt.want {
			t.Errorf("%s\n got %q\nwant %q", tt.parts, got, tt.want)
		}
	}
	if got := plainText(&Shown{Text: "plain"}); got != "plain" {
		t.Errorf("got %q", got)
	}
}

// Under a budget what was evicted is rendered beside the rest.
func TestRenderEvicted(t *testing.T) {
	s := create(t, small...)
	for _, topic := range topics {
		for range 3 {
			say(t, s, "talk", "user", strings.ReplaceAll(topic, "%d", "7"))
		}
	}
	for range 8 {
		say(t, s, "talk", "user", "the weather is fine today")
	}
	compact(t, s, "talk")
	v := s.mustView(t)
	for _, c := range must[[]ClusterInfo](t)(s.Clusters(v)) {
		if c.Tombstone.IsZero() {
			must[Evicted](t)(s.Evict(context.Background(), c.ID))
		}
	}
	compact(t, s, "talk")
	for budget, want := range map[int]bool{0: false, 900: true} {
		o := view.Options{Budget: budget}
		in := must[view.Input](t)(s.RenderInput(s.mustView(t), "talk", MainBranch, o))
		if len(in.Tombstones) == 0 {
			t.Fatal("nothing is evicted")
		}
		out := string(must[view.Output](t)(view.Render(in, o)).Bytes)
		if got := strings.Contains(out, "postgres migration schema port 7"); got != want {
			t.Errorf("budget %d: %v in\n%s", budget, got, out)
		}
	}
}
