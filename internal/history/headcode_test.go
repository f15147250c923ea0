package history_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// A head reads back as it was written.
func TestHeadCode(t *testing.T) {
	h := &history.Head{
		Seq: 300, Time: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Model: true,
		Cluster: 7, Joined: true,
		Fork: "fork", Alone: 200, Sought: 190, Invocation: "run", Forks: []string{"a", "b"},
		ForksKnown: true,
		Had:        map[string]string{"child": "entry", "other": ""},
		Lags:       true,
		Items: []history.Item{
			{ID: format.Sum([]byte("one")), Role: "model", Calls: []string{"c1", "c2"},
				Features: []byte{1, 2, 3}},
			{ID: format.Sum([]byte("two")), Role: "tool", Results: []string{"c1"},
				Version: "later"},
		},
	}
	got := &history.Head{}
	if err := varint.Decode(varint.Append(nil, h.Code), got.Code); err != nil ||
		!reflect.DeepEqual(got, h) {
		t.Errorf("read back as %+v, want %+v; %v", got, h, err)
	}
}
