package when_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/when"
)

// now is a Wednesday.
var now = time.Date(2026, 3, 4, 15, 30, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01T09:00:00Z":        "2026-03-01T09:00:00Z/2026-03-01T09:00:00Z",
		"2026-03-01T09:00:00.5+01:00": "2026-03-01T08:00:00.5Z/2026-03-01T08:00:00.5Z",
		"2026-03-01 09:00:07":         "2026-03-01T09:00:07Z/2026-03-01T09:00:07Z",
		"2026-03-01 09:00":            "2026-03-01T09:00:00Z/2026-03-01T09:00:00Z",
		"2026-03-01T09:00":            "2026-03-01T09:00:00Z/2026-03-01T09:00:00Z",
		"2.weeks.ago":                 "2026-02-16T00:00:00Z/2026-02-23T00:00:00Z",
		"2.days":                      "2026-03-02T00:00:00Z/2026-03-03T00:00:00Z",
		"2 hours":                     "2026-03-04T13:30:00Z/2026-03-04T13:30:00Z",
		"2026-03-01":                  "2026-03-01T00:00:00Z/2026-03-02T00:00:00Z",
		"2026-02":                     "2026-02-01T00:00:00Z/2026-03-01T00:00:00Z",
		"now":                         "2026-03-04T15:30:00Z/2026-03-04T15:30:00Z",
		"today":                       "2026-03-04T00:00:00Z/2026-03-05T00:00:00Z",
		" Yesterday ":                 "2026-03-03T00:00:00Z/2026-03-04T00:00:00Z",
		"2 days ago":                  "2026-03-02T00:00:00Z/2026-03-03T00:00:00Z",
		"1 day ago":                   "2026-03-03T00:00:00Z/2026-03-04T00:00:00Z",
		"a day ago":                   "2026-03-03T00:00:00Z/2026-03-04T00:00:00Z",
		"3h":                          "2026-03-04T12:30:00Z/2026-03-04T12:30:00Z",
		"3 hours ago":                 "2026-03-04T12:30:00Z/2026-03-04T12:30:00Z",
		"an hour ago":                 "2026-03-04T14:30:00Z/2026-03-04T14:30:00Z",
		"90m":                         "2026-03-04T14:00:00Z/2026-03-04T14:00:00Z",
		"10 minutes ago":              "2026-03-04T15:20:00Z/2026-03-04T15:20:00Z",
		"2d":                          "2026-03-02T15:30:00Z/2026-03-02T15:30:00Z",
		"1w":                          "2026-02-25T15:30:00Z/2026-02-25T15:30:00Z",
		"this week":                   "2026-03-02T00:00:00Z/2026-03-09T00:00:00Z",
		"last week":                   "2026-02-23T00:00:00Z/2026-03-02T00:00:00Z",
		"2 weeks ago":                 "2026-02-16T00:00:00Z/2026-02-23T00:00:00Z",
		"this month":                  "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z",
		"last month":                  "2026-02-01T00:00:00Z/2026-03-01T00:00:00Z",
		"3 months ago":                "2025-12-01T00:00:00Z/2026-01-01T00:00:00Z",
		"last year":                   "2025-01-01T00:00:00Z/2026-01-01T00:00:00Z",
		"monday":                      "2026-03-02T00:00:00Z/2026-03-03T00:00:00Z",
		"wednesday":                   "2026-02-25T00:00:00Z/2026-02-26T00:00:00Z",
		"last tue":                    "", // after "last" a weekday must be written out
		"last thursday":               "2026-02-26T00:00:00Z/2026-02-27T00:00:00Z",
		"sun":                         "2026-03-01T00:00:00Z/2026-03-02T00:00:00Z",
		"":                            "",
		"h":                           "",
		"d":                           "",
		"-3h":                         "",
		"+3h":                         "",
		"99999999999h":                "",
		"2 fortnights ago":            "",
		"last":                        "",
		"next week":                   "",
		"2026-13-01":                  "",
		"2026-02-30":                  "",
		"yesterday at noon":           "",
		"é":                           "",
	} {
		got, err := when.Parse(text, now)
		if want == "" {
			if !errors.Is(err, when.ErrNoTime) {
				t.Errorf("%q: %v, %v", text, got, err)
			}
			continue
		}
		if s := got.Start.UTC().Format(time.RFC3339Nano) + "/" +
			got.End.UTC().Format(time.RFC3339Nano); err != nil || s != want {
			t.Errorf("%q: %s, %v, want %s", text, s, err, want)
		}
	}
}

// Months are counted from their first days, so the month before one of 31 days is not the same
// month.
func TestMonthBeforeALongDay(t *testing.T) {
	got, err := when.Parse("last month", time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC))
	if err != nil || got.Start != time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"2 days ago", "3h", "last week", "2026-03-01", "monday", "a w ago"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := when.Parse(text, now)
		if err == nil && got.End.Before(got.Start) {
			t.Fatalf("%q: %v", text, got)
		}
	})
}

// Days are those of the zone of now; a text with a zone of its own keeps it.
func TestParseZone(t *testing.T) {
	for _, c := range []struct {
		east       time.Duration
		text, want string
	}{
		{9 * time.Hour, "today", "2026-03-04T15:00:00Z/2026-03-05T15:00:00Z"},
		{9 * time.Hour, "yesterday", "2026-03-03T15:00:00Z/2026-03-04T15:00:00Z"},
		{9 * time.Hour, "thursday", "2026-02-25T15:00:00Z/2026-02-26T15:00:00Z"},
		{9 * time.Hour, "2026-03-05", "2026-03-04T15:00:00Z/2026-03-05T15:00:00Z"},
		{9 * time.Hour, "2026-03-05 00:30", "2026-03-04T15:30:00Z/2026-03-04T15:30:00Z"},
		{9 * time.Hour, "2026-03-05T00:30:00Z", "2026-03-05T00:30:00Z/2026-03-05T00:30:00Z"},
		{9 * time.Hour, "this month", "2026-02-28T15:00:00Z/2026-03-31T15:00:00Z"},
		{9 * time.Hour, "last year", "2024-12-31T15:00:00Z/2025-12-31T15:00:00Z"},
		{-8 * time.Hour, "today", "2026-03-04T08:00:00Z/2026-03-05T08:00:00Z"},
		{-8 * time.Hour, "3h", "2026-03-04T12:30:00Z/2026-03-04T12:30:00Z"},
	} {
		zone := time.FixedZone("", int(c.east.Seconds()))
		span, err := when.Parse(c.text, now.In(zone))
		got := span.Start.UTC().Format(time.RFC3339) + "/" + span.End.UTC().Format(time.RFC3339)
		if err != nil || got != c.want {
			t.Errorf("%q at %v: %s, %v, not %s", c.text, c.east, got, err, c.want)
		}
	}
}
