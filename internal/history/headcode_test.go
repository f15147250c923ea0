package history

import (
	"reflect"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// A head reads back as it was written, and what is cut short or longer is refused.
func TestHeadCode(t *testing.T) {
	h := &Head{
		Seq: 300, Time: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Model: true,
		Cluster: 7, Joined: true,
		Fork: "fork", Alone: 200, Sought: 190, Invocation: "run", Forks: []string{"a", "b"},
		ForksKnown: true,
		Had:        map[string]string{"child": "entry", "other": ""},
		Looks:      LooksVersion, Lags: true,
		Items: []Item{
			{ID: format.Sum([]byte("one")), Role: "model", Calls: []string{"c1", "c2"},
				Features: []byte{1, 2, 3}},
			{ID: format.Sum([]byte("two")), Role: "tool", Results: []string{"c1"},
				Version: "later"},
		},
	}
	for _, want := range []*Head{h, {}} {
		b, err := want.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		got := &Head{}
		if !got.decode(b) || !reflect.DeepEqual(got, want) {
			t.Errorf("read back as %+v, want %+v", got, want)
		}
		for n := range b {
			if new(Head).decode(b[:n]) {
				t.Errorf("%d of %d bytes are taken", n, len(b))
			}
		}
		if new(Head).decode(append(b, 0)) || new(Head).decode([]byte("{}")) {
			t.Error("something else is taken")
		}
	}
}
