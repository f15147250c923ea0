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
	if !knownReason(a.Reason) {
		return nil, fmt.Errorf("absent: unknown reason: %.40q", a.Reason)
	}
	w := newHeader("absent", absentVersion)
	w.line("object", w.id(a.Object))
	w.line("reason", a.Reason)
	w.time("time", a.Time)
	return w.bytes()
}

// DecodeAbsent reads the bytes that Encode returns.
func DecodeAbsent(b []byte) (*Absent, error) {
	r, err := readHeader(b, "absent", absentVersion)
	if err != nil {
		return nil, fmt.Errorf("absent: %w", err)
	}
	a := &Absent{Object: r.id(r.must("object", 1)[0]), Reason: r.must("reason", 1)[0]}
	a.Time = r.time(r.must("time", 1)[0])
	if r.err == nil && !knownReason(a.Reason) {
		r.fail(fmt.Errorf("unknown reason: %.40q", a.Reason))
	}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("absent: %w", err)
	}
	return a, nil
}
