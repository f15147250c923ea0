package sanitize

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Finding says how often one class was found. It never holds what was found.
type Finding struct {
	Class string // one of the classes listed in the package comment
	Count int    // how many secrets were replaced, or runes removed or repaired
}

// maxRounds bounds how often the rules run over one text. Ordinary text with
// secrets settles in two rounds: one that redacts and one that finds nothing.
const maxRounds = 16

// errUnsettled is returned when a text still yields secrets after maxRounds.
var errUnsettled = errors.New("rules do not settle")

// Text cleans plain text. It returns the cleaned text, valid UTF-8 without
// controls or known secrets, and what was found, sorted by class. The input is
// not modified; when nothing was found, out is b itself. Nothing is trimmed.
//
// The error is not nil only when the rules do not settle; out and found are
// nil then, and the text must not be stored.
func Text(b []byte) (out []byte, found []Finding, err error) {
	var t tally
	out, err = text(b, &t)
	if err != nil {
		return nil, nil, fmt.Errorf("sanitize text: %w", err)
	}
	return out, t.findings(), nil
}

// text is Text with the findings added to t.
func text(b []byte, t *tally) ([]byte, error) {
	b = strip(b, t, nil)
	for range maxRounds {
		spans := secrets(b)
		if len(spans) == 0 {
			return b, nil
		}
		b = replace(b, spans, t)
	}
	return nil, errUnsettled
}

// tally counts findings; there are few classes, so a slice will do.
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

// findings returns the counts sorted by class, nil when there are none.
func (t tally) findings() []Finding {
	slices.SortFunc(t, func(a, b Finding) int { return strings.Compare(a.Class, b.Class) })
	return t
}

// total returns how many findings were added.
func (t tally) total() int {
	n := 0
	for _, f := range t {
		n += f.Count
	}
	return n
}
