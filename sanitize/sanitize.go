package sanitize

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
	"github.com/gemini-ctx/ctx/internal/sanitize/secrets"
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
	for i := range *t {
		if (*t)[i].Class == class {
			(*t)[i].Count += n
			return
		}
	}
	*t = append(*t, Finding{class, n})
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
