package sanitize

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
	"github.com/gemini-ctx/ctx/internal/sanitize/tokens"
)

// leaked returns what remains of a sample: eight of a secret's letters and digits in a row, or all
// of a shorter secret. It ignores other characters, which change with quoting and wrapping.
func leaked(s sample, out string) string {
	out = string(unmarkedBy([]byte(out), " \x00 "))
	plain := alnum(out)
	if decoded, err := url.QueryUnescape(out); err == nil {
		plain += " " + alnum(decoded)
	}
	for _, secret := range s.secrets {
		secret = alnum(secret)
		n := min(8, len(secret))
		for i := 0; i+n <= len(secret); i++ {
			if strings.Contains(plain, secret[i:i+n]) {
				return secret[i : i+n]
			}
		}
	}
	return ""
}

// unmarkedBy is unmarked, but puts sign in the place of each marker.
func unmarkedBy(b []byte, sign string) []byte {
	var out []byte
	for {
		before, rest, ok := bytes.Cut(b, []byte("[REDACTED:"))
		out = append(out, before...)
		if !ok {
			return out
		}
		_, b, _ = bytes.Cut(rest, []byte("]"))
		out = append(out, sign...)
	}
}

func alnum(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0 || r < 0x80 && chars.IsAlnum(byte(r)) {
			return r
		}
		return -1
	}, s)
}

// score counts the samples of one row.
type score struct{ tried, caught int }

func (c score) String() string {
	if c.tried == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*float64(c.caught)/float64(c.tried), 'f', 1, 64)
}

// recallSeed differs from the seed with which the rules were improved.
const recallSeed = 20261121

// TestRecall puts made-up secrets of each kind in each place, and counts those of which nothing
// remains. CTX_RECALL=n makes n of each kind in each place (20 by default), CTX_SEED sets another
// seed; -v prints the table, and CTX_MISSES=n the first n misses of each kind in each place.
func TestRecall(t *testing.T) {
	each, seed, show := number("CTX_RECALL", 20), uint64(number("CTX_SEED", recallSeed)),
		number("CTX_MISSES", 0)
	t.Logf("seed %d, %d of each kind in each place", seed, each)
	kinds, spots := forms(), places()
	byPlace := make([]score, len(spots))
	var all score
	for k, f := range kinds {
		var row score
		cells := make([]score, len(spots))
		for p, spot := range spots {
			r := rand.New(rand.NewPCG(seed, uint64(k)<<32|uint64(p)))
			missed := 0
			for range each {
				s := f.make(r)
				in, asJSON, ok := spot.put(r, s)
				if !ok {
					continue
				}
				out := cleaned(t, in, asJSON)
				cells[p].tried++
				if rest := leaked(s, out); rest == "" {
					cells[p].caught++
				} else if missed++; missed <= show {
					t.Logf("MISS %s, %s: %s left of\n%s\n=>\n%s", f.kind, spot.name, rest, in, out)
				}
			}
			row.add(cells[p])
			byPlace[p].add(cells[p])
		}
		all.add(row)
		t.Logf("%-28s %5d %5s%%  %s", f.kind, row.tried, row, weak(spots, cells))
		if want := recallFloor(f.kind); 100*float64(row.caught) < want*float64(row.tried) {
			t.Errorf("%s: %s%% of %d caught, and %.1f%% were before", f.kind, row, row.tried, want)
		}
	}
	for p, spot := range spots {
		t.Logf("in %-25s %5d %5s%%", spot.name, byPlace[p].tried, byPlace[p])
	}
	t.Logf("all %-24s %5d %5s%%", "", all.tried, all)
}

func (c *score) add(d score) { c.tried += d.tried; c.caught += d.caught }

// weak lists the places in which some were missed.
func weak(spots []place, cells []score) string {
	var out []string
	for p, c := range cells {
		if c.caught < c.tried {
			out = append(out, fmt.Sprintf("%s %s", spots[p].name, c))
		}
	}
	return strings.Join(out, ", ")
}

// cleaned returns in without its secrets, and checks that cleaning it again changes nothing.
func cleaned(t *testing.T, in string, asJSON bool) string {
	t.Helper()
	clean := Text
	if asJSON {
		clean = JSON
	}
	out, _, err := clean([]byte(in))
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	again, _, err := clean(out)
	if err != nil || string(again) != string(out) {
		t.Fatalf("%q is %q, and then %q %v", in, out, again, err)
	}
	return string(out)
}

// number returns a number from the environment.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// recallFloor returns the share of a kind, in percent, that the rules catch with any seed.
func recallFloor(kind string) float64 {
	switch kind {
	case "password, words":
		return 5 // words are no secret by their form; see docs/threat-model.md
	case "password with symbols":
		return 90
	case "URL with password", "command line", ".netrc":
		return 91
	case "table: okta", "table: scaleway", "table: alibaba":
		// One has a blank, which no URL has; others are short or look like a name in capitals
		return 87
	case "table: fireworks", "table: freemius", "table: frameio":
		return 94
	case "DSN", ".pgpass", "password, drawn by lot", "XML":
		return 94
	}
	return 97.5
}

// TestClassesAreListed compares the classes of the table and of the package comment with those of
// the samples.
func TestClassesAreListed(t *testing.T) {
	page, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "The other classes are:\n//\n")
	list, _, _ = strings.Cut(list, "\n//\n")
	listed := strings.Fields(strings.ReplaceAll(list, "//", " "))
	for _, s := range tokens.Table() {
		if !slices.Contains(listed, s.Class) {
			listed = append(listed, s.Class)
		}
	}
	var all tally
	r := rand.New(rand.NewPCG(1, 1))
	for _, f := range forms() {
		for range 60 {
			s := f.make(r)
			if s.name != "" {
				s.text = snake(s.name) + ": " + s.text
			}
			if _, err := text([]byte(s.text), &all); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, f := range all.findings() {
		if !slices.Contains(listed, f.Class) {
			t.Errorf("%s is not listed", f.Class)
		}
	}
	for _, class := range listed {
		if !hasClass(all, class) {
			t.Errorf("no sample is of class %s", class)
		}
	}
}
