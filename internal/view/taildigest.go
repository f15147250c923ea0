package view

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// digestLead is the line before sentences of messages that are not printed whole.
const digestLead = "[quoted in part, of earlier messages]\n"

// maxDigested is the largest number of omitted messages, the newest, from which sentences are
// quoted.
const maxDigested = 512

// withDigest returns kept, and before it the best sentences of all other messages that fit.
func (f fitter) withDigest(all, kept []messageItems) ([]messageItems, []Drop) {
	printed := idsOf(kept)
	rest := slices.DeleteFunc(slices.Clone(all), func(m messageItems) bool { return printed[m.ID] })
	list := f.digest(rest[max(0, len(rest)-maxDigested):], kept)
	if len(list) == 0 {
		return kept, droppedOf(rest, nil)
	}
	quoted := lists.Set(lists.Map(list, func(s summarize.Sentence) format.ID { return s.Entry }))
	return append([]messageItems{digestOf(list)}, kept...), droppedOf(rest, quoted)
}

// digest returns the best sentences of messages that fit beside kept, without those that the prefix
// quotes.
func (f fitter) digest(messages, kept []messageItems) []summarize.Sentence {
	if !f.p.digests() || len(messages) == 0 || f.work != nil {
		return nil
	}
	r := f.r
	r.tail = slices.Concat(f.lead, kept)
	left := f.room - room(cost(f.p.suffix(r)))
	var src []summarize.Source
	for _, m := range messages {
		if m.Update {
			continue // it is printed whole or not at all
		}
		src = append(src, summarize.Source{Entry: m.ID, Seq: m.Seq, Role: m.Role, Author: m.Author,
			Text: readableAll(m.items)})
	}
	list := slices.DeleteFunc(
		summarize.Extract(src, int(left)/perToken), func(s summarize.Sentence) bool {
			return slices.ContainsFunc(f.quotes, func(q quote) bool {
				return q.entry == s.Entry && strings.Contains(q.text, s.Text)
			})
		})
	for len(list) > 0 && !f.fitsDigest(list, kept, len(messages)) {
		list = list[:len(list)-1-len(list)/8]
	}
	return list
}

// fitsDigest reports whether sentences fit before kept, where they shorten or drop so many
// messages.
func (f fitter) fitsDigest(list []summarize.Sentence, kept []messageItems, messages int) bool {
	return f.fits(append([]messageItems{digestOf(list)}, kept...), messages, messages)
}

// digestOf makes a message of sentences.
func digestOf(list []summarize.Sentence) messageItems {
	texts := lists.Map(summarize.Order(list),
		func(s summarize.Sentence) string { return unforged(s.Text) })
	return messageItems{Message: Message{Role: "user"}, digest: true,
		items: []item{textOf(digestLead + strings.Join(texts, "\n"))}}
}

// droppedOf names the messages of rest: the quoted ones as shortened, the others as missing.
func droppedOf(rest []messageItems, quoted map[format.ID]bool) []Drop {
	var missing, shorter dropList
	for _, m := range rest {
		if quoted[m.ID] {
			shorter.add(DropShortened, 1, m.ID)
		} else {
			missing.add(DropMessage, 1, m.ID)
		}
	}
	return merge(missing, slices.Clip(shorter))
}

// othersPart is the divisor of the budget for lines about other sessions.
const othersPart = 5

// OthersRoom returns the largest cost of lines about other sessions under a budget, in quarters of
// a token.
func OthersRoom(budget int) int { return BriefRoom(budget) / othersPart }

// othersLeft is the divisor of the room after the prefix for them: the newest messages come first.
const othersLeft = 3

// othersLead is the line before lines about other sessions.
const othersLead = "[from other sessions of this project]\n"

// others returns the lines about other sessions, for at most most; in a short rendering without
// those that tell nothing by themselves.
func (w *Work) others(p printer, most room, short bool) []messageItems {
	if w == nil || len(w.Others) == 0 || !p.digests() {
		return nil
	}
	text := ""
	for _, l := range w.Others {
		next := text + "[" + l.Entry.Short(briefID) + "] " + oneLine(l.Text) + "\n"
		if !most.holds(cost(othersLead+next)) || short && prose.IsBare(l.Text) {
			continue
		}
		text = next
	}
	if text == "" {
		return nil
	}
	return []messageItems{{Message: Message{Role: "user"}, digest: true,
		items: []item{textOf(othersLead + strings.TrimSuffix(text, "\n"))}}}
}
