package view

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// cutEnd returns s if it fits, else the beginning of s that fits, with an ellipsis; "" if not even
// one character fits. It cuts after a sentence or else after a word, unless that loses half of what
// fits.
func cutEnd(s string, fits func(string) bool) string {
	if fits(s) {
		return s
	}
	with := func(n int) string { return strings.TrimRightFunc(s[:n], unicode.IsSpace) + " …" }
	n := sort.Search(len(s), func(n int) bool { return !fits(with(runeStart(s, n))) })
	n = runeStart(s, max(n-1, 0))
	if n == 0 {
		return ""
	}
	for _, border := range []func(string) int{lastSentence, lastWord} {
		if b := border(s[:n]); b > n/2 {
			return with(b)
		}
	}
	return with(n)
}

// runeStart returns the largest start of a character of s that is at most n.
func runeStart(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

func lastSentence(s string) int {
	end := 0
	for _, mark := range []string{". ", "! ", "? ", ".\n", "\n", "。", "！", "？"} {
		if i := strings.LastIndex(s, mark); i >= 0 {
			end = max(end, i+len(mark))
		}
	}
	return end
}

func lastWord(s string) int { return strings.LastIndexFunc(s, unicode.IsSpace) + 1 }

// wordReach is the number of bytes that cutText may cut in addition to begin with a whole word.
const wordReach = 32

// cutText cuts s so that the rest costs at most most, and puts a line in the place of what is
// missing that says how much it is and how to print it. It keeps the beginning of s for head of the
// cost, and the end. It returns a text that costs no more as it is.
func cutText(s string, most, head int, id format.ID) string {
	if cost(s) <= most {
		return s
	}
	first := ""
	if head > 0 {
		first = withoutNumber(beginning(s, head))
		most -= cost(first)
	}
	at := startOfEnd(s, len(first), most)
	if head > 0 {
		at += startOfSentence(s[at:])
		at = len(s) - len(strings.TrimLeftFunc(s[at:], unicode.IsSpace))
	}
	n := summarize.Tokens(s[len(first):at])
	mark := fmt.Sprintf("[… %d tokens cut, ctx show %s]\n", n, id.Short(shortID))
	if first != "" {
		first += "\n"
	}
	return first + mark + s[at:]
}

// beginning returns the beginning of s that costs at most most, cut after a sentence or else after
// a word, unless that loses half of it.
func beginning(s string, most int) string {
	spent, end := 0, len(s)
	for i, r := range s {
		if spent += runeCost(r); spent > most {
			end = i
			break
		}
	}
	for _, border := range []func(string) int{lastSentence, lastWord} {
		if b := border(s[:end]); b > end/2 {
			return s[:b]
		}
	}
	return s[:end]
}

// withoutNumber removes white space and the number of a list item from the end of a text.
func withoutNumber(s string) string {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	if i := strings.LastIndexByte(s, '\n') + 1; strings.Trim(s[i:], "0123456789.)-* ") == "" {
		s = strings.TrimRightFunc(s[:i], unicode.IsSpace)
	}
	return s
}

// startOfSentence returns the index of the first line or sentence that begins in the first half of
// s, or 0.
func startOfSentence(s string) int {
	half := s[:runeStart(s, len(s)/2)]
	if i := strings.IndexByte(half, '\n'); i >= 0 {
		return i + 1
	}
	if i := strings.Index(half, ". "); i >= 0 {
		return i + len(". ")
	}
	return 0
}

// startOfEnd returns the index of the first whole word of the longest end of s[from:] that costs at
// most most.
func startOfEnd(s string, from, most int) int {
	spent, at := 0, len(s)
	for at > from {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		if spent += runeCost(r); spent > most {
			break
		}
		at -= size
	}
	if i := strings.IndexFunc(s[at:min(len(s), at+wordReach)], unicode.IsSpace); i >= 0 {
		at += i + 1
	}
	at = min(at, len(s))
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return at
}

// headOf returns the part of a limit for the beginning of a text of a message. A short rendering
// has no other line that says what the message is about: the answer of a model begins with what was
// done, and what a user writes begins or ends with what is wanted.
func headOf(m messageItems, limit int, short bool) int {
	switch {
	case !short:
		return 0
	case m.Role == "model":
		return limit * 3 / 4
	}
	return limit / 2
}

// cutMessage returns m with texts and results cut to limit and media replaced by notes.
func cutMessage(m messageItems, limit int, short bool) messageItems {
	items := make([]item, len(m.items))
	head := headOf(m, limit, short)
	for i, it := range m.items {
		items[i] = it
		switch it.kind {
		case callItem:
			continue
		case mediaItem, otherItem:
			items[i].kind, items[i].raw = textItem, nil
			items[i].text = cutText(it.text, limit, head, m.ID)
			m.cut = true
			continue
		}
		text := cutText(withNotes(it), limit, head, m.ID)
		if text == it.text && len(it.parts) == 0 {
			continue
		}
		m.cut = true
		if it.kind == textItem {
			items[i] = textOf(text)
			continue
		}
		items[i] = resultOf(it.id, it.name, text, it.failed)
		items[i].wire, items[i].key = it.wire, it.key
	}
	m.items = items
	return m
}
