package main

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/gemini-ctx/ctx/internal/when"
)

// timeFlags are --since and --until: what was said from one time on, and before another one.
type timeFlags struct{ since, until timeText }

func (o *timeFlags) flags(f *pflag.FlagSet) {
	f.Var(&o.since, "since", "only since `TIME`: "+when.Examples)
	f.Var(&o.until, "until", "only before `TIME`, or until the end of that day, week or month")
}

// span returns the time from --since until --until, by the clock of the person. A bound that was
// not given is zero.
func (o *timeFlags) span(now time.Time) (span when.Span, err error) {
	since, err := o.since.parse("since", now)
	if err != nil {
		return span, err
	}
	until, err := o.until.parse("until", now)
	return when.Span{Start: since.Start, End: until.End}, err
}

// given reports whether one of the flags was given.
func (o *timeFlags) given() bool { return *o != timeFlags{} }

// timeText is the value of a flag that takes a time. It is not empty if it is given: a script whose
// variable was not set would get everything.
type timeText string

func (t *timeText) String() string { return string(*t) }
func (t *timeText) Type() string   { return "string" }

func (t *timeText) Set(text string) error {
	if *t = timeText(text); text == "" {
		return errors.New("a time is like " + when.Examples)
	}
	return nil
}

func (t *timeText) parse(flag string, now time.Time) (when.Span, error) {
	if *t == "" {
		return when.Span{}, nil
	}
	span, err := when.Parse(string(*t), now)
	if err != nil {
		err = usagef("bad --%s: %.80q: a time is like %s", flag, string(*t), when.Examples)
	}
	return span, err
}
