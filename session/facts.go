package session

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
)

// told is what a member of a cluster says to a summariser.
type told struct {
	id    format.ID
	entry *format.Entry
	text  string
}

// tell reads what members of a cluster say, in their order. latest knows how a message was said last.
// Where one of them calls a tool or answers a call, each says its facts, one a line, and not what the
// tools printed; else it says its words.
func tell(latest func(format.ID) (*Shown, error), ids []format.ID) ([]told, error) {
	list := make([]told, len(ids))
	itself := make([]bool, len(ids))
	var d digest.Digester
	acts := false
	for i, id := range ids {
		shown, err := latest(id)
		if err != nil {
			return nil, err
		}
		m := digestMessage(shown)
		m.Entry = id
		d.Add([]digest.Message{m})
		acts = acts || doesAct(m)
		list[i] = told{id: id, entry: shown.Entry, text: m.Text}
		itself[i] = tellsItself(m)
	}
	if !acts {
		return list, nil
	}
	lines := factLines(d.Facts())
	for i := range list {
		if !itself[i] {
			list[i].text = lines[list[i].id]
		}
	}
	return list, nil
}

// sourcesBy is sources where latest knows how a message was said last.
func sourcesBy(latest func(format.ID) (*Shown, error), ids []format.ID) ([]summarize.Source, error) {
	list, err := tell(latest, ids)
	if err != nil {
		return nil, err
	}
	sources := make([]summarize.Source, len(list))
	for i, m := range list {
		e := m.entry
		sources[i] = summarize.Source{Entry: m.id, Seq: e.Seq, Role: e.Role, Author: e.Author, Text: m.text}
	}
	return sources, nil
}

// doesAct reports whether a message calls a tool or answers a call.
func doesAct(m digest.Message) bool { return len(m.Calls)+len(m.Results) > 0 }

// tellsItself reports whether the digest leaves a message out that no call is the reason of: words of the
// system, and of a tool that nobody called.
func tellsItself(m digest.Message) bool {
	return !doesAct(m) && (m.Role == "tool" || m.Role == "system")
}

// factLines returns by message what facts say, one a line.
func factLines(facts []digest.Fact) map[format.ID]string {
	lines := map[format.ID][]string{}
	for _, f := range facts {
		lines[f.Entry] = append(lines[f.Entry], factLine(f))
	}
	texts := make(map[format.ID]string, len(lines))
	for id, list := range lines {
		texts[id] = strings.Join(slices.Compact(list), "\n")
	}
	return texts
}

// factLine is a fact as a line of a summary: of an item of a todo list with its state.
func factLine(f digest.Fact) string {
	if f.Kind == digest.Todo && f.State != "" {
		return string(f.State) + ": " + f.Text
	}
	return f.Text
}
