package sessions_test

import (
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/sessions"
)

func TestSpokeLast(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 2, 3, 8, minute, 0, 0, time.UTC) }
	for name, row := range map[string]struct {
		list []sessions.Speaker
		want string
	}{
		"no session": {nil, ""},
		"the person, not the agent": {[]sessions.Speaker{
			{Session: "a", Spoke: at(1), Last: at(9)}, {Session: "b", Spoke: at(2), Last: at(3)},
		}, "b"},
		"a subagent's prompt": {[]sessions.Speaker{
			{Session: "a", Spoke: at(1), Last: at(2)},
			{Session: "b", Spoke: at(5), Last: at(6), Works: true},
		}, "a"},
		"another store": {[]sessions.Speaker{
			{Session: "a", Spoke: at(1), Last: at(2)},
			{Session: "b@desk", Spoke: at(5), Last: at(6), Shared: true},
		}, "a"},
		"nobody spoke in one": {[]sessions.Speaker{
			{Session: "a", Spoke: at(1), Last: at(1)}, {Session: "b", Last: at(6)},
		}, "a"},
		"nobody spoke at all": {[]sessions.Speaker{
			{Session: "a", Last: at(1)}, {Session: "b", Last: at(6)},
		}, "b"},
		"only subagents": {[]sessions.Speaker{{Session: "a", Spoke: at(1), Works: true}}, ""},
		"a clock that was wrong": {[]sessions.Speaker{
			{Session: "a", Spoke: at(1)}, {Session: "b", Spoke: at(1000)},
		}, "a"},
		"clocks that were all wrong": {[]sessions.Speaker{
			{Session: "a", Spoke: at(1000)}, {Session: "b", Spoke: at(1001)}, {Session: "c"},
		}, "b"},
		"at once": {[]sessions.Speaker{
			{Session: "b", Spoke: at(1), Last: at(1)}, {Session: "a", Spoke: at(1), Last: at(1)},
		}, "a"},
	} {
		if got := sessions.SpokeLast(row.list, at(59)); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestNextHead(t *testing.T) {
	there := func(session string) sessions.Head {
		return sessions.Head{Session: session, There: true}
	}
	chosen := func(session string) sessions.Head {
		return sessions.Head{Session: session, There: true, Chosen: true}
	}
	for name, row := range map[string]struct {
		head        sessions.Head
		spoke, want string
	}{
		"nothing was said":      {there("a"), "a", ""},
		"nobody spoke":          {there("a"), "", ""},
		"HEAD follows":          {there("a"), "b", "b"},
		"chosen":                {chosen("a"), "b", ""},
		"chosen, and spoken in": {chosen("a"), "a", ""},
		"no HEAD":               {sessions.Head{}, "a", "a"},
		"its session is gone":   {sessions.Head{Session: "a", Chosen: true}, "b", "b"},
	} {
		if got := sessions.NextHead(row.head, row.spoke); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
