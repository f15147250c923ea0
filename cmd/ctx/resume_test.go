package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// A word of any bytes stands for itself in a shell, and is printed on one line.
func TestShellWord(t *testing.T) {
	sh, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, s := range []string{"", "plain", "two words", "o'clock", "a\nb", "\n", "a\t'\\$x`\"",
		"\x1b[31m1", "\u202eab", "\xff1", "-x", "~", "é'\r7", `\n`} {
		word := shellWord(s)
		got, err := exec.CommandContext(t.Context(), sh, "-c", "printf %s "+word).Output()
		if err != nil || string(got) != s || word != oneLine(word) {
			t.Errorf("%q: %s, which is %q, %v", s, word, got, err)
		}
	}
}

// What was written is read back before an agent sees it: anything that is missing, torn or another
// word is noticed, in every form.
func TestReadBack(t *testing.T) {
	messages := []transcript.Message{
		{Origin: transcript.Origin{Agent: "ctx", Message: "1"}, Role: "user",
			Text: "Which lamps are lit?"},
		{Origin: transcript.Origin{Agent: "ctx", Message: "2"}, Role: "model", Author: "m",
			Text: "The north one."},
		{Origin: transcript.Origin{Agent: "ctx", Message: "3"}, Role: "user", Text: "Thank you."},
	}
	for _, f := range catalog.All() {
		if f.Write == nil {
			continue // its transcripts are only read
		}
		var b bytes.Buffer
		var want spoken
		w := f.Write(&b, transcript.WriteOptions{Session: "s"})
		for i := range messages {
			want.add(&messages[i])
			if err := w.Add(transcript.Item{Message: messages[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := readBack(&f, b.Bytes(), &want); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		whole := b.String()
		less := slices.DeleteFunc(strings.SplitAfter(whole, "\n"),
			func(line string) bool { return strings.Contains(line, "north") })
		for what, damaged := range map[string]string{
			"a line less":  strings.Join(less, ""),
			"another word": strings.ReplaceAll(whole, "north", "south"),
			"torn":         whole[:len(whole)-9],
		} {
			if err := readBack(&f, []byte(damaged), &want); err == nil {
				t.Errorf("%s: %s was not noticed in\n%s", f.Name, what, damaged)
			}
		}
	}
}
