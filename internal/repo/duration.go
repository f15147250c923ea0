package repo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// parseDuration reads a duration of zero or more: weeks and days, each a whole number, and then
// the form of time.ParseDuration, such as "2w", "90d", "1w2d12h" or "10s". A day has 24 hours.
func parseDuration(s string) (time.Duration, error) {
	var total time.Duration
	rest := s
	for _, unit := range []struct {
		suffix string
		length time.Duration
	}{{"w", 7 * day}, {"d", day}} {
		number, after, found := strings.Cut(rest, unit.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 63)
		if err != nil || n > uint64((math.MaxInt64-total)/unit.length) {
			return 0, notDuration(s)
		}
		total += time.Duration(n) * unit.length
		rest = after
	}
	if rest == "" && s != "" {
		return total, nil
	}
	fine, err := time.ParseDuration(rest)
	if err != nil || fine < 0 || fine > math.MaxInt64-total {
		return 0, notDuration(s)
	}
	return total + fine, nil
}

// DurationText returns a duration in the form of settings: in days if it is a whole number of
// days.
func DurationText(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func notDuration(s string) error {
	return fmt.Errorf("not a duration such as 10s, 12h, 14d or 2w: %.40q", s)
}
