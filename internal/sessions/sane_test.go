package sessions_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/internal/when"
)

func TestSane(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		at   time.Time
		want bool
	}{
		{time.Time{}, true}, {now, true}, {now.Add(5 * time.Minute), true},
		{now.Add(time.Hour), false}, {now.AddDate(80, 0, 0), false},
		{now.In(time.FixedZone("", 14*3600)), true},
	} {
		if got := sessions.Sane(row.at, now); got != row.want {
			t.Errorf("%v: %v", row.at, got)
		}
	}
}

// A message of a clock that was wrong makes no session the newest: in a list, in a brief, for HEAD,
// or in a log. Once the clock gets there, the time counts.
func TestClockAhead(t *testing.T) {
	s := storetest.Create(t)
	now := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	s.History.Now = func() time.Time { return now }
	say := func(session string, at time.Time) {
		t.Helper()
		m := conversation.Message{Role: "user", Text: "said at " + at.String(), Time: at}
		if _, _, err := s.Conversation.Append(context.Background(), session, history.MainBranch,
			[]conversation.Message{m}, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ahead := now.AddDate(3, 0, 0)
	say("wrong", now.Add(-3*time.Hour))
	say("wrong", ahead)
	say("all-wrong", ahead.Add(time.Hour))
	say("right", now.Add(-time.Hour))
	v, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	check := func(head string, want ...string) {
		t.Helper()
		list, err := s.Recall.Overviews(v)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range list {
			got = append(got, list[i].Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("sessions %q, not %q", got, want)
		}
		briefs, err := s.Recall.ProjectBrief(v, "", brief.Options{Room: 4000, Cost: view.BriefCost})
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		for i := range briefs {
			got = append(got, briefs[i].Session)
		}
		if !slices.Equal(got, want) {
			t.Errorf("briefs of %q, not %q", got, want)
		}
		if next, err := s.Recall.FollowPerson(v, v); err != nil || next != head {
			t.Errorf("HEAD goes to %q, not %q: %v", next, head, err)
		}
	}
	// The first session that is made is HEAD.
	check("right", "right", "wrong", "all-wrong")
	check("right", "right", "wrong", "all-wrong") // from the cache
	tip := v.Get(history.RefName("wrong", history.MainBranch)).ID
	for since, want := range map[time.Duration]int{2 * time.Hour: 0, 4 * time.Hour: 2} {
		list, err := s.Recall.Log(tip, recall.LogOptions{Within: when.Span{Start: now.Add(-since)}})
		if err != nil || len(list) != want {
			t.Errorf("%d messages of the last %v, not %d: %v", len(list), since, want, err)
		}
	}
	now = ahead.Add(2 * time.Hour)
	check("all-wrong", "all-wrong", "wrong", "right")
}
