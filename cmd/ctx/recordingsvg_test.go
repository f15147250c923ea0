package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// one returns a recording of a command with an output, on a screen of 20 by 5.
func one(output string) Recording {
	return Recording{Label: `a "screen"`, Columns: 20, Rows: 5,
		Scenes: []Scene{{{Command: "ls <x>", Output: output}}}}
}

// The picture is XML, has what was typed and printed, and does not move where that is not wanted.
func TestSVG(t *testing.T) {
	svg, err := one("\x1b[1;36mred\x1b[0m & \x1b[2mgrey\x1b[m\nthe second line is longer\n").SVG()
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
	}
	for _, want := range []string{
		`aria-label="a &#34;screen&#34;"`,
		`<text class="b" x="32.8" y="54" textLength="50.4">ls &lt;x&gt;</text>`,
		`<text class="b f6" x="16" y="74" textLength="25.2">red</text>`,
		`<text x="49.6" y="74" textLength="8.4">&amp;</text>`,
		`<text class="d" x="66.4" y="74" textLength="33.6">grey</text>`,
		`textLength="168">the second line is l</text>`, `>onger</text>`, "prefers-reduced-motion",
		"prefers-color-scheme: dark", "steps(6)",
	} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	if strings.Contains(string(svg), "%!") {
		t.Errorf("a number that is none:\n%s", svg)
	}
}

// What does not fit, or looks like nothing that is known here, is an error, not a wrong picture.
func TestRefused(t *testing.T) {
	for name, r := range map[string]Recording{
		"a row too many":    one("1\n2\n3\n4\n"),
		"a wide character":  one("宇宙\n"),
		"a tab":             one("a\tb\n"),
		"a colour":          one("\x1b[48;5;1mx\n"),
		"another sequence":  one("\x1b[2J"),
		"a cursor position": one("\x1b[2;3Hxm"),
		"a long command": {Columns: 5, Rows: 4,
			Scenes: []Scene{{{Command: "longer", Output: "x"}}}},
	} {
		if svg, err := r.SVG(); err == nil {
			t.Errorf("%s is drawn: %s", name, svg)
		}
	}
}
