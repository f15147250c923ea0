package hooks

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// The most bytes of a call: a prompt may be as long as a message, and a plugin sends the session.
const (
	maxInput    = 16 << 20
	maxDocument = 256 << 20
)

// call is what an agent sends to a hook.
type call struct {
	Name       string // of an event of the agent
	Source     string // why a session starts: startup, resume, fork, clear, compact
	Session    string
	Transcript string // path of the file that the agent writes
	Subagent   string // path of the file that the agent writes for a subagent that has ended
	Dir        string // working directory of the agent
	Prompt     string
	Answer     string          // with which the turn has ended
	Command    string          // that a tool was to run
	File       string          // that a tool was to change
	Failure    string          // of the tool
	Output     string          // of the tool, of which the agent does not say whether it failed
	Document   json.RawMessage // the session, where a plugin sends it
	After      string          // the message that Document begins after; "" for none
}

// readCall reads the JSON object that an agent sends to a hook. It returns what comes before
// damage, or before the limit, together with the error: the agent writes the names first and the
// long texts last. Empty input is an error. event is what the command says of the event, "" for
// nothing.
func readCall(r io.Reader, most int64, event string) (call, error) {
	e := call{Name: event}
	limited := &io.LimitedReader{R: r, N: most}
	text, err := transcript.Text(limited) // a shell may have made UTF-16 of it
	if err == nil {
		b := bufio.NewReader(text)
		transcript.SkipMark(b)
		err = e.read(json.NewDecoder(b))
	}
	switch {
	case err != nil && limited.N <= 0:
		err = fmt.Errorf("the input has more than %d bytes", most)
	case errors.Is(err, io.EOF):
		err = errors.New("there is no input")
	case err != nil:
		err = fmt.Errorf("the input is not a JSON object: %w", err)
	case e.Name == "":
		err = errors.New("the input names no event")
	}
	return e, err
}

func (e *call) read(dec *json.Decoder) error {
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
func (e *call) value(dec *json.Decoder, key json.Token) error {
	to := map[json.Token]*string{
		"hook_event_name": &e.Name, "session_id": &e.Session, "sessionId": &e.Session,
		"conversation_id": &e.Session, "conversationId": &e.Session,
		"transcript_path": &e.Transcript, "transcriptPath": &e.Transcript,
		"agent_transcript_path": &e.Subagent, "source": &e.Source, "cwd": &e.Dir,
		"prompt": &e.Prompt, "after": &e.After, "last_assistant_message": &e.Answer,
		"error": &e.Failure, "tool_response": &e.Output,
	}[key]
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return err
	}
	switch key {
	case "document":
		e.Document = raw
	case "tool_input":
		in := jsonvalue.AsObject(raw)
		e.Command = in.Text("command")
		e.File = cmp.Or(in.Text("file_path"), in.Text("notebook_path"))
	case "workspace_roots", "workspacePaths":
		var roots []string
		if json.Unmarshal(raw, &roots) == nil && len(roots) > 0 && e.Dir == "" {
			e.Dir = roots[0]
		}
	}
	if to != nil && raw[0] == '"' {
		return json.Unmarshal(raw, to)
	}
	return nil
}
