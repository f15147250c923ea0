package shape

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the transcripts that Cursor wrote before those of JSON lines: text, with a line
// for who speaks and marks for thoughts, calls and results. docs/agents/cursor.md has the form.

// maxCursorText is the most bytes of such a transcript that are read.
const maxCursorText = 64 << 20

// turnOfCursor returns the role that a line gives to what follows; "" for none.
func turnOfCursor(line string) string {
	switch strings.TrimRight(line, " \r") {
	case "user:":
		return "user"
	case "assistant:", "A:":
		return "assistant"
	}
	return ""
}

// isCursorText reports whether a transcript that begins so is text.
func isCursorText(head []byte) bool {
	line, _, more := bytes.Cut(head, []byte("\n"))
	return more && turnOfCursor(string(line)) != ""
}

// cursorText is a transcript of text on its way to JSON lines.
type cursorText struct {
	out    bytes.Buffer
	role   string
	blocks []json.RawMessage
	kind   string // of the block that is being read
	name   string // of its tool
	lines  []string
	said   int // messages so far
}

// saidName is the member with the number of a message of a text, which names it: the last one may
// be half written.
const saidName = "said"

// linesOfCursorText returns a transcript of text as one of JSON lines.
func linesOfCursorText(r io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxCursorText))
	t := &cursorText{}
	blank := true
	for l := range strings.Lines(string(data)) {
		line := strings.TrimRight(l, "\r\n")
		if role := turnOfCursor(line); role != "" && blank {
			t.say()
			t.role, t.kind = role, "text"
		} else {
			t.line(line)
		}
		blank = line == ""
	}
	t.say()
	return &t.out, err
}

// line takes a line of a turn.
func (t *cursorText) line(line string) {
	for _, mark := range [...]struct{ open, kind string }{{"[Thinking]", "thinking"},
		{"[Tool call] ", "tool_use"}, {"[Tool result]", "tool_result"}} {
		if rest, ok := strings.CutPrefix(line, mark.open); ok && t.role == "assistant" {
			t.block()
			t.kind, t.name = mark.kind, strings.TrimSpace(rest)
			if mark.kind == "thinking" {
				t.lines = append(t.lines, t.name)
			}
			return
		}
	}
	// A thought ends with its paragraph. What a call is given goes on up to the next mark: the value
	// may be a file, with any lines.
	if t.kind == "thinking" && line == "" {
		t.block()
		t.kind = "text"
	}
	t.lines = append(t.lines, line)
}

// block ends a block of a message.
func (t *cursorText) block() {
	text := strings.Trim(strings.Join(t.lines, "\n"), "\n")
	block := jsonvalue.NewObject("type", t.kind)
	switch t.kind {
	case "thinking", "text":
		block.Set(t.kind, text)
	case "tool_use":
		block.Set("name", t.name)
		block.Set("input", t.input())
	case "tool_result":
		block.Set("content", text)
	}
	if text != "" || t.kind == "tool_use" || t.kind == "tool_result" {
		t.blocks = append(t.blocks, jsonvalue.Encode(block))
	}
	t.lines = t.lines[:0]
}

// input returns what a call is given: each name with its value, which may go on in the next lines.
func (t *cursorText) input() map[string]string {
	given, last := map[string]string{}, ""
	from := 0 // the line in which the value of last begins
	end := func(to int) {
		if last != "" {
			rest := strings.Join(t.lines[from+1:to], "\n")
			given[last] = strings.TrimRight(given[last]+"\n"+rest, "\n")
		}
	}
	for i, line := range t.lines {
		rest, isName := strings.CutPrefix(line, "  ")
		name, value, ok := strings.Cut(rest, ":")
		if isName && ok && name != "" && !strings.ContainsAny(name, " \t\"'{}()") {
			end(i)
			given[name], last, from = strings.TrimPrefix(value, " "), name, i
		}
	}
	end(len(t.lines))
	return given
}

// say ends a message. A result is not the model's: it has a message of its own.
func (t *cursorText) say() {
	t.block()
	for len(t.blocks) > 0 {
		n := 1
		isResult := jsonvalue.AsObject(t.blocks[0]).Text("type") == "tool_result"
		for n < len(t.blocks) && !isResult &&
			jsonvalue.AsObject(t.blocks[n]).Text("type") != "tool_result" {
			n++
		}
		t.said++
		t.out.Write(jsonvalue.Encode(jsonvalue.NewObject("role", t.role, saidName, t.said,
			"message", jsonvalue.NewObject("content", t.blocks[:n]))))
		t.out.WriteByte('\n')
		t.blocks = t.blocks[n:]
	}
	t.blocks = nil
}
