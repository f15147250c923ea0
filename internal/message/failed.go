package message

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Failed reports whether the response says that the tool did not succeed. Its object, or the object
// at "metadata" in it, has an "error" that is neither null, false, zero, nor empty; or "is_error"
// or "isError" with the value true; or an exit code that is a number other than zero, under one of
// the usual names.
func (r *Result) Failed() bool { return failed(r.Response, true) }

func failed(raw json.RawMessage, outer bool) bool {
	found := false
	// An error ends the walk: what is not JSON says nothing.
	_ = eachMember(raw, func(name string, v json.RawMessage) bool {
		switch name {
		case "error":
			found = !isEmpty(v)
		case "is_error", "isError":
			found = string(v) == "true"
		case "exit_code", "exitCode", "exit_status", "exitStatus",
			"returncode", "return_code", "returnCode":
			found = isCode(v)
		case "metadata":
			found = outer && failed(v, false)
		}
		return !found
	})
	return found
}

// isEmpty reports whether a value says nothing.
func isEmpty(v json.RawMessage) bool {
	switch string(bytes.TrimSpace(v)) {
	case "null", "false", "0", `""`, "{}", "[]":
		return true
	}
	return false
}

// isCode reports whether a value is a number other than zero, also one that is written as a string.
func isCode(v json.RawMessage) bool {
	s := string(v)
	if v[0] == '"' {
		s = unquote(v)
	}
	n, err := strconv.ParseFloat(s, 64)
	return err == nil && n != 0
}
