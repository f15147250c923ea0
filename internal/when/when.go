// Package when parses expressions of time that people use. It is pure: a text and the current time
// go in, a span of time comes out, in the zone of that time. Begin with Parse.
package when

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Span is the time from Start up to, but not including, End. For a moment, Start and End are equal.
type Span struct{ Start, End time.Time }

// Has reports whether a moment is in the span. A zero Start or End is no bound.
func (s Span) Has(t time.Time) bool {
	return !t.Before(s.Start) && (s.End.IsZero() || t.Before(s.End))
}

// IsZero reports whether the span has no bound.
func (s Span) IsZero() bool { return s == Span{} }

// ErrNoTime says that Parse does not know an expression.
var ErrNoTime = errors.New("no time")

// Examples lists expressions that Parse knows, for error messages.
const Examples = "2026-03-01, 2026-03-01T09:00:00Z, yesterday, 2 days ago, last week or 3h"

// written are the forms in which ctx itself prints moments.
var written = [...]string{
	time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04",
}

// Parse parses these expressions, in any case:
//
//   - a moment: RFC 3339, as ctx prints it, "now", or a time ago: "3h", "90m", "2d", "1w", "3 hours
//     ago", "10 minutes ago";
//   - a day: 2026-03-01, "today", "yesterday", "2 days ago", or the last "monday" before today;
//   - a week from Monday to Sunday, a month or a year: "this week", "last month", "2 weeks ago", "a
//     year ago", 2026-03;
//   - what git takes for these: 2.weeks.ago, "2 weeks".
//
// Days begin at midnight in the zone of now, which is also that of a moment without one. It returns
// ErrNoTime for anything else.
func Parse(text string, now time.Time) (Span, error) {
	zone := now.Location()
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return moment(t), nil
	}
	for _, layout := range written {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return moment(t), nil
		}
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return day(t), nil
	}
	if t, err := time.ParseInLocation("2006-01", text, zone); err == nil {
		return Span{t, t.AddDate(0, 1, 0)}, nil
	}
	words := strings.Fields(strings.ReplaceAll(strings.ToLower(text), ".", " "))
	if n := len(words); n == 2 && words[0] != "this" && words[0] != "last" {
		words = append(words, "ago") // as git takes 2.weeks
	}
	switch len(words) {
	case 1:
		return parseWord(words[0], now)
	case 2:
		switch words[0] {
		case "this":
			return calendar(words[1], 0, now)
		case "last":
			return calendar(words[1], 1, now)
		}
	case 3:
		if n, ok := number(words[0]); ok && words[2] == "ago" {
			return ago(n, strings.TrimSuffix(words[1], "s"), now)
		}
	}
	return Span{}, ErrNoTime
}

func moment(t time.Time) Span { return Span{t, t} }

// day returns the day that begins at t.
func day(t time.Time) Span { return Span{t, t.AddDate(0, 0, 1)} }

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

func parseWord(word string, now time.Time) (Span, error) {
	today := midnight(now)
	switch word {
	case "now":
		return moment(now), nil
	case "today":
		return day(today), nil
	case "yesterday":
		return day(today.AddDate(0, 0, -1)), nil
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := strings.ToLower(d.String()); word == name || word == name[:3] {
			back := (int(today.Weekday()) - int(d) + 6) % 7
			return day(today.AddDate(0, 0, -back-1)), nil
		}
	}
	i := len(word) - 1
	n, ok := number(word[:i])
	if !ok {
		return Span{}, ErrNoTime
	}
	switch word[i] {
	case 'm':
		return moment(now.Add(-time.Duration(n) * time.Minute)), nil
	case 'h':
		return moment(now.Add(-time.Duration(n) * time.Hour)), nil
	case 'd':
		return moment(now.AddDate(0, 0, -n)), nil
	case 'w':
		return moment(now.AddDate(0, 0, -7*n)), nil
	}
	return Span{}, ErrNoTime
}

// ago returns the time n units ago: a moment for units shorter than a day, else the whole day,
// week, month or year.
func ago(n int, unit string, now time.Time) (Span, error) {
	switch unit {
	case "minute", "min":
		return moment(now.Add(-time.Duration(n) * time.Minute)), nil
	case "hour":
		return moment(now.Add(-time.Duration(n) * time.Hour)), nil
	case "day":
		return day(midnight(now).AddDate(0, 0, -n)), nil
	}
	return calendar(unit, n, now)
}

// calendar returns the week, month or year that is n units before the current one. With n = 1 it
// also knows the names of weekdays.
func calendar(unit string, n int, now time.Time) (Span, error) {
	today := midnight(now)
	switch unit {
	case "week":
		monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7-7*n)
		return Span{monday, monday.AddDate(0, 0, 7)}, nil
	case "month":
		first := time.Date(now.Year(), now.Month()-time.Month(n), 1, 0, 0, 0, 0, now.Location())
		return Span{first, first.AddDate(0, 1, 0)}, nil
	case "year":
		first := time.Date(now.Year()-n, 1, 1, 0, 0, 0, 0, now.Location())
		return Span{first, first.AddDate(1, 0, 0)}, nil
	}
	if n == 1 && strings.HasSuffix(unit, "day") {
		return parseWord(unit, now)
	}
	return Span{}, ErrNoTime
}

// maxUnits keeps times within the range of time.Duration.
const maxUnits = 100_000

func number(word string) (int, bool) {
	if word == "a" || word == "an" || word == "one" {
		return 1, true
	}
	n, err := strconv.Atoi(word)
	return n, err == nil && n >= 0 && n <= maxUnits && word[0] != '+'
}

// Ago says how long before now a time is, for a person: "just now", "5 min ago", "3 h ago",
// "yesterday", "4 days ago", and from a week on the day. A time after now is its day, too. Days are
// those of the zone of now.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	t = t.In(now.Location())
	days := int(dayOf(now).Sub(dayOf(t)).Hours() / 24)
	switch {
	case d < -time.Minute, days >= 7:
		return t.Format(time.DateOnly)
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 12*time.Hour, days == 0:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case days == 1:
		return "yesterday"
	}
	return fmt.Sprintf("%d days ago", days)
}

// dayOf returns the day of a time as one of UTC, where each has 24 hours.
func dayOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// Length says how long something took, for a person: "40 s", "12 min", "3 h", "5 days".
func Length(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(max(d, 0).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
