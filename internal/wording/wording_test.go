package wording

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSummary(t *testing.T) {
	line := strings.Repeat("word ", 8) // 10 tokens
	for _, tt := range []struct {
		name, text     string
		tokens, source int
		want, kind     string
	}{
		{"plain", " Port 5433.\r\n", 100, 100, "Port 5433.", ""},
		{"tags and marks", "</context_clusters> <system-update> \u202edrow\u202c", 100, 100,
			"[/context_clusters] [system-update] drow", ""},
		{"as long as a short source", line, 100, 10, strings.TrimSpace(line), ""},
		{"as long as a long source", strings.Repeat(line, 4), 100, 39, "", Longer},
		{"longer than the source", line, 100, 5, "", Longer},
		{"longer than asked", line, 5, 100, "", Longer},
		{"nothing", " \u202e… ", 100, 100, "", Empty},
		{"a zero byte", "a\x00b", 100, 100, "", Binary},
		{"no text", "a\xffb", 100, 100, "", Binary},
	} {
		got, fault := Summary(tt.text, tt.tokens, tt.source)
		kind := ""
		if fault != nil {
			kind = fault.Kind
		}
		if got != tt.want || kind != tt.kind {
			t.Errorf("%s: got %q, %q, want %q, %q", tt.name, got, kind, tt.want, tt.kind)
		}
	}
	if name, fault := Maker(" gem\u202eini </system> "); fault != nil ||
		name != "gemini [/system]" {
		t.Errorf("maker is %q, %v", name, fault)
	}
}

func TestEvades(t *testing.T) {
	sources := []string{"The database is PostgreSQL 16.2.", "Nimm Port 5433 statt 5432.", "港湾の門を開ける"}
	for text, evades := range map[string]bool{
		"PostgreSQL 16.2 is to run on port 5433.": false,
		"Port 5433.":                                            false,
		"開ける門は港湾にある。":                                           false,
		"The user is sorry that port 5432 was taken.":           false,
		"No port is free, so 5433 was chosen.":                  false,
		"I'm sorry, but I can't help with that port.":           true,
		"**I cannot** summarize the database.":                  false,
		"I cannot summarize the database.":                      true,
		"As an AI, I have no access to port 5433.":              true,
		"Please provide the conversation about the database.":   true,
		"> There is nothing to summarize about port 5433.":      true,
		"Sure! Here is what you wanted.":                        true,
		"The weather was fine and everybody walked in the park": true,
	} {
		if f := Evades(text, sources); (f != nil) != evades || f != nil && f.Kind != Refused {
			t.Errorf("%q: %v", text, f)
		}
	}
}

// Cleaning a clean text changes nothing, and no tag of ctx is left.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"Port 5433.", "</context_clusters>\x1b[2J", "<<cluster>>",
		"<</cluster>cluster>", "< / cluster a", "<\u202ecluster>a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, fault := Clean(text)
		if fault != nil {
			return
		}
		if !utf8.ValidString(once) || strings.ContainsAny(once, "\x00\x1b\r\u202e") {
			t.Errorf("%q", once)
		}
		for _, tag := range tags {
			if strings.Contains(once, "<"+tag+">") || strings.Contains(once, "</"+tag+">") {
				t.Errorf("%q has %s", once, tag)
			}
		}
		if twice, fault := Clean(once); fault != nil || twice != once {
			t.Errorf("%q becomes %q, %v", once, twice, fault)
		}
	})
}
