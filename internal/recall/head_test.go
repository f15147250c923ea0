package recall_test

import (
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/recall"
)

func TestSpokeLast(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 2, 3, 8, minute, 0, 0, time.UTC) }
	for name, row := range map[string]struct {
		list []recall.Speaker
		want string
	}{
		"no session": {nil, ""},
		"the person, not the agent": {[]recall.Speaker{
			{Session: "a", Spoke: at(1), Last: at(9)}, {Session: "b", Spoke: at(2), Last: at(3)},
		}, "b"},
		"a subagent's prompt": {[]recall.Speaker{
			{Session: "a", Spoke: at(1), Last: at(2)},
			{Session: "b", Spoke: at(5), Last: at(6), Works: true},
		}, "a"},
		"another store": {[]recall.Speaker{
			{Session: "a", Spoke: at(1), Last: at(2)},
			{Session: "b@desk", Spoke: at(5), Last: at(6), Shared: true},
		}, "a"},
		"nobody spoke in one": {[]recall.Speaker{
			{Session: "a", Spoke: at(1), Last: at(1)}, {Session: "b", Last: at(6)},
		}, "a"},
		"nobody spoke at all": {[]recall.Speaker{
			{Session: "a", Last: at(1)}, {Session: "b", Last: at(6)},
		}, "b"},
		"only subagents": {[]recall.Speaker{{Session: "a", Spoke: at(1), Works: true}}, ""},
		"a clock that was wrong": {[]recall.Speaker{
			{Session: "a", Spoke: at(1)}, {Session: "b", Spoke: at(1000)},
		}, "a"},
		"clocks that were all wrong": {[]recall.Speaker{
			{Session: "a", Spoke: at(1000)}, {Session: "b", Spoke: at(1001)}, {Session: "c"},
		}, "b"},
		"at once": {[]recall.Speaker{
			{Session: "b", Spoke: at(1), Last: at(1)}, {Session: "a", Spoke: at(1), Last: at(1)},
		}, "a"},
	} {
		if got := recall.SpokeLast(row.list, at(59)); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestNextHead(t *testing.T) {
	there := func(session string) recall.Head { return recall.Head{Session: session, There: true} }
	chosen := func(session string) recall.Head {
		return recall.Head{Session: session, There: true, Chosen: true}
	}
	for name, row := range map[string]struct {
		head        recall.Head
		spoke, want string
	}{
		"nothing was said":      {there("a"), "a", ""},
		"nobody spoke":          {there("a"), "", ""},
		"HEAD follows":          {there("a"), "b", "b"},
		"chosen":                {chosen("a"), "b", ""},
		"chosen, and spoken in": {chosen("a"), "a", ""},
		"no HEAD":               {recall.Head{}, "a", "a"},
		"its session is gone":   {recall.Head{Session: "a", Chosen: true}, "b", "b"},
	} {
		if got := recall.NextHead(row.head, row.spoke); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
