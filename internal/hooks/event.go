package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxInput limits the event of an agent, in bytes: a prompt may be as long as a message.
const maxInput = 16 << 20

// Event is what an agent sends to a hook.
type Event struct {
	Name       string // one of Events
	Session    string
	Transcript string // path of the file that the agent writes
	Dir        string // working directory of the agent
	Prompt     string
}

// readEvent reads the JSON object that an agent sends to a hook. It returns what comes before
// damage, or before the limit, together with the error: the agent writes the names first and the
// long texts last. Empty input is an error.
func readEvent(r io.Reader) (Event, error) {
	var e Event
	limited := &io.LimitedReader{R: r, N: maxInput}
	err := e.read(json.NewDecoder(limited))
	switch {
	case err != nil && limited.N <= 0:
		err = fmt.Errorf("the input has more than %d bytes", maxInput)
	case errors.Is(err, io.EOF):
		err = errors.New("there is no input")
	case err != nil:
		err = fmt.Errorf("the input is not a JSON object: %w", err)
	case e.Name == "":
		err = errors.New("the input names no event")
	}
	return e, err
}

func (e *Event) read(dec *json.Decoder) error {
	open, err := dec.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return fmt.Errorf("it begins with %.20v", open)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return unexpected(err)
		}
		if err := e.value(dec, key); err != nil {
			return unexpected(err)
		}
	}
	_, err = dec.Token()
	return unexpected(err)
}

// unexpected turns io.EOF into io.ErrUnexpectedEOF: the input ended in the middle.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// value reads the value of a key. It ignores a value of an unexpected type.
func (e *Event) value(dec *json.Decoder, key json.Token) error {
	var to *string
	switch key {
	case "hook_event_name":
		to = &e.Name
	case "session_id":
		to = &e.Session
	case "transcript_path":
		to = &e.Transcript
	case "cwd":
		to = &e.Dir
	case "prompt":
		to = &e.Prompt
	}
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return err
	}
	if to != nil && raw[0] == '"' {
		return json.Unmarshal(raw, to)
	}
	return nil
}
