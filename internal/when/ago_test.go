package when

import (
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		before time.Duration
		want   string
	}{
		{0, "just now"}, {59 * time.Second, "just now"}, {time.Minute, "1 min ago"},
		{59 * time.Minute, "59 min ago"},
		{time.Hour, "1 h ago"}, {11 * time.Hour, "11 h ago"}, {14 * time.Hour, "14 h ago"},
		{14*time.Hour + time.Second, "yesterday"},
		{38 * time.Hour, "yesterday"}, {39 * time.Hour, "2 days ago"},
		{6 * 24 * time.Hour, "6 days ago"},
		{7 * 24 * time.Hour, "2026-03-03"}, {-30 * time.Second, "just now"},
		{-48 * time.Hour, "2026-03-12"},
	} {
		if got := Ago(now.Add(-c.before), now); got != c.want {
			t.Errorf("%v before: %q, not %q", c.before, got, c.want)
		}
	}
	if got := Ago(now.Add(-8*time.Hour).Add(-15*time.Hour),
		now.Add(-12*time.Hour)); got != "11 h ago" {
		t.Errorf("in the night: %q", got)
	}
	east := now.In(time.FixedZone("", 10*60*60)) // midnight
	if got := Ago(now.Add(-12*time.Hour), east); got != "yesterday" {
		t.Errorf("before midnight in the east: %q", got)
	}
	if got := Ago(now.Add(-12*24*time.Hour), east); got != "2026-02-27" {
		t.Errorf("12 days before, in the east: %q", got)
	}
}

func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 40 * time.Second: "40 s", time.Minute: "1 min",
		89 * time.Minute: "89 min", 90 * time.Minute: "1 h",
		47 * time.Hour: "47 h", 48 * time.Hour: "2 days",
	} {
		if got := Length(d); got != want {
			t.Errorf("%v: %q, not %q", d, got, want)
		}
	}
}
