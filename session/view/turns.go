package view

import (
	"strings"

	"github.com/gemini-ctx/ctx/sanitize"
)

// side is who speaks in a turn.
type side int

const (
	userSide side = iota
	modelSide
	systemSide // only where the provider has such a role in the middle of a conversation
)

// turn is what one side says until the other speaks. A user turn begins with the results of the calls of the model turn
// before it, all of them, in the order of the calls.
type turn struct {
	side  side
	items []item
}

const (
	noResultText = "no result recorded"
	leadText     = "[the conversation goes on from here]"
)

// turns makes turns of messages. Results move up to the turn right after their call; a call without a result gets one that
// says so, and a result without a call is quoted as text. With system, messages of that role have turns of their own, else
// they are user text in a wrapper that they cannot close. Blank texts are left out, since providers refuse them. An update is user text wherever it
// stands; what it may stand beside is the provider's.
func turns(messages []said, system bool, how placing) []turn {
	b := turnBuilder{results: map[string]item{}, how: how}
	for _, m := range messages {
		for _, it := range m.items {
			if it.kind == resultItem && it.key != "" {
				b.results[it.key] = it
			}
		}
	}
	for _, m := range messages {
		if m.Update {
			b.update(m.items[0])
			continue
		}
		if m.Role == "system" {
			b.system(m, system)
			continue
		}
		for _, it := range m.items {
			b.item(m.Role, it)
		}
	}
	b.answer()
	return b.turns
}

type turnBuilder struct {
	turns   []turn
	calls   []item          // of the last turn, not answered yet
	results map[string]item // by key, what was not said yet
	how     placing
}

// placing is what an update may stand beside in a user turn.
type placing int

const (
	besideAll    placing = iota // it is a part of its own, beside results too
	apartResults                // never in a turn with results, which then has another one after it
	inText                      // at the end of the text before it, if that is of the turn
)

// update puts what the model was told behind what the user said last. Two of them share a place.
func (b *turnBuilder) update(it item) {
	b.answer()
	if n := len(b.turns); n > 0 && b.turns[n-1].side == userSide {
		last := &b.turns[n-1]
		switch end := &last.items[len(last.items)-1]; {
		case b.how == apartResults && last.items[0].kind == resultItem:
			b.turns = append(b.turns, turn{side: userSide, items: []item{it}})
			return
		case b.how == inText && end.kind != resultItem:
			*end = textOf(end.text + "\n" + it.text)
			return
		}
	}
	b.add(userSide, it)
}

func (b *turnBuilder) item(role string, it item) {
	switch {
	case it.kind == callItem:
		b.add(modelSide, it)
		b.calls = append(b.calls, it)
	case it.kind == resultItem && it.key != "":
		if _, due := b.results[it.key]; due {
			b.answer()
		}
	case it.kind == resultItem:
		b.add(userSide, textOf(readable(it)))
	case it.kind == textItem && strings.TrimSpace(it.text) == "":
	case role == "model":
		b.add(modelSide, it)
	default:
		b.add(userSide, it)
	}
}

func (b *turnBuilder) system(m said, native bool) {
	text := readableAll(m.items)
	switch {
	case strings.TrimSpace(text) == "":
	case native:
		b.add(systemSide, textOf(text))
	default:
		b.add(userSide, textOf("<system-update>\n"+sanitize.Escape(text)+"\n</system-update>"))
	}
}

// add appends to the last turn if it is of that side, else opens one. Nobody speaks before the calls are answered.
func (b *turnBuilder) add(s side, it item) {
	if s != modelSide {
		b.answer()
	}
	if n := len(b.turns); n > 0 && b.turns[n-1].side == s {
		b.turns[n-1].items = append(b.turns[n-1].items, it)
		return
	}
	b.turns = append(b.turns, turn{side: s, items: []item{it}})
}

// answer closes a model turn that has calls with a user turn that has their results.
func (b *turnBuilder) answer() {
	if len(b.calls) == 0 {
		return
	}
	var answers []item
	for _, c := range b.calls {
		r, ok := b.results[c.key]
		if !ok {
			r = resultOf(c.id, c.name, noResultText, true)
			r.wire, r.key = c.wire, c.key
		}
		delete(b.results, c.key)
		answers = append(answers, r)
	}
	b.calls = nil
	b.turns = append(b.turns, turn{side: userSide, items: answers})
}

// startWithUser puts a user turn before a model turn that nothing precedes.
func startWithUser(ts []turn, bare bool) []turn {
	if !bare || len(ts) == 0 || ts[0].side != modelSide {
		return ts
	}
	return append([]turn{{side: userSide, items: []item{textOf(leadText)}}}, ts...)
}

func textOf(s string) item { return item{kind: textItem, text: s} }

// readable is what a person reads of an item.
func readable(it item) string {
	switch it.kind {
	case callItem:
		return "[tool call " + it.name + " " + compact(it.args) + "]"
	case resultItem:
		return "[tool result " + it.name + "] " + withNotes(it)
	}
	return it.text
}

// withNotes is what a tool said, and what it attached.
func withNotes(it item) string {
	return strings.Join(append([]string{it.text}, it.notes...), "\n")
}

func readableAll(items []item) string {
	texts := make([]string, len(items))
	for i, it := range items {
		texts[i] = readable(it)
	}
	return strings.Join(texts, "\n")
}
