package when

import (
	"fmt"
	"time"
)

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
