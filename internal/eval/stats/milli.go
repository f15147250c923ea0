package stats

import (
	"fmt"
	"math"
)

// Milli is a number in thousandths: it prints with three digits after the point, the same ones on
// every platform.
type Milli int

// MilliOf rounds to the nearest thousandth, halves up.
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

// Share is a/b, and 0 of nothing.
func Share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// One is 1 for yes, and 0 for no.
func One(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
