package stats

import (
	"fmt"
	"math"
)

// Milli is a number in thousandths. It prints with three digits after the point, which are the same
// on every platform.
type Milli int

// MilliOf rounds to the nearest thousandth, and halves up.
func MilliOf(f float64) Milli { return Milli(math.Floor(float64(f*1000) + 0.5)) }

func (m Milli) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Sprintf("%s%d.%03d", sign, m/1000, m%1000)
}

// MarshalJSON writes m as a number.
func (m Milli) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// Share returns a/b, or 0 if b is 0.
func Share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// One returns 1 for true and 0 for false.
func One(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// MilliShare returns a/b in thousandths, or 0 if b is 0.
func MilliShare(a, b int) Milli { return MilliOf(Share(a, b)) }
