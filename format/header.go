package format

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// timeLayout is the only form of a time in a header: RFC 3339 in UTC, always with three digits of
// milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime returns t in the layout timeLayout. Anything finer than a millisecond is dropped.
func FormatTime(t time.Time) string {
	var room [len(timeLayout)]byte
	return string(AppendTime(room[:0], t))
}

// AppendTime is FormatTime for the end of a list of bytes.
func AppendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(dst, timeLayout)
	}
	dst = append(dst, timeLayout...)
	out := dst[len(dst)-len(timeLayout):]
	putDigits(out[0:4], year)
	putDigits(out[5:7], int(month))
	putDigits(out[8:10], day)
	hour, minute, second := t.Clock()
	putDigits(out[11:13], hour)
	putDigits(out[14:16], minute)
	putDigits(out[17:19], second)
	putDigits(out[20:23], t.Nanosecond()/1e6)
	return dst
}

// putDigits fills a field with a number.
func putDigits(field []byte, n int) {
	for i := len(field) - 1; i >= 0; i-- {
		field[i], n = '0'+byte(n%10), n/10
	}
}

// ParseTime reads a time in the layout timeLayout and refuses every other form.
func ParseTime(s string) (time.Time, error) {
	t, ok := parseTime(s)
	if !ok {
		return time.Time{}, fmt.Errorf("not a time: %.40q", s)
	}
	return t, nil
}

func parseTime(s string) (t time.Time, ok bool) {
	if len(s) != len(timeLayout) {
		return t, false
	}
	ok = true
	number := func(from, to int) (n int) {
		for _, c := range []byte(s[from:to]) {
			ok = ok && c >= '0' && c <= '9'
			n = 10*n + int(c) - '0'
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second := number(11, 13), number(14, 16), number(17, 19)
	t = time.Date(year, time.Month(month), day, hour, minute, second, number(20, 23)*1e6, time.UTC)
	// Where a field is out of range, Date takes another day or time; another byte between them is seen
	// here too.
	var again [len(timeLayout)]byte
	return t, ok && string(AppendTime(again[:0], t)) == s
}

// isField reports whether s may stand between two spaces of a header line.
func isField(s string) bool {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	return s != "" && (ascii || utf8.ValidString(s))
}

// VersionError says that bytes have a version that this build cannot read.
type VersionError struct {
	What       string
	Got, Known int  // Known is 0 if this build reads no version
	Early      bool // a build wrote them that is from before version 1; then there are no numbers
}

func (e *VersionError) Error() string {
	if e.Early {
		return e.What + " is of a build from before version 1 of the formats"
	}
	if e.Known == 0 {
		return fmt.Sprintf("%s version %d is not known here", e.What, e.Got)
	}
	return fmt.Sprintf("%s version %d is not known here: this build reads version %d", e.What,
		e.Got, e.Known)
}

// checkNonce checks that a stored body has room for a nonce. Encoders do not call it: a header with
// an empty body is made first, because the nonce is derived from that header.
func checkNonce(b Body) error {
	if b.Size < NonceLen {
		return fmt.Errorf("body has %d bytes, its nonce alone has %d", b.Size, NonceLen)
	}
	return nil
}
