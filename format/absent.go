package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"
)

// Absent records why the body of an object is not stored, or the object itself.
// docs/format/absent.md describes its file.
type Absent struct {
	Object ID
	Reason string // one of the Reason constants
	Time   time.Time
	// Header stands for the object's own, which is lost as well; nil where that is there
	Header []byte
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
	b, err := encode("absent", absentVersion, a)
	if err != nil || a.Header == nil {
		return b, err
	}
	return fmt.Appendf(b, "sum sha256:%x\n", sha256.Sum256(b)), nil
}

// DecodeAbsent reads the bytes that Encode returns.
func DecodeAbsent(b []byte) (*Absent, error) {
	_, v, err := HeaderKind(b) // a later version may have no such sum
	if err == nil && v == absentVersion && bytes.Contains(b, []byte("\nstands ")) {
		if b, err = cutSum(b, "sum sha256:"); err != nil {
			return nil, fmt.Errorf("absent: %w", err)
		}
	}
	return decode(b, "absent", absentVersion, &Absent{})
}

func (a *Absent) lines(c *Lines) {
	c.Must("object").ID(&a.Object)
	c.Must("reason").Word(&a.Reason)
	c.Must("time").Time(&a.Time)
	text := base64.StdEncoding.EncodeToString(a.Header)
	if c.Opt("stands", a.Header != nil).Word(&text); c.Reads() && c.Has() {
		header, err := base64.StdEncoding.Strict().DecodeString(text)
		c.Fail(err)
		a.Header = header
	}
}

func (a *Absent) check() error {
	if !knownReason(a.Reason) {
		return fmt.Errorf("unknown reason: %.40q", a.Reason)
	}
	if a.Header != nil {
		_, _, err := DecodeObject(a.Header)
		return err
	}
	return nil
}
