package main

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/summaries"
)

// FuzzReadRev: lines of --batch come one by one, none longer than it may be, and all that was taken
// was there.
func FuzzReadRev(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "a\r\n\r\nb\x00c", "\x00\x00",
		strings.Repeat("x", maxRev) + "\n", strings.Repeat("y", maxRev+1)} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, in []byte, nul bool) {
		r := bufio.NewReaderSize(bytes.NewReader(in), maxRev)
		for n, taken := 0, 0; ; n++ {
			rev, err := readRev(r, nul)
			if err != nil {
				return
			}
			taken += len(rev)
			if len(rev) > maxRev || taken > len(in) || n > len(in) ||
				!bytes.Contains(in, []byte(rev)) {
				t.Fatalf("%.80q of %d bytes, %d so far", rev, len(rev), taken)
			}
		}
	})
}

// FuzzReadAnswer: an answer that is taken has a claim of a known form, and a text.
func FuzzReadAnswer(f *testing.F) {
	claim := strings.Repeat("ab", 32)
	for _, seed := range []string{`{}`, `{"a":1}`, `[1]`, `{`, `null`, ``, `{"claim":1}`,
		`{"text":"\ud800"}`, `{"claim":"` + claim + `","text":"x"}`,
		`{"v":1,"claim":"` + claim +
			`:0-4","text":"","summarizer":"s","version":"1","prompt":null}`,
		`{"claim":"a","claim":"b"}`, `{"v":2}`} {
		f.Add([]byte(seed))
	}
	f.Add([]byte(`{"claim":"entries.` + claim + `.s/main","texts":[{"text":"x","replaces":["` +
		claim + `.0"]}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		b, err := readAnswer(line, checkReplacement)
		if err == nil && b.Texts != nil && b.Text != "" {
			t.Errorf("%q is taken as %+v", line, b)
		}
		a, err := readAnswer(line, checkSummary)
		if err == nil {
			err = summaries.CheckSummary(a.Claim)
			if err != nil || len(a.Text) > len(line) {
				t.Errorf("%q is taken as %+v: %v", line, a, err)
			}
		}
	})
}
