package view

import (
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// A call stands still once all calls of its answer have their results, or never will.
func TestAnswered(t *testing.T) {
	said := Message{Role: "user", Text: "go on"}
	calls := func(ids ...string) Message {
		m := Message{Role: "model"}
		for _, id := range ids {
			m.Calls = append(m.Calls, format.Call{ID: id})
		}
		return m
	}
	result := func(ids ...string) Message { return Message{Role: "user", Results: ids} }
	for _, c := range []struct {
		name string
		list []Message
		want int
	}{
		{"nothing", nil, 0},
		{"a prompt", []Message{said}, 1},
		{"a call waits", []Message{said, calls("a")}, 1},
		{"it is answered", []Message{said, calls("a"), result("a")}, 3},
		{"one of two waits", []Message{said, calls("a", "b"), result("a")}, 1},
		{"one of two messages waits", []Message{said, calls("a"), calls("b"), result("b")}, 1},
		{"words behind it wait, too", []Message{said, calls("a"), {Role: "model", Text: "x"}}, 1},
		{"the next call waits", []Message{said, calls("a"), result("a"), calls("b")}, 3},
		{"a call that was left", []Message{said, calls("a", "b"), result("a"), calls("c"),
			result("c")}, 5},
		{"a prompt ends it", []Message{said, calls("a"), said}, 3},
		{"nothing before it", []Message{calls("a")}, 1},
	} {
		if got := Answered(c.list); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
