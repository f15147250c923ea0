package summaries

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
)

// memberText is what a member of a cluster says to a summarizer.
type memberText struct {
	ID    format.ID
	Entry *format.Entry
	Text  string
}

// memberTexts reads what members of a cluster say, in their order. latest reads the latest version
// of a message. Where one of the members calls a tool or has a result, the text of each is its
// facts, one a line, and not what the tools printed; else it is the words of the message.
func memberTexts(
	latest func(format.ID) (*history.Shown, error), ids []format.ID,
) ([]memberText, error) {
	list := make([]memberText, len(ids))
	itself := make([]bool, len(ids))
	var waiting []digest.Message // those before the first that acts: without one there are no facts
	var d digest.Digester
	acts := false
	for i, id := range ids {
		shown, err := latest(id)
		if err != nil {
			return nil, err
		}
		m := DigestMessage(shown)
		m.Entry = id
		if m.Role == "user" {
			m.Branch = "" // the client's record has it, and the next message of the model tells it
		}
		acts = acts || doesAct(m)
		if waiting = append(waiting, m); acts {
			d.Add(waiting)
			waiting = waiting[:0]
		}
		list[i] = memberText{ID: id, Entry: shown.Entry, Text: m.Text}
		itself[i] = tellsItself(m)
	}
	if !acts {
		return list, nil
	}
	lines := factLines(d.Facts())
	for i := range list {
		if !itself[i] {
			list[i].Text = lines[list[i].ID]
		}
	}
	return list, nil
}

// Sources returns members of a cluster as the extractive summarizer takes them. latest reads the
// latest version of a message; the words of its parts need not be in Text.
func Sources(
	latest func(format.ID) (*history.Shown, error), ids []format.ID,
) ([]summarize.Source, error) {
	list, err := memberTexts(latest, ids)
	if err != nil {
		return nil, err
	}
	sources := make([]summarize.Source, len(list))
	for i, m := range list {
		e := m.Entry
		sources[i] = summarize.Source{Entry: m.ID, Seq: e.Seq, Role: e.Role,
			Author: e.Author, Text: m.Text}
	}
	return sources, nil
}

// doesAct reports whether a message calls a tool or has a result.
func doesAct(m digest.Message) bool { return len(m.Calls)+len(m.Results) > 0 }

// tellsItself reports whether a message keeps its words although the digest leaves it out: words of
// the system, and of a tool without a call.
func tellsItself(m digest.Message) bool {
	return !doesAct(m) && (m.Role == "tool" || m.Role == "system")
}

// factLines returns the facts of each message, one a line.
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

// factLine is a fact as a line of a summary. An item of a todo list comes with its state.
func factLine(f digest.Fact) string {
	if f.Kind == digest.Todo && f.State != "" {
		return string(f.State) + ": " + f.Text
	}
	return f.Text
}

// DigestMessage is a message as a digest takes it.
func DigestMessage(shown *history.Shown) digest.Message {
	m := digest.Message{Entry: shown.ID, Seq: shown.Entry.Seq, Role: shown.Entry.Role}
	if shown.Gone != "" {
		return m
	}
	m.Text = shown.Text
	if shown.Parts == nil {
		return m
	}
	parts, err := message.ParseClean(shown.Parts)
	if err != nil {
		m.Text = history.Words(shown.Parts)
		return m
	}
	m.Text, m.Dir = message.Text(parts), message.Directory(parts)
	m.Branch = message.Branch(parts)
	if shown.Entry.Kind == format.KindNote {
		if n, ok := message.NoteOf(shown.Parts); ok {
			m.Note, m.Supersedes = n.Kind, n.Supersedes
			if of := shown.Entry.Source; of != nil {
				m.Origin = of.Message
			}
		}
	}
	for _, c := range message.Deeds(parts) {
		m.Calls = append(m.Calls, digest.Call{ID: c.ID, Name: c.Name, Args: c.Args,
			Failed: c.Failed})
	}
	for _, r := range message.Results(parts) {
		m.Results = append(m.Results,
			digest.Result{ID: r.ID, Name: r.Name, Output: r.Output(), Failed: r.Failed()})
	}
	return m
}
