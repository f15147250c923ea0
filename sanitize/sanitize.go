package sanitize

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
	"github.com/gemini-ctx/ctx/internal/sanitize/secrets"
	"github.com/gemini-ctx/ctx/internal/sanitize/tokens"
)

// Finding says how often one class was found. It never contains a secret.
type Finding struct {
	Class string // one of the classes in the package comment
	Count int    // number of replaced secrets, or of removed or repaired runes
}

// maxRounds is the most times that the rules run over one text. Ordinary text with secrets settles
// in two rounds: one that redacts and one that finds nothing.
const maxRounds = 16

// errUnsettled says that the rules still find secrets after maxRounds rounds.
var errUnsettled = errors.New("rules do not settle")

// Text cleans plain text. It returns the cleaned text, which is valid UTF-8 without controls and
// known secrets, and the findings, sorted by class. It does not modify b, and returns b itself if
// it finds nothing. It trims nothing.
//
// Text returns an error only if the rules do not settle. Then out and found are nil, and the text
// must not be stored.
func Text(b []byte) (out []byte, found []Finding, err error) {
	var t tally
	out, err = text(b, &t)
	if err != nil {
		return nil, nil, fmt.Errorf("sanitize text: %w", err)
	}
	return out, t.findings(), nil
}

// text is Text, but adds the findings to t.
func text(b []byte, t *tally) ([]byte, error) {
	b, controls, broken := controls.Strip(b, nil)
	t.add("control", controls)
	t.add("utf8", broken)
	for range maxRounds {
		spans := secrets.Find(b)
		if len(spans) == 0 {
			return b, nil
		}
		b = secrets.Redact(b, spans)
		for _, s := range spans {
			t.add(s.Class, 1)
		}
	}
	return nil, errUnsettled
}

// tally counts findings. A slice is fast enough because there are few classes.
type tally []Finding

func (t *tally) add(class string, n int) {
	if n == 0 {
		return
	}
	*t = AddFindings(*t, []Finding{{class, n}})
}

// findings returns the counts sorted by class, or nil if there are none.
func (t tally) findings() []Finding {
	slices.SortFunc(t, func(a, b Finding) int { return strings.Compare(a.Class, b.Class) })
	return t
}

// total returns the number of findings.
func (t tally) total() int {
	n := 0
	for _, f := range t {
		n += f.Count
	}
	return n
}

// AddFindings adds the findings b to a, one finding a class.
func AddFindings(a, b []Finding) []Finding {
	for _, f := range b {
		at := slices.IndexFunc(a, func(has Finding) bool { return has.Class == f.Class })
		if at < 0 {
			a = append(a, f)
		} else {
			a[at].Count += f.Count
		}
	}
	return a
}

// Escape makes s safe inside the <context_clusters> element and inside a Markdown fence: & becomes
// &amp;, < becomes &lt;, > becomes &gt;, and three backticks become three apostrophes. Stored text
// is never escaped. Text for a prompt is escaped once, because a second time would show.
func Escape(s string) string {
	makeEscapes.Do(func() {
		escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "```", "'''")
	})
	return escapes.Replace(s)
}

// escapes is made at first use, so that no program pays for it when it starts.
var (
	escapes     *strings.Replacer
	makeEscapes sync.Once
)

// CheckPattern returns the error in a pattern of the user, or nil. docs/secrets.md explains the
// notation.
func CheckPattern(pattern string) error { return tokens.Check(pattern) }

// UsePatterns makes the whole program also search for these patterns from now on. Their findings
// have the class "extra". The patterns replace those of the last call; nil removes them. If a
// pattern is bad, UsePatterns returns the error of CheckPattern for the first bad one and changes
// nothing. It may be called while other goroutines clean texts.
func UsePatterns(patterns []string) error { return secrets.UsePatterns(patterns) }

// Prints says whether what a command prints is a secret of which nothing but the command says so.
// Its method Values returns the secrets in what the command printed.
type Prints = secrets.Prints

// PrintedBy says what a simple command prints: nothing but a secret, as `pass show` does, or what
// it is given the name of, as `printenv DB_PASSWORD` does, or other things.
func PrintedBy(words []string) Prints { return secrets.PrintedBy(words) }

// Known returns a text, or JSON, with a marker in place of each of some values that are known to be
// secrets. It returns b itself if it has none of them.
func Known(b []byte, values []string) ([]byte, []Finding) {
	var t tally
	values = slices.SortedFunc(slices.Values(values), func(a, b string) int {
		return len(b) - len(a) // one may be in another
	})
	for _, v := range values {
		inJSON := strings.Trim(string(jsonvalue.Encode(v)), `"`)
		for _, form := range []string{v, inJSON} {
			if n := bytes.Count(b, []byte(form)); n > 0 && form != "" {
				b = bytes.ReplaceAll(b, []byte(form), []byte(secrets.Marker("password")))
				t.add("password", n)
			}
		}
	}
	return b, t.findings()
}

// Line makes a foreign text one line that can neither move the cursor of a terminal nor begin a new
// line, reorder its letters or hide some. Line ends and tabs become spaces. Other controls, marks
// of direction, spaces without width and tag characters become U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == 0x2028 || r == 0x2029:
			return ' '
		case r < ' ' || r == 0x7f || controls.IsC1(r) || Hides(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// Hides reports whether a character hides text or reorders it: marks and overrides of direction,
// spaces without width, byte order marks, and the tag characters, which a model can read and a
// person does not see.
func Hides(r rune) bool {
	return r == 0x061c || r == 0x200b || r == 0x2060 || r == 0xfeff ||
		r >= 0x200e && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r >= 0xe0000 && r <= 0xe007f
}

// Shown returns a text of several lines without C1 controls, carriage returns and what Hides: all
// of it can be seen where it is shown to a person, or quoted to a model.
func Shown(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || controls.IsC1(r) || Hides(r) {
			return -1
		}
		return r
	}, s)
}
