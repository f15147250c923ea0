package main

import (
	"bytes"
	"encoding/json"
)

// eachMember calls each for the members of a JSON object, in order, with the key's text and the value's bytes. A bulk append spends its time
// here, so the object is checked once and then only cut up. It fails on what is not one valid object, and where each does.
func eachMember(object []byte, each func(key, value []byte) error) error {
	if !json.Valid(object) {
		return errNotObject
	}
	at := skipSpace(object, 0)
	if object[at] != '{' {
		return errNotObject
	}
	at = skipSpace(object, at+1)
	for object[at] != '}' {
		end := endOfString(object, at)
		key, err := keyText(object[at:end])
		if err != nil {
			return err
		}
		at = skipSpace(object, skipSpace(object, end)+1) // over the colon
		end = endOfValue(object, at)
		if err := each(key, object[at:end]); err != nil {
			return err
		}
		at = skipSpace(object, end)
		if object[at] == ',' {
			at = skipSpace(object, at+1)
		}
	}
	return nil
}

func keyText(quoted []byte) ([]byte, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	var s string
	err := json.Unmarshal(quoted, &s)
	return []byte(s), err
}

func skipSpace(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r') {
		at++
	}
	return at
}

// endOfString returns the index after the string that starts at at.
func endOfString(b []byte, at int) int {
	for at++; ; at++ {
		at += bytes.IndexByte(b[at:], '"')
		escapes := 0
		for b[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}

// endOfValue returns the index after the value that starts at at, in JSON that is known to be valid.
func endOfValue(b []byte, at int) int {
	depth := 0
	for {
		switch b[at] {
		case '"':
			at = endOfString(b, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		default:
			at++
			if depth == 0 {
				for at < len(b) && bytes.IndexByte([]byte(",}] \t\r\n"), b[at]) < 0 {
					at++
				}
			}
		}
		if depth == 0 {
			return at
		}
	}
}
