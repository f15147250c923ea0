package format

import (
	"fmt"
	"time"
)

// Absent records why an object's body is not there. docs/format/absent.md is its page.
type Absent struct {
	Object ID
	Reason string // one of the Reason constants
	Time   time.Time
}

const absentVersion = 1

// ReasonForgotten is the reason of a body that was removed because somebody asked for it.
const ReasonForgotten = "forgotten"

// ReasonLost is the reason of a body that was damaged, and that a repair found no good copy of. It may come back.
const ReasonLost = "lost"

func knownReason(reason string) bool { return reason == ReasonForgotten || reason == ReasonLost }

// Encode returns the record's file.
func (a *Absent) Encode() ([]byte, error) {
	if !knownReason(a.Reason) {
		return nil, fmt.Errorf("absent: unknown reason: %.40q", a.Reason)
	}
	w := newHeader("absent", absentVersion)
	w.line("object", w.id(a.Object))
	w.line("reason", a.Reason)
	w.time("time", a.Time)
	b, err := w.bytes()
	if err != nil {
		return nil, fmt.Errorf("absent: %w", err)
	}
	return b, nil
}

// DecodeAbsent reads the record's file.
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
