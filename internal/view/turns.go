package view

import (
	"strings"

	"github.com/gemini-ctx/ctx/sanitize"
)

// side is the speaker of a turn.
type side int

const (
	userSide side = iota
	modelSide
	systemSide // only if the provider accepts this role after other messages
)

// turn is everything that one side says until the other speaks. A user turn begins with the results
// of all calls of the model turn before it, in the order of the calls.
type turn struct {
	side  side
	items []item
}

const (
	noResultText = "no result recorded"
	leadText     = "[the conversation goes on from here]"
)

// turns makes turns of messages. Results move to the turn right after their call. A call without a
// result gets one that says so, and a result without a call becomes quoted text. If system is true,
// system messages have turns of their own; else they are user text in a wrapper that they cannot
// close. Blank texts are left out, because providers reject them. An update is user text; how says
// where it is placed.
func turns(messages []messageItems, system bool, how updatePlace) []turn {
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
	calls   []item          // of the last turn, without results yet
	results map[string]item // by key: not placed yet
	how     updatePlace
}

// updatePlace says where an update may stand in a user turn.
type updatePlace int

const (
	besideAll    updatePlace = iota // a part of its own, also beside results
	apartResults                    // never in a turn with results; a new turn follows it
	inText                          // at the end of the text before it in the turn
)

// update adds an update to the last user turn, after the last user text.
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

func (b *turnBuilder) system(m messageItems, native bool) {
	text := readableAll(m.items)
	switch {
	case strings.TrimSpace(text) == "":
	case native:
		b.add(systemSide, textOf(text))
	default:
		b.add(userSide, textOf("<system-update>\n"+sanitize.Escape(text)+"\n</system-update>"))
	}
}

// add appends to the last turn if it is of that side, and else begins one. The results of calls
// come before any text of the user.
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

// answer ends a model turn with calls: it adds a user turn with their results.
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

// startWithUser adds a user turn before a model turn that comes first.
func startWithUser(ts []turn, bare bool) []turn {
	if !bare || len(ts) == 0 || ts[0].side != modelSide {
		return ts
	}
	return append([]turn{{side: userSide, items: []item{textOf(leadText)}}}, ts...)
}
