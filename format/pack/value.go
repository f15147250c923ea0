package pack

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// A value is what stands in a line of a header behind its word. It is stored as its tokens, with a
// space between them and a LF at the end. A token of one of the forms below is a byte that no
// header holds, and then bytes in the form's own way; any other is stored as it is.
const (
	// An id: how many objects back in the block; 0: an id that the block lists, by number
	tokenNear   = 1
	tokenFar    = 2 // an id: the object of that number in the pack, as a difference
	tokenDigest = 3 // 16 hexadecimal digits
	tokenUUID   = 4 // a UUID
	tokenTime   = 5 // a time, as a difference in milliseconds
	tokenNumber = 6 // a number, as a difference
	tokenOwn    = 7 // an id: the object of that number in the block, as a difference

	endOfValue = '\n'
)

// maxNumber bounds the numbers that are stored as differences: all have an exact difference.
const maxNumber = 1 << 53

// maxTime is in the year 9999: times have four digits of a year.
const maxTime = 253_402_300_799_999

// memory is what the differences of a column are to. A line with several numbers has one for each
// place.
type memory struct {
	far     int64
	own     int64
	time    int64
	numbers [8]int64
}

// parseNumber reads a number without leading zeros.
func parseNumber(s []byte) (n int64, ok bool) {
	if len(s) == 0 || len(s) > 16 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n <= maxNumber
}

// fromHex reads lower-case digits into dst, which has half as many bytes.
func fromHex(dst, s []byte) bool {
	_, err := hex.Decode(dst, s)
	return err == nil && !bytes.ContainsAny(s, "ABCDEF")
}

func parseUUID(dst *[16]byte, s []byte) bool {
	return format.IsUUID(s) &&
		fromHex(dst[:], slices.Concat(s[:8], s[9:13], s[14:18], s[19:23], s[24:]))
}

func appendUUID(dst []byte, u []byte) []byte {
	dst = hex.AppendEncode(dst, u[:4])
	for _, part := range [...][]byte{u[4:6], u[6:8], u[8:10], u[10:]} {
		dst = hex.AppendEncode(append(dst, '-'), part)
	}
	return dst
}

// appendValue appends a value, which has no byte under 0x20, to a column. nameID appends the token
// of an id.
func appendValue(
	dst, value []byte, m *memory, nameID func([]byte, format.ID, *memory) []byte,
) []byte {
	for place := 0; ; place++ {
		token, rest, more := bytes.Cut(value, []byte{' '})
		dst = appendToken(dst, token, m, place, nameID)
		if !more {
			return append(dst, endOfValue)
		}
		dst = append(dst, ' ')
		value = rest
	}
}

func appendToken(
	dst, token []byte, m *memory, place int, nameID func([]byte, format.ID, *memory) []byte,
) []byte {
	switch len(token) {
	case 2 * len(format.ID{}):
		var id format.ID
		if fromHex(id[:], token) {
			return nameID(dst, id, m)
		}
	case 16:
		var b [8]byte
		if fromHex(b[:], token) {
			return append(append(dst, tokenDigest), b[:]...)
		}
	case 36:
		var u [16]byte
		if parseUUID(&u, token) {
			return append(append(dst, tokenUUID), u[:]...)
		}
	case len("2006-01-02T15:04:05.000Z"):
		if t, err := format.ParseTime(string(token)); err == nil {
			ms := t.UnixMilli()
			dst = binary.AppendVarint(append(dst, tokenTime), ms-m.time)
			m.time = ms
			return dst
		}
	}
	if n, ok := parseNumber(token); ok {
		last := &m.numbers[place%len(m.numbers)]
		dst = binary.AppendVarint(append(dst, tokenNumber), n-*last)
		*last = n
		return dst
	}
	return append(dst, token...)
}

const errValue = fault("bad value in a block")

// readValue appends the text of a column's next value to dst, which may have most bytes then.
// nameOf appends the text of an id by its token. Errors are col's.
func readValue(
	dst []byte, most int, col *varint.Reader, m *memory,
	nameOf func(dst []byte, token byte, col *varint.Reader, m *memory) []byte,
) []byte {
	place := 0
	for col.Err == nil {
		if len(dst) > most {
			col.Fail(errValue)
			return dst
		}
		switch c := col.Byte(); c {
		case endOfValue:
			return dst
		case ' ':
			place++
			dst = append(dst, ' ')
		case tokenNear, tokenFar, tokenOwn:
			dst = nameOf(dst, c, col, m)
		case tokenDigest:
			dst = hex.AppendEncode(dst, col.Take(8))
		case tokenUUID:
			if u := col.Take(16); u != nil {
				dst = appendUUID(dst, u)
			}
		case tokenTime:
			if m.time += col.Varint(); m.time < -maxTime || m.time > maxTime {
				col.Fail(errValue)
				return dst
			}
			dst = format.AppendTime(dst, time.UnixMilli(m.time))
		case tokenNumber:
			n := &m.numbers[place%len(m.numbers)]
			if *n += col.Varint(); *n < 0 || *n > maxNumber {
				col.Fail(errValue)
				return dst
			}
			dst = strconv.AppendInt(dst, *n, 10)
		default:
			if c < ' ' {
				col.Fail(errValue)
				return dst
			}
			n := 0
			for n < len(col.Rest) && col.Rest[n] > ' ' {
				n++
			}
			dst = append(append(dst, c), col.Rest[:n]...)
			col.Rest = col.Rest[n:]
		}
	}
	return dst
}
