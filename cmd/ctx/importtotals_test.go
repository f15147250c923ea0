package main

import (
	"bytes"
	"testing"
)

// The line of the progress is replaced by the next one, and cleared before anything else.
func TestProgressLine(t *testing.T) {
	var out, saw bytes.Buffer
	a := &app{
		world: world{stderr: &out, errTerm: func() bool { return true },
			columns: func() int { return 60 }}, out: newOutput(&saw),
	}
	all := newImportTotals(a, 2)
	all.add(&importedFile{file: "/p/one.jsonl", new: 3, more: []string{"one"}})
	a.say("ctx: import: something")
	all.add(&importedFile{file: "/p/two.jsonl", known: 2, unknown: map[string]int{"fog": 1},
		cleaned: map[string]int{"token": 2}})
	all.say()
	want := "\r\x1b[Kimport: 1 of 2, 3 messages: one.jsonl\r\x1b[Kctx: import: something\n" +
		"\r\x1b[Kimport: 2 of 2, 3 messages: two.jsonl\r\x1b[K" +
		"ctx: import: 2 transcripts found, 1 with something new: 3 messages, 2 known\n" +
		"ctx: import: records of unknown kinds, kept: 1 fog\nctx: import: cleaned: 2 token secrets\n"
	if out.String() != want {
		t.Errorf("%q\nnot %q", out.String(), want)
	}
}
