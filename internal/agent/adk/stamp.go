package adk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Unit is how a runtime counts time: ADK for Python in seconds, ADK for JavaScript in milliseconds,
// both since 1970.
type Unit string

// The units.
const (
	Detect     Unit = ""   // for reading: each by its size
	Python     Unit = "py" // seconds, with a fraction
	JavaScript Unit = "js" // milliseconds
)

// ParseUnit reads the name of a unit.
func ParseUnit(s string) (Unit, error) {
	switch u := Unit(s); u {
	case Python, JavaScript:
		return u, nil
	}
	return Detect, errors.New("py (seconds) and js (milliseconds) are the units")
}

// milliseconds is the smallest number that is taken for milliseconds: March 1973. As seconds it
// would be the year 5138.
const milliseconds = 1e11

// The times that an entry's header holds, in milliseconds.
const (
	leastMilli = -62167219200000
	mostMilli  = 253402300799999
)

// maxDigits is the most digits of a timestamp, and of them the most after the point.
const maxDigits = 40

// parseStamp parses a timestamp. below are the digits after the millisecond, which an entry does
// not hold.
func parseStamp(raw json.RawMessage, unit Unit) (t time.Time, below string, ok bool) {
	size, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || len(raw) > 2*maxDigits || raw[0] == '"' || math.Abs(size) > 2*mostMilli {
		return t, "", false
	}
	exact, ok := new(big.Rat).SetString(string(raw))
	if !ok || size != 0 && math.Abs(size) < 1e-30 {
		return t, "", false
	}
	if unit == Python || unit == Detect && math.Abs(size) < milliseconds {
		exact.Mul(exact, big.NewRat(1000, 1))
	}
	number := exact.FloatString(2 * maxDigits)
	whole, below, _ := strings.Cut(number, ".")
	below = strings.TrimRight(below, "0")
	ms, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || exact.Sign() < 0 && below != "" || len(below) > maxDigits || ms < leastMilli ||
		ms > mostMilli {
		return t, "", false
	}
	return time.UnixMilli(ms).UTC(), below, true
}

// printStamp prints a time. Seconds always have a fraction, because they are a float in ADK for
// Python.
func printStamp(t time.Time, below string, unit Unit) json.RawMessage {
	ms := t.UnixMilli()
	if unit != Python {
		if below != "" {
			below = "." + below
		}
		return json.RawMessage(strconv.FormatInt(ms, 10) + below)
	}
	sign := ""
	if ms < 0 {
		sign, ms = "-", -ms
	}
	fraction := cmp.Or(strings.TrimRight(fmt.Sprintf("%03d%s", ms%1000, below), "0"), "0")
	return json.RawMessage(fmt.Sprintf("%s%d.%s", sign, ms/1000, fraction))
}
