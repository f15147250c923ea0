package session

import (
	"context"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/session/view"
)

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
