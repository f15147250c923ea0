package format

import (
	"fmt"
	"time"
)

// Absent records why the body of an object is not stored. docs/format/absent.md describes its file.
type Absent struct {
	Object ID
	Reason string // one of the Reason constants
	Time   time.Time
}

const absentVersion = 1

// ReasonForgotten marks a body that was removed on request.
const ReasonForgotten = "forgotten"

// ReasonLost marks a body that was damaged and that a repair could not replace by a good copy.
// Storing the same object again brings the body back.
const ReasonLost = "lost"

func knownReason(reason string) bool { return reason == ReasonForgotten || reason == ReasonLost }

// Encode returns the bytes of the record's file. It fails on an unknown reason.
func (a *Absent) Encode() ([]byte, error) {
	return encode("absent", absentVersion, a)
}

// DecodeAbsent reads the bytes that Encode returns.
func DecodeAbsent(b []byte) (*Absent, error) {
	return decode(b, "absent", absentVersion, &Absent{})
}

func (a *Absent) lines(c *Lines) {
	c.Must("object").ID(&a.Object)
	c.Must("reason").Word(&a.Reason)
	c.Must("time").Time(&a.Time)
}

func (a *Absent) check() error {
	if !knownReason(a.Reason) {
		return fmt.Errorf("unknown reason: %.40q", a.Reason)
	}
	return nil
}
