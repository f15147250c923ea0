// Package when reads times as people write them.
//
// It is pure: words and the time of now in, a span of time out. All times are UTC.
package when

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Span is the time from Start up to, not including, End. For a moment both are the same.
type Span struct{ Start, End time.Time }

// ErrNoTime says that words are no time that Parse knows.
var ErrNoTime = errors.New("no time")

// Examples is for error messages: what Parse reads.
const Examples = "2026-03-01, 2026-03-01T09:00:00Z, yesterday, 2 days ago, last week or 3h"

// Parse reads, in any case:
//
//   - a moment: RFC 3339, "now", or how long ago: "3h", "90m", "2d", "1w", "3 hours ago", "10 minutes ago";
//   - a day: 2026-03-01, "today", "yesterday", "2 days ago", or the last "monday" before today;
//   - a week from Monday to Sunday, a month or a year: "this week", "last month", "2 weeks ago", "a year ago", 2026-03.
//
// ErrNoTime for anything else.
func Parse(text string, now time.Time) (Span, error) {
	now = now.UTC()
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return moment(t.UTC()), nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return day(t), nil
	}
	if t, err := time.Parse("2006-01", text); err == nil {
		return Span{t, t.AddDate(0, 1, 0)}, nil
	}
	words := strings.Fields(strings.ToLower(text))
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

// day is the day that begins at t.
func day(t time.Time) Span { return Span{t, t.AddDate(0, 0, 1)} }

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
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

// ago is a unit so many units ago: a moment where the unit is shorter than a day.
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

// calendar is the week, month or year so many of them before the one that now is in, or the last
// weekday of a name.
func calendar(unit string, n int, now time.Time) (Span, error) {
	today := midnight(now)
	switch unit {
	case "week":
		monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7-7*n)
		return Span{monday, monday.AddDate(0, 0, 7)}, nil
	case "month":
		first := time.Date(now.Year(), now.Month()-time.Month(n), 1, 0, 0, 0, 0, time.UTC)
		return Span{first, first.AddDate(0, 1, 0)}, nil
	case "year":
		first := time.Date(now.Year()-n, 1, 1, 0, 0, 0, 0, time.UTC)
		return Span{first, first.AddDate(1, 0, 0)}, nil
	}
	if n == 1 && strings.HasSuffix(unit, "day") {
		return parseWord(unit, now)
	}
	return Span{}, ErrNoTime
}

// mostUnits keeps times within what a time.Duration can hold.
const mostUnits = 100_000

func number(word string) (int, bool) {
	if word == "a" || word == "an" || word == "one" {
		return 1, true
	}
	n, err := strconv.Atoi(word)
	return n, err == nil && n >= 0 && n <= mostUnits && word[0] != '+'
}
