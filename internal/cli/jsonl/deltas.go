package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/conversation/loop"
)

var (
	errNoDelta    = errors.New("neither text nor call")
	errTwoDeltas  = errors.New("both text and call")
	errNoCallName = errors.New("call: no name")
)

// Reader feeds a stream of deltas to a detector.
type Deltas struct {
	Detector *loop.Detector
	Stop     bool
	Had      int            // loops that were detected before
	Unknown  map[string]int // keys that mean nothing here: in how many lines

	Deltas, Calls, Ignored int
}

// IsNew reports whether this stream has a new loop.
func (r *Deltas) IsNew() bool { return r.Detector.Verdict().Count > r.Had }

// Read reads lines until the input ends, or with Stop until a loop is detected.
func (r *Deltas) Read(c context.Context, in io.Reader) error {
	stop := func() bool { return r.Stop && r.Detector.Verdict().Detected }
	if stop() {
		return nil
	}
	err := Each(c, in, func(line []byte) error {
		err := r.take(line)
		if err == nil && stop() {
			err = io.EOF
		}
		return err
	})
	var bad *LineError
	switch {
	case errors.As(err, &bad):
		return command.Usagef("%v", bad)
	case err != nil && c.Err() == nil:
		return fmt.Errorf("cannot read the deltas: %w", err)
	}
	return err
}

// event is one line of the stream.
type event struct {
	text         string
	hasText      bool
	partial      bool
	call         bool
	callID, name string
	args         []byte
}

// take feeds one line to the detector.
func (r *Deltas) take(line []byte) error {
	e, err := r.decode(line)
	switch {
	case err != nil:
		return err
	case e.hasText && e.call:
		return errTwoDeltas
	case e.call:
		r.Calls++
		return r.Detector.Call(e.callID, e.name, e.args)
	case !e.hasText:
		return errNoDelta
	case !e.partial:
		r.Ignored++
	default:
		r.Deltas++
		r.Detector.Text(e.text)
	}
	return nil
}

func (r *Deltas) decode(line []byte) (e event, err error) {
	unknown := func(key string) { r.Unknown[key]++ }
	err = EachField(line, unknown, func(key string, value []byte) (err error) {
		switch key {
		case "text":
			e.hasText = true
			e.text, err = String(value)
		case "partial":
			e.partial, err = Bool(value)
		case "call":
			e.call = true
			err = r.decodeCall(value, &e)
		default:
			err = ErrUnknown
		}
		return err
	})
	if err == nil && e.call && e.name == "" {
		err = errNoCallName
	}
	return e, err
}

func (r *Deltas) decodeCall(value []byte, e *event) error {
	unknown := func(key string) { r.Unknown["call."+key]++ }
	return EachField(value, unknown, func(key string, value []byte) (err error) {
		switch key {
		case "id":
			e.callID, err = String(value)
		case "name":
			e.name, err = String(value)
			if err == nil {
				_, err = format.EncodeName(e.name)
			}
		case "args":
			e.args = value
		default:
			err = ErrUnknown
		}
		return err
	})
}
