package view

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// digestLead stands over the sentences of messages that are not printed whole.
const digestLead = "[quoted in part, of earlier messages]\n"

// digestMost is how many of the messages that are left out a digest is made of, the newest.
const digestMost = 512

// withDigest prints kept, and before it the best sentences of all other messages, as far as there is room.
func (f fitter) withDigest(all, kept []said) ([]said, []Drop) {
	printed := map[format.ID]bool{}
	for _, m := range kept {
		printed[m.ID] = true
	}
	var rest []said
	for _, m := range all {
		if !printed[m.ID] {
			rest = append(rest, m)
		}
	}
	list := f.digest(rest[max(0, len(rest)-digestMost):], kept)
	if len(list) == 0 {
		return kept, droppedOf(rest, nil)
	}
	quoted := map[format.ID]bool{}
	for _, s := range list {
		quoted[s.Entry] = true
	}
	return append([]said{digestOf(list)}, kept...), droppedOf(rest, quoted)
}

// digest returns the best sentences of messages, as far as they fit beside kept, without those that the prefix quotes.
func (f fitter) digest(messages, kept []said) []summarize.Sentence {
	if !f.p.digests() || len(messages) == 0 {
		return nil
	}
	r := f.r
	r.tail = slices.Concat(f.lead, kept)
	left := f.room - room(cost(f.p.rest(r)))
	if f.work != nil {
		return f.workDigest(messages, kept, left)
	}
	var src []summarize.Source
	for _, m := range messages {
		if m.Update {
			continue // it is told whole or not at all
		}
		src = append(src, summarize.Source{Entry: m.ID, Seq: m.Seq, Role: m.Role, Author: m.Author, Text: readableAll(m.items)})
	}
	list := slices.DeleteFunc(summarize.Extract(src, int(left)/perToken), func(s summarize.Sentence) bool {
		return slices.ContainsFunc(f.quotes, func(q quote) bool { return q.entry == s.Entry && strings.Contains(q.text, s.Text) })
	})
	fits := func() bool {
		return f.fits(append([]said{digestOf(list)}, kept...), len(messages), len(messages))
	}
	for len(list) > 0 && !fits() {
		list = list[:len(list)-1-len(list)/8]
	}
	return list
}

// digestOf makes a message of sentences.
func digestOf(list []summarize.Sentence) said {
	var texts []string
	for _, s := range summarize.Order(list) {
		texts = append(texts, s.Text)
	}
	return said{Message: Message{Role: "user"}, digest: true, items: []item{textOf(digestLead + strings.Join(texts, "\n"))}}
}

// droppedOf names the messages of rest: those that are quoted are shortened, the others missing.
func droppedOf(rest []said, quoted map[format.ID]bool) []Drop {
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
