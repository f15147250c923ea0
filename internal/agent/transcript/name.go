package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Derive makes a name of n hexadecimal digits, at most 64, from strings that identify something.
func Derive(n int, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(jsonvalue.Encode(p))
	}
	return hex.EncodeToString(h.Sum(nil))[:n]
}

// Names counts how often a name was given.
type Names map[string]int

// Next returns name when it is given for the first time, then name with ":2" after it, and so on.
func (n Names) Next(name string) string {
	n[name]++
	if times := n[name]; times > 1 {
		return name + ":" + strconv.Itoa(times)
	}
	return name
}

// UUID makes a version 8 UUID from strings that identify something.
func UUID(parts ...string) string {
	d := []byte(Derive(32, parts...))
	d[12], d[16] = '8', '8'
	return string(d[:8]) + "-" + string(d[8:12]) + "-" + string(d[12:16]) + "-" + string(d[16:20]) +
		"-" + string(d[20:])
}

// EntryDigits is how many digits at the beginning of an EntryUUID are those of the entry's id.
const EntryDigits = 12

// EntryUUID is the id of a record that an export wrote for a message of a session: entry is the id
// of the message's entry, in hexadecimal. It tells the entry, and of the sessions that have it the
// one that was exported. The result is "" for anything shorter.
func EntryUUID(entry, session string) string {
	if len(entry) < 32 {
		return ""
	}
	return entry[:8] + "-" + entry[8:12] + "-8" + entry[13:16] + "-8" + entry[17:20] +
		"-" + entry[20:26] + Derive(6, session)
}

// SessionUUID is an EntryUUID for a session that an agent is handed: entry is its newest one, and
// of are what tells apart what was handed.
func SessionUUID(entry, session string, of ...string) string {
	return EntryUUID(entry[:EntryDigits]+Derive(64-EntryDigits, of...), session)
}

// IsOf reports whether an EntryUUID or SessionUUID is of an entry of a session.
func IsOf(id, entry, session string) bool {
	of := EntryUUID(entry, session)
	return id[:EntryDigits+1] == of[:EntryDigits+1] && id[len(id)-6:] == of[len(of)-6:]
}

// IsEntryUUID reports whether s has the form of an EntryUUID, which no agent's own ids have.
func IsEntryUUID(s string) bool { return format.IsUUID(s) && s[14] == '8' && s[19] == '8' }

// Fit returns a name that a header can hold: s itself, or a digest of it if s is too long or not a
// valid name.
func Fit(s string) string {
	if s == "" {
		return ""
	}
	if _, err := format.EncodeName(s); err == nil {
		return s
	}
	sum := format.Sum([]byte(s))
	return "sha256:" + sum.Short(32)
}

// stampLayout is how agents that run on JavaScript write a time.
const stampLayout = "2006-01-02T15:04:05.000Z"

// Stamp prints a time as agents write it.
func Stamp(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format(stampLayout)
}

// ParseTime parses a time as agents write it. exact is false if Stamp would print it differently.
func ParseTime(s string) (t time.Time, exact bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 0 && t.Year() <= 9999 {
			t = t.UTC().Truncate(time.Millisecond)
			return t, !t.IsZero() && Stamp(t) == s
		}
	}
	if len(s) < leastDigits {
		return time.Time{}, false
	}
	return ofNumber(s), false
}

// leastDigits is how many digits a text has at least that counts from 1970: a year has fewer.
const leastDigits = 9

// layouts are the spellings of times that are read. One without a zone is in UTC.
var layouts = [...]string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05", "2006-01-02T15:04:05",
	"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04",
	"2006-01-02 15:04Z07:00", "2006-01-02 15:04Z0700", "2006-01-02 15:04:05Z0700"}

// TimeOf returns the time in a member of a record, which is a text or a number. exact is that of
// ParseTime.
func TimeOf(raw json.RawMessage) (t time.Time, exact bool) {
	if s, ok := jsonvalue.Text(raw); ok {
		return ParseTime(s)
	}
	return ofNumber(string(raw)), false
}

// ofNumber returns the time that a number counts since 1970, in seconds or in thousandths,
// millionths or billionths of one: the first of these that gives a time before 5138. It is zero for
// anything else.
func ofNumber(s string) time.Time {
	const most = 1e11
	n, err := strconv.ParseFloat(s, 64)
	for unit := 1.0; err == nil && n > 0 && unit <= 1e9; unit *= 1000 {
		if seconds := n / unit; seconds < most {
			return time.UnixMilli(int64(math.Floor(seconds * 1000))).UTC()
		}
	}
	return time.Time{}
}

// The beginnings of the texts that our hooks give to the model of an agent. Some agents write them
// into the user's message.
const (
	BriefOfOthers = "What was done in this project before, kept by ctx."
	BriefOfOwn    = "What this session was about before it was compacted, kept by ctx."
)

// NameOfFile returns the session that a file is named for; "" for standard input, which has no
// name.
func NameOfFile(name string) string {
	if name == "-" {
		return ""
	}
	return name
}
