package find

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/outcome"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// Telling tells people what entries say: a call is a line that says what it did (digest.Did), never
// its arguments as JSON.
type Telling struct {
	Reader *Reader
	// Full shows thoughts, and the arguments of each call below its line, one by one.
	Full bool
	// Results are the entries that answer calls, by the id of the call. With View, those that are
	// missing are looked for among what was said next. How a call without a result ended is not said.
	Results map[string]format.ID
	View    *refs.View

	answer *history.Shown // the newest that was read: calls at once have one
}

// piece is a text of an entry, or a call.
type piece struct {
	text string // of a call: what it did
	args string // of a call
	raw  string // of a call: its line in the words of the entry
}

// Text returns what an entry says.
func (t *Telling) Text(shown *history.Shown) string {
	if shown.Parts == nil || !t.Full && len(shown.Entry.Calls) == 0 {
		return shown.Text
	}
	var said []string
	for _, p := range t.pieces(shown) {
		said = append(said, p.text)
		if t.Full && p.args != "" {
			said = append(said, p.args)
		}
	}
	return strings.Join(said, "\n")
}

// Passage returns what of a hit answers the query, as one line of at most most runes.
func (t *Telling) Passage(h *Hit, most int) string {
	if len(h.Shown.Entry.Calls) == 0 {
		return h.find.excerpt(h.Text, most)
	}
	best, found := "", -1.0
	for _, p := range t.pieces(h.Shown) {
		if n := h.find.weight(p.text + " " + p.args); n > found {
			best, found = p.around(h.find, most), n
		}
	}
	return best
}

// OnlyAsks reports whether an entry only has calls of commands that print what is there: it has the
// words of a question and no answer.
func (t *Telling) OnlyAsks(shown *history.Shown) bool {
	parts, err := message.Parse(shown.Parts)
	calls := message.Deeds(parts)
	return err == nil && len(calls) > 0 && !slices.ContainsFunc(calls, func(c message.Call) bool {
		return !outcome.Looks((&digest.Call{Name: c.Name, Args: c.Args}).Script())
	})
}

// Call returns the line of a call that a pattern has found, as people read it: what the call did
// and the passage of its arguments. is is false for any other line.
func (t *Telling) Call(l *Line, pattern *regexp.Regexp, most int) (passage string, is bool) {
	if !strings.HasPrefix(l.Text, "[call ") || len(l.Shown.Entry.Calls) == 0 {
		return "", false
	}
	for _, p := range t.pieces(l.Shown) {
		if p.raw == l.Text {
			return p.around(patternFinder{pattern}, most), true
		}
	}
	return "", false
}

// finder finds what was asked for in a text.
type finder interface {
	weight(text string) float64
	excerpt(text string, most int) string
}

type patternFinder struct{ pattern }

func (f patternFinder) weight(text string) float64 {
	if f.FindStringIndex(text) != nil {
		return 1
	}
	return 0
}

func (f patternFinder) excerpt(text string, most int) string {
	at := f.FindStringIndex(text)
	if at == nil {
		at = []int{0, 0}
	}
	return search.Passage(text, at[0], at[1], most)
}

type queryFinder struct{ *search.Query }

func (f queryFinder) weight(text string) float64           { return f.Weight(text) }
func (f queryFinder) excerpt(text string, most int) string { return f.Excerpt(text, most) }

// around returns the passage of a piece that was asked for.
func (p *piece) around(f finder, most int) string {
	if p.args == "" || f.weight(p.text) >= f.weight(p.args) {
		return f.excerpt(p.text, most)
	}
	return f.excerpt(p.text, most/2) + " · " + f.excerpt(p.args, most/2)
}

// pieces returns what an entry says, in order.
func (t *Telling) pieces(shown *history.Shown) (list []piece) {
	parts, err := message.Parse(shown.Parts)
	if err != nil || shown.Parts == nil {
		return []piece{{text: shown.Text}}
	}
	root := brief.NewRoot(message.Directory(parts), filepath.Dir(filepath.Dir(t.Reader.Dir)))
	for _, p := range message.Split(parts) {
		switch {
		case p.Call != nil:
			call := message.Calls([]message.Part{p})[0]
			did := root.Shorten(digest.Did(digest.Call{Name: call.Name, Args: call.Args,
				Failed: call.Failed}, t.result(shown, call.ID)))
			list = append(list, piece{text: did, args: argsText(p.Call.Args, did),
				raw: message.Words([]message.Part{p})})
		case p.Result != nil:
			list = append(list, piece{text: p.Result.Printed()})
		case p.Text == "" || p.Thought && !t.Full:
		case p.Thought:
			list = append(list, piece{text: "[thought] " + p.Text})
		default:
			list = append(list, piece{text: p.Text})
		}
	}
	return list
}

// result returns the result of a call of an entry; nil if it is not known.
func (t *Telling) result(shown *history.Shown, call string) *digest.Result {
	id, known := t.Results[call]
	if !known && t.View != nil {
		t.look(shown)
		id, known = t.Results[call]
	}
	if !known || id.IsZero() {
		return nil
	}
	if t.answer == nil || t.answer.ID != id {
		var err error
		if t.answer, err = t.Reader.Parts(id); err != nil {
			t.answer = nil // who reads it says so
			return nil
		}
	}
	parts, _ := message.Parse(t.answer.Parts) // none in a body of another form
	for _, r := range message.Results(parts) {
		if r.ID == call {
			return &digest.Result{Output: r.Output(), Failed: r.Failed()}
		}
	}
	return nil
}

// maxResults is how many messages after a call its result is looked for: others than those of calls
// at once seldom come between.
const maxResults = 16

// look notes the results of an entry's calls that come soon after it.
func (t *Telling) look(shown *history.Shown) {
	if t.Results == nil {
		t.Results = map[string]format.ID{}
	}
	for _, c := range shown.Entry.Calls {
		t.Results[c.ID] = format.ID{}
	}
	left := len(shown.Entry.Calls)
	_ = t.Reader.withIndex(t.View, SearchQuery{}, func(sources []search.Source) error {
		list, err := search.After(sources, shown.Entry.Session, shown.Entry.Seq, maxResults)
		for i := 0; i < len(list) && err == nil && left > 0; i++ {
			var e *format.Entry
			if e, err = t.Reader.Header(list[i].ID); err != nil {
				break
			}
			for _, call := range e.Results {
				if at, asked := t.Results[call]; asked && at.IsZero() {
					t.Results[call] = list[i].ID
					left--
				}
			}
		}
		return err
	}) // without its result a call says only what it did
}

// argsText returns the arguments of a call, a line for each, without those that did says.
func argsText(raw json.RawMessage, did string) string {
	var b strings.Builder
	writeValue(&b, "", raw, did)
	return strings.TrimRight(b.String(), "\n")
}

// writeValue writes a value: an object by its members, a list by its elements, a text as it is.
func writeValue(b *strings.Builder, name string, raw json.RawMessage, did string) {
	if text, ok := jsonvalue.Text(raw); ok {
		line := strings.Join(strings.Fields(text), " ")
		if line != "" && !strings.Contains(did, line) {
			text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
			b.WriteString(name + text + "\n")
		}
		return
	}
	if members, err := jsonvalue.Members(raw); err == nil && len(members) > 0 {
		for _, m := range members {
			writeValue(b, name+m.Name+": ", m.Value, did)
		}
		return
	}
	if list, err := jsonvalue.Elements(raw); err == nil {
		for _, one := range list {
			writeValue(b, name, one, did)
		}
		return
	}
	if len(raw) > 0 && string(raw) != "null" {
		b.WriteString(name + string(raw) + "\n")
	}
}
