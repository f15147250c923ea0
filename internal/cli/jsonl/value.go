package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

var errNotArray = errors.New("parts is not an array")

// String decodes a JSON string.
func String(value []byte) (string, error) {
	s, ok := jsonvalue.Text(value)
	if !ok {
		return "", errors.New("not a string")
	}
	return s, nil
}

// Array returns an array without the white space between its tokens, so that the same bytes are
// printed again.
func Array(value []byte) (json.RawMessage, error) {
	if value[0] != '[' {
		return nil, errNotArray
	}
	return jsonvalue.Compact(value), nil
}

// Bool decodes true or false.
func Bool(value []byte) (bool, error) {
	switch string(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("neither true nor false")
}

// Broken counts the replacement characters of text that are not in value. They stand for invalid
// UTF-8 or for half of a surrogate pair.
func Broken(text string, value []byte) int {
	n := strings.Count(text, "\uFFFD")
	if n == 0 {
		return 0
	}
	written := bytes.Count(value, []byte("\uFFFD")) +
		bytes.Count(bytes.ToLower(value), []byte(`\ufffd`))
	return max(0, n-written)
}
