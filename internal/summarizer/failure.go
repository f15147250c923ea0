package summarizer

import (
	"fmt"
	"strings"
)

// Kind is the reason, in one word, why a summarizer gave no summary.
type Kind string

// The kinds of failures that ctx detects.
const (
	Missing    Kind = "missing"     // the program does not exist or cannot be started
	Silent     Kind = "silent"      // it did not write its first line
	Slow       Kind = "slow"        // it did not answer in time
	Crashed    Kind = "crashed"     // it ended before it answered
	Garbage    Kind = "garbage"     // it wrote a line that is not of the protocol
	Binary     Kind = "binary"      // it wrote a line that is not UTF-8, or has zero bytes
	Oversized  Kind = "oversized"   // it wrote a line longer than MaxLine
	WrongClaim Kind = "wrong-claim" // it answered a claim that it was not given
	Twice      Kind = "twice"       // it answered a claim twice
	Empty      Kind = "empty"       // its summary has neither a letter nor a digit
	Longer     Kind = "longer"      // its summary is longer than the source, or than requested
	TooLong    Kind = "too-long"    // the inputs exceed its limit, so it was not asked
)

// The kinds of failures that a helper reports.
const (
	// The quota is used up; asking again does not help until somebody changes that
	Quota     Kind = "quota"
	Capacity  Kind = "capacity"  // too busy now; asking again soon may help
	Transient Kind = "transient" // it failed; the next request may succeed
	// Its settings cannot work, for example a refused key or an unknown model
	Terminal Kind = "terminal"
	Refused  Kind = "refused" // it does not summarize this claim; others may work
)

// None is the kind of the error of a chain in which no member could be asked.
const None Kind = "unavailable"

// saidKinds returns the kinds that a helper may report.
func saidKinds() []Kind { return []Kind{Quota, Capacity, Transient, Terminal, Refused} }

// Failure is the error of one summarizer.
type Failure struct {
	Name string // of the summarizer in the user's settings
	Kind Kind
	Why  string // one line, cleaned
}

func (f *Failure) Error() string {
	return fmt.Sprintf("summarizer %s: %s: %s", f.Name, f.Kind, f.Why)
}

// Reason returns the kind as text, for statistics.
func (f *Failure) Reason() string { return string(f.Kind) }

// ofAnswer reports whether a failure concerns only one answer. After any other failure the helper
// is stopped, because its next line could belong to the failed request, or because it would fail
// again.
func (k Kind) ofAnswer() bool {
	switch k {
	case Empty, Longer, TooLong, Refused:
		return true
	}
	return false
}

// Unanswered is the error of a chain in which no member gave a summary.
type Unanswered struct {
	Failures []*Failure // of the asked members, in order
	Skipped  []Passed   // the members that were not asked, in order
}

// Passed is a member that was not asked.
type Passed struct {
	Skip
	Since *Failure // the earlier failure in this run that is the reason; nil if the reason is older
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
	return "no summarizer answered: " + strings.Join(all, "; ")
}

// Reason returns the kind of the last failure in this run, or None if no member was asked.
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
