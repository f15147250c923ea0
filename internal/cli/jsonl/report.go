package jsonl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/sanitize"
)

// skipsTold is the maximum number of skipped lines that are reported one by one. All are counted.
const skipsTold = 20

// Report counts the results of a bulk append.
type Report struct {
	Skip      func(line int, why error) // is told of the first lines that are skipped
	Lines     int                       // that are not blank
	Added     int
	known     int
	amended   int
	Skipped   int
	partial   int // pieces of messages, which are not stored
	forgotten int // kept without their words
	badTimes  int
	broken    int // pieces that were not Unicode
	redacted  map[string]int
	unknown   map[string]int
}

func (r *Report) skip(number int, why error) {
	r.Skipped++
	if r.Skipped <= skipsTold {
		r.Skip(number, why)
	}
}

func (r *Report) appended(line Line, a conversation.Appended) {
	switch {
	case a.Known:
		r.known++
	case a.Amended:
		r.amended++
	default:
		r.Added++
	}
	if a.Forgotten {
		r.forgotten++
	}
	r.broken += line.Broken
	if line.BadTime {
		r.badTimes++
	}
}

func (r *Report) redact(found []sanitize.Finding) {
	for _, f := range found {
		if r.redacted == nil {
			r.redacted = map[string]int{}
		}
		r.redacted[f.Class] += f.Count
	}
}

// Text lists what was not simply appended, for the end of the run.
func (r *Report) Text() (text []string) {
	var said []string
	add := func(n int, what string) {
		if n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(r.Skipped, "skipped")
	add(r.partial, "partial, not stored")
	add(r.known, "known")
	add(r.amended, "amended")
	add(r.forgotten, "kept without words that were forgotten")
	add(r.badTimes, "with a time that cannot be read")
	add(r.broken, "pieces that were not UTF-8 replaced")
	if len(said) > 0 {
		lines := fmt.Sprintf("%d lines", r.Lines)
		if r.Lines == 1 {
			lines = "1 line"
		}
		text = append(text, lines+": "+strings.Join(said, ", "))
	}
	if len(r.redacted) > 0 {
		text = append(text, "cleaned: "+Cleaned(r.redacted))
	}
	if len(r.unknown) > 0 {
		text = append(text, "unknown keys: "+Counts(r.unknown))
	}
	return text
}

// Counts lists the number of each name, sorted by name: "1 a, 2 b". A number behind a name would
// read as a part of it.
func Counts(m map[string]int) string {
	said := lists.Map(slices.Sorted(maps.Keys(m)), func(name string) string {
		return fmt.Sprintf("%d %s", m[name], sanitize.Line(name))
	})
	return strings.Join(said, ", ")
}

// Cleaned lists what sanitizing took out, by class, in words.
func Cleaned(classes map[string]int) string {
	words := map[string]int{}
	for class, n := range classes {
		word := cmp.Or(map[string]string{"control": "control character", "utf8": "broken byte"}[class],
			class+" secret")
		if n != 1 {
			word += "s"
		}
		words[word] = n
	}
	return Counts(words)
}
