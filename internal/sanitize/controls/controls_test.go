package controls

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

var sequences = []struct{ what, in, want string }{
	{"colours", "\x1b[31;1m\x1b[36;1merror: \x1b[0mno\x1b[m", "error: no"},
	{"true colour", "\x1b[38:2::1:2:3mred\x1b[39m", "red"},
	{"cursor, lines, modes", "\x1b[2J\x1b[H\x1b[?25lrow\x1b[K\x1b[1A\x1b[?2004h\x1b[ q", "row"},
	{"cut off", "row\x1b[38;5", "row"},
	{"ESC at the end", "row\x1b", "row"},
	{"malformed", "a\x1b[3é", "a[3é"},
	{"begun twice", "a\x1b[\x1b[1mb", "a[b"},
	{"title", "\x1b]0;make test\aok", "ok"},
	{"title with ST", "\x1b]2;größe Ü\x1b\\ok", "ok"},
	{"title of screen", "\x1bkvim\x1b\\ok", "ok"},
	{"link", "\x1b]8;;https://a.test/\x1b\\here\x1b]8;;\x1b\\!", "here!"},
	{"title without an end", "\x1b]0;make\nok", "]0;make\nok"},
	{"title before another control", "\x1b]0;make\x1b[1mok", "]0;makeok"},
	{"device string", "\x1bPq#0;2\n~~\x1b\\ok", "ok"},
	{"application string", "\x1b_Gf=100;aGk=\x1b\\ok", "ok"},
	{"a bell ends only commands", "\x1bPq\aok", "Pqok"},
	{"sets of characters", "\x1b(Bok\x1b)0\x1b%G", "ok"},
	{"single", "\x1b7\x1b8\x1b=\x1b>\x1bM\x1bcok", "ok"},
	{"keys", "\x1bOAok\x1bOP", "ok"},
	{"no sequence", "\x1b word \x1bé", " word é"},
	{"C1", "\u009b31mred\u009b0m\u009d0;t\u009cok\u0085", "redok"},
	{"C1 in eight bits", "\x9b31mred\x9b0m\x9d0;t\x9cok", "redok"},
	{"Windows-1252", "\x8bname\x9b \x93a\x94", "\ufffdname\ufffd \ufffda\ufffd"},
	{"bold", "N\bNA\bAM\bME\bE", "NAME"},
	{"underlined", "_\bf_\bi_\bl_\be _\b\u00fc", "file \u00fc"},
	{"bold and underlined", "_\bN\bN", "N"},
	{"other backspaces", "|\b/\b-\n\bx", "|/-\nx"},
}

func TestSequences(t *testing.T) {
	for _, c := range sequences {
		if got, _, _ := Strip([]byte(c.in), nil); string(got) != c.want {
			t.Errorf("%s: %q is %q, want %q", c.what, c.in, got, c.want)
		}
	}
	if _, controls, broken := Strip([]byte("\x1b[1ma\x1b]0;b\a\x9b2m\a\xff"), nil); controls != 4 ||
		broken != 1 {
		t.Errorf("%d controls, %d broken", controls, broken)
	}
}

func FuzzStrip(f *testing.F) {
	for _, c := range sequences {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var moved Shifts
		out, controls, broken := Strip(in, &moved)
		if !utf8.Valid(out) || (controls+broken == 0) != bytes.Equal(in, out) {
			t.Fatalf("%q is %q, %d %d", in, out, controls, broken)
		}
		if again, controls, broken := Strip(out, nil); controls+broken > 0 {
			t.Fatalf("%q is %q and then %q", in, out, again)
		}
		for i := range out {
			was := moved.Before(i)
			if was < 0 || was >= len(in) || out[i] < utf8.RuneSelf && in[was] != out[i] {
				t.Fatalf("%q: byte %d of %q is not byte %d", in, i, out, was)
			}
		}
	})
}
