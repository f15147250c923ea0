package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

var (
	errNoDelta    = errors.New("neither text nor call")
	errTwoDeltas  = errors.New("both text and call")
	errNoCallName = errors.New("call: no name")
)

// loopEvent is a line of a stream of deltas.
type loopEvent struct {
	text         string
	hasText      bool
	partial      bool
	call         bool
	callID, name string
	args         []byte
}

// take feeds a line to the detector. A blank one is none.
func (r *loopReader) take(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	e, err := r.decode(line)
	switch {
	case err != nil:
		return err
	case e.hasText && e.call:
		return errTwoDeltas
	case e.call:
		r.calls++
		return r.d.Call(e.callID, e.name, e.args)
	case !e.hasText:
		return errNoDelta
	case !e.partial:
		r.ignored++
	default:
		r.deltas++
		r.d.Text(e.text)
	}
	return nil
}

func (r *loopReader) decode(line []byte) (e loopEvent, err error) {
	err = eachMember(line, func(key, value []byte) error {
		if string(value) == "null" {
			return nil
		}
		var err error
		switch string(key) {
		case "text":
			e.hasText = true
			e.text, err = readString(value)
		case "partial":
			e.partial, err = readBool(value)
		case "call":
			e.call = true
			err = r.decodeCall(value, &e)
		default:
			r.unknown[string(key)]++
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
	if err == nil && e.call && e.name == "" {
		err = errNoCallName
	}
	return e, err
}

func (r *loopReader) decodeCall(value []byte, e *loopEvent) error {
	return eachMember(value, func(key, value []byte) error {
		if string(value) == "null" {
			return nil
		}
		var err error
		switch string(key) {
		case "id":
			e.callID, err = readString(value)
		case "name":
			e.name, err = readString(value)
			if err == nil {
				_, err = format.EncodeName(e.name)
			}
		case "args":
			e.args = value
		default:
			r.unknown["call."+string(key)]++
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
}

// readBool reads true or false.
func readBool(value []byte) (bool, error) {
	switch string(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("neither true nor false")
}
