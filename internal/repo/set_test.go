package repo

import (
	"strings"
	"testing"
)

func TestSetLine(t *testing.T) {
	for _, c := range []struct{ name, text, key, line, want string }{
		{"an empty file", "", "a.b", "a.b = 1", "a.b = 1\n"},
		{"in the place of the default", "# what it is\n# a.b = 0\n# a.c = 0\n", "a.b", "a.b = 1",
			"# what it is\na.b = 1\n# a.c = 0\n"},
		{"in its own place", "# a.b = 0\na.b = 5 # mine\na.c = 1\n", "a.b", "a.b = 1",
			"# a.b = 0\na.b = 1\na.c = 1\n"},
		{"before a table", "x.y = 1\n[s]\nb = 2\n", "a.b", "a.b = 1",
			"x.y = 1\na.b = 1\n\n[s]\nb = 2\n"},
		{"not in a table", "[s]\na.b = 2\n", "a.b", "a.b = 1", "a.b = 1\n\n[s]\na.b = 2\n"},
		{"no newline at the end", "x.y = 1", "a.b", "a.b = 1", "x.y = 1\na.b = 1\n"},
		{"a value of several lines", "a.b = [\n\"x\",\n]\n", "a.b", "a.b = []", ""},
	} {
		got, ok := setLine(c.text, c.key, c.line)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, got, ok)
		}
	}
}

// Whatever a config file says, a line for a setting changes no other setting.
func FuzzSetLine(f *testing.F) {
	f.Add("window.evict_at = 40\n[lock]\ntimeout = \"1s\"\n", "window.graduate_at", "12")
	f.Add(template(), "gc.auto", "7")
	f.Add("[gc]\nauto = 1\n", "gc.auto", "7")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		table := settings()
		before, err := parseConfig(text, "", table)
		if err != nil {
			t.Skip()
		}
		plain, err := tomlValue(key, value, "", byUserFile)
		if err != nil {
			t.Skip()
		}
		changed, ok := setLine(text, key, key+" = "+plain)
		if !ok {
			return
		}
		after, err := parseConfig(changed, "", table)
		if err != nil {
			return // SetConfig refuses it
		}
		values := map[string]string{}
		for _, g := range after {
			values[g.key] = g.text
		}
		for _, g := range before {
			if g.key != key && values[g.key] != g.text {
				t.Errorf("%s was %q and is %q in\n%s", g.key, g.text, values[g.key], changed)
			}
		}
		if _, set := values[key]; !set && strings.TrimSpace(changed) != "" {
			t.Errorf("%s is not set in\n%s", key, changed)
		}
	})
}
