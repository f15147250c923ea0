package summarize

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"...\n---\n}", ""},
		{"One. Two! Three? four", "One.|Two!|Three? four"},
		{"Use v1.2.3 of e.g. Go. Then \"stop.\" Now", "Use v1.2.3 of e.g. Go.|Then \"stop.\"|Now"},
		{"1. Open it. 2. Close it.", "1. Open it.|2. Close it."},
		{"**1. Open it.**\n**2.** Close it.", "**1. Open it.**|**2.** Close it."},
		{"Ask Mr. J. Smith. He knows.", "Ask Mr. J. Smith.|He knows."},
		{"終わり。始め！次", "終わり。|始め！|次"},
		{"Ok, so the port is 5433.", "the port is 5433."},
		{"ok thanks", "ok thanks"},
		{"and so yes ok well hi now it is long", "well hi now it is long"},
		{"a\r\nb   c", "a|b c"},
		{"Look. Here:\n```go\nx := 1. Y\n}\n```\nOne. Two.", "Look.|Here:|x := 1. Y|One.|Two."},
		{strings.Repeat("w ", 130),
			strings.TrimSpace(strings.Repeat("w ", 60)) + "|" +
				strings.TrimSpace(strings.Repeat("w ", 60)) + "|" +
				strings.TrimSpace(strings.Repeat("w ", 10))},
		{strings.Repeat("é", 500), strings.Repeat("é", 480) + "|" + strings.Repeat("é", 20)},
	} {
		var got []string
		for _, p := range split(tt.text, false) {
			got = append(got, p.text)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%.60q\n got %s\nwant %s", tt.text, s, tt.want)
		}
	}
	if got := split("One. Two.\nThree", true); len(got) != 2 || !got[0].line ||
		got[0].text != "One. Two." {
		t.Errorf("output: %v", got)
	}
}

func TestBounded(t *testing.T) {
	s := bounded("a" + strings.Repeat("é", maxText) + "z")
	if len(s) > maxText+1 || strings.Contains(s, "\uFFFD") || s[0] != 'a' || s[len(s)-1] != 'z' {
		t.Errorf("%d bytes, %.10q…%q", len(s), s, s[len(s)-10:])
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range splitSeeds() {
		f.Add(s, "other. text", 20, false)
		f.Add("first", s, 500, true)
	}
	f.Fuzz(func(t *testing.T, a, b string, limit int, tool bool) {
		src := said(a, b)
		if tool {
			src[1].Role = "tool"
		}
		checkExtract(t, src, Extract(src, limit), limit)
	})
}

func splitSeeds() []string {
	return []string{"", "One. Two! Three?", "```\ncode\n```", "終わり。始め", "ok so, well the 5433",
		"\xff. A", "a\u2028b. \u3000C", "1. x 2. y"}
}

func TestSeedsExist(t *testing.T) {
	if len(splitSeeds()) < 5 || len(codecSeeds()) < 5 {
		t.Error("fuzz targets have no seeds")
	}
}

// The user's words stay, and a sentence that refers to a neighbour stands with it.
func TestSpoken(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"Ok, so the port is 5433.", "Ok, so the port is 5433."},
		{"Good idea, thanks for that. The port is 5433.",
			"Good idea, thanks for that.|The port is 5433."},
		{"No! Never touch it.", "No! Never touch it."},
		{"Ana has the key of the shed. It hangs in the hall. We meet there.",
			"Ana has the key of the shed. It hangs in the hall.|We meet there."},
		{"We take the red one.\nAnd that's final.", "We take the red one. And that's final."},
		{"It leans on nothing here.", "It leans on nothing here."},
		{"Right. …  So we go on.", "Right. … So we go on."},
		{"終わり。始め！", "終わり。|始め！"},
		{"Look at this one.\n```\nthis = 1\n```\nThat is all of it.",
			"Look at this one.|this = 1|That is all of it."},
		{strings.Repeat("w ", 59) + "end. And so on.",
			strings.Repeat("w ", 59) + "end.|And so on."},
	} {
		var got []string
		for _, p := range spoken(tt.text) {
			got = append(got, p.text)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%.60q\n got %s\nwant %s", tt.text, s, tt.want)
		}
	}
}
