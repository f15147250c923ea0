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

// wordReach is the number of bytes that cutStart may cut in addition to begin with a whole word.
const wordReach = 32

// cutStart cuts the beginning of s so that the rest costs at most most, and puts a line in its
// place that says how much is missing and how to print it. It returns a text that costs no more as
// it is.
func cutStart(s string, most int, id format.ID) string {
	spent, at := 0, len(s)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		if spent += runeCost(r); spent > most {
			break
		}
		at -= size
	}
	if at == 0 {
		return s
	}
	if i := strings.IndexFunc(s[at:min(len(s), at+wordReach)], unicode.IsSpace); i >= 0 {
		at += i + 1
	}
	at = min(at, len(s))
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return fmt.Sprintf("[… %d tokens cut, ctx show %s]\n%s", summarize.Tokens(s[:at]), id.Short(shortID), s[at:])
}

// cutMessage returns m with texts and results cut to limit and media replaced by notes.
func cutMessage(m messageItems, limit int) messageItems {
	items := make([]item, len(m.items))
	for i, it := range m.items {
		items[i] = it
		switch it.kind {
		case callItem:
			continue
		case mediaItem, otherItem:
			items[i].kind, items[i].raw = textItem, nil
			items[i].text = cutStart(it.text, limit, m.ID)
			m.cut = true
			continue
		}
		text := cutStart(withNotes(it), limit, m.ID)
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
