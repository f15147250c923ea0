package summarizer

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says in one word why a summariser gave no summary.
type Kind string

// What a helper does wrong.
const (
	Missing    Kind = "missing"     // there is no such program, or it cannot be started
	Silent     Kind = "silent"      // it never said what it is
	Slow       Kind = "slow"        // no answer in time
	Crashed    Kind = "crashed"     // it ended before it answered
	Garbage    Kind = "garbage"     // a line that is not of the protocol
	Binary     Kind = "binary"      // a line that is not UTF-8, or has zero bytes
	Oversized  Kind = "oversized"   // a line longer than MaxLine
	WrongClaim Kind = "wrong-claim" // an answer for a claim it was not given
	Twice      Kind = "twice"       // a second answer for a claim
	Empty      Kind = "empty"       // a summary without a letter or digit
	Longer     Kind = "longer"      // a summary longer than its source, or than was asked for
	TooLong    Kind = "too-long"    // the inputs are more than it takes; it was not asked
)

// What a helper says went wrong.
const (
	Quota     Kind = "quota"     // used up; asking again does not help until somebody changes that
	Capacity  Kind = "capacity"  // too busy now; soon it may not be
	Transient Kind = "transient" // it failed, and may not fail the next time
	Terminal  Kind = "terminal"  // it cannot work as it is set up: a key that is refused, a model that is not there
	Refused   Kind = "refused"   // it will not summarise this; another claim is another matter
)

// None is the kind of an error of a chain in which nobody could be asked.
const None Kind = "unavailable"

// saidKinds are the kinds that a helper may put into an answer.
func saidKinds() []Kind { return []Kind{Quota, Capacity, Transient, Terminal, Refused} }

// Failure is why one summariser gave no summary.
type Failure struct {
	Name string // of the summariser, as the user calls it
	Kind Kind
	Why  string // one line, cleaned
}

func (f *Failure) Error() string {
	return fmt.Sprintf("summariser %s: %s: %s", f.Name, f.Kind, f.Why)
}

// Reason returns the kind as text, for those who count by it.
func (f *Failure) Reason() string { return string(f.Kind) }

// ofAnswer reports whether a failure is about one answer only. After any other the helper is stopped: it cannot be told what its next line
// belongs to, or it would fail again.
func (k Kind) ofAnswer() bool {
	switch k {
	case Empty, Longer, TooLong, Refused:
		return true
	}
	return false
}

// Unanswered is the error of a chain in which nobody gave a summary.
type Unanswered struct {
	Failures []*Failure // of those that were asked, in order
	Skipped  []Passed   // those that were not asked, in order
}

// Passed is somebody who was not asked.
type Passed struct {
	Skip
	Since *Failure // that made it so, earlier in this run; nil where that was before
}

func (u *Unanswered) Error() string {
	var all []string
	for _, f := range u.Failures {
		all = append(all, fmt.Sprintf("%s: %s: %s", f.Name, f.Kind, f.Why))
	}
	for _, s := range u.Skipped {
		if s.Since != nil {
			all = append(all, fmt.Sprintf("%s: %s: %s", s.Name, s.Since.Kind, s.Since.Why))
			continue
		}
		all = append(all, fmt.Sprintf("%s: not asked: %s", s.Name, s.Reason))
	}
	return "no summariser answered: " + strings.Join(all, "; ")
}

// Reason is the kind of the last failure in this run, or None where nobody was asked in it.
func (u *Unanswered) Reason() string {
	if n := len(u.Failures); n > 0 {
		return u.Failures[n-1].Reason()
	}
	for _, s := range u.Skipped {
		if s.Since != nil {
			return s.Since.Reason()
		}
	}
	return string(None)
}

// KindOf returns the kind of an error of this package, or "".
func KindOf(err error) Kind {
	var r interface{ Reason() string }
	if errors.As(err, &r) {
		return Kind(r.Reason())
	}
	return ""
}
