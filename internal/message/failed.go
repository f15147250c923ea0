package message

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Failed reports whether the response says that the tool failed. The response, or the object
// "metadata" in it, then has one of these members: "error" with a value other than null, false,
// zero or empty, or as the only member; "is_error" or "isError" with the value true; or an exit
// code other than zero under one of the usual names.
func (r *Result) Failed() bool { return failed(r.Response, true) }

// callFailed reports whether the client of a call tells beside it that the command ended with
// another exit status than 0, as opencode does, or that the call never ran:
// {"functionCall":…,"opencode":{"state":{"metadata":{"exit":2}}}}, {…,"pi":{"aborted":true}}.
func (p *Part) callFailed() bool {
	if !bytes.Contains(p.Raw, []byte(`"exit":`)) && !bytes.Contains(p.Raw, []byte(`"aborted":`)) {
		return false
	}
	var clients map[string]struct {
		Aborted bool `json:"aborted"`
		State   struct {
			Metadata struct {
				Exit json.RawMessage `json:"exit"`
			} `json:"metadata"`
		} `json:"state"`
	}
	_ = json.Unmarshal(p.Raw, &clients) // members of another form have no state
	for _, c := range clients {
		if c.Aborted || isCode(c.State.Metadata.Exit) {
			return true
		}
	}
	return false
}

func failed(raw json.RawMessage, outer bool) bool {
	members, _ := jsonvalue.MembersWithin(raw) // none if raw is not an object
	return slices.ContainsFunc(members, func(m jsonvalue.Member) bool {
		switch m.Name {
		case "error":
			return len(members) == 1 && outer || !isEmpty(m.Value)
		case "is_error", "isError":
			return string(m.Value) == "true"
		case "exit_code", "exitCode", "exit_status", "exitStatus",
			"returncode", "return_code", "returnCode":
			return isCode(m.Value)
		case "metadata":
			return outer && failed(m.Value, false)
		}
		return false
	})
}

// isEmpty reports whether a value is null, false, zero or empty.
func isEmpty(v json.RawMessage) bool {
	return slices.Contains([]string{"null", "false", "0", `""`, "{}", "[]"}, string(v))
}

// isCode reports whether a value is a number other than zero, which may be written as a string.
func isCode(v json.RawMessage) bool {
	s, ok := jsonvalue.Text(v)
	if !ok {
		s = string(v)
	}
	n, err := strconv.ParseFloat(s, 64)
	return err == nil && n != 0
}
