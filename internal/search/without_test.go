package search

import (
	"strings"
	"testing"
)

// TestWithout checks what is said of the words that a text lacks.
func TestWithout(t *testing.T) {
	for _, c := range []struct {
		query, text string
		want        string
	}{
		{"fsnotify index file", "the index files are watched by fsnotify", ""},
		{"fsnotify index file", "the index files", "fsnotify"},
		{"what is the port of the gauge", "the port is 5433", "gauge"},
		{"Scanner drops", "it drops the scanner's last token", ""},
		{"one long question with nine telling words about lamps harbours gauges", "none", ""},
	} {
		q, err := Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(q.Without(c.text), " "); got != c.want {
			t.Errorf("%q in %q: without %q, want %q", c.query, c.text, got, c.want)
		}
	}
}
