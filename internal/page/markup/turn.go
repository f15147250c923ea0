package markup

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file writes the turns of a conversation, with their steps and items.

// appendProof appends hexadecimal digits as base64url. They are what a click on a sentence shows of
// its source beside the words: the rest of its id, and its digest.
func appendProof(b []byte, digits string) []byte {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return b // no digits of ours: nothing is shown
	}
	return base64.RawURLEncoding.AppendEncode(b, raw)
}

func appendSeq(b []byte, seq uint64) []byte {
	return append(strconv.AppendUint(append(b, '>'), seq, 10), "</a>"...)
}

func (w *writer) turn(b []byte, t *Turn) []byte {
	b = append(b, "<section class=T>"...)
	asked, answer, end := shape(t.Items)
	for i := range asked {
		b = w.item(b, &t.Items[i])
	}
	if steps := t.Items[asked:answer]; len(steps) > 0 {
		b = w.folded(b, steps)
	}
	for i := answer; i < end; i++ {
		b = w.item(b, &t.Items[i])
	}
	if rest := t.Items[end:]; len(rest) > 0 {
		b = w.folded(b, rest)
	}
	return append(b, "</section>\n"...)
}

func (w *writer) folded(b []byte, steps []Item) []byte {
	b = append(appendSteps(append(b, "<details class=S><summary>"...), steps), "</summary>"...)
	for i := range steps {
		b = w.item(b, &steps[i])
	}
	return append(b, "</details>"...)
}

// shape says what of a turn is always to be seen: the items before asked, with the prompt, and
// those from answer to end, with the last words.
func shape(items []Item) (asked, answer, end int) {
	for asked < len(items) && (items[asked].Kind != "message" || items[asked].Role == "user") {
		asked++
	}
	answer = len(items)
	for answer > asked && items[answer-1].Kind != "message" {
		answer--
	}
	if answer > asked && isAnswer(&items[answer-1]) {
		return asked, answer - 1, answer
	}
	return asked, len(items), len(items)
}

// isAnswer reports whether an item is words for the user, without calls.
func isAnswer(it *Item) bool {
	if it.Kind != "message" || it.Role == "tool" {
		return false
	}
	return !slices.ContainsFunc(it.Pieces, func(p Piece) bool { return p.Kind != PieceText })
}

// appendSteps says in a line what steps are.
func appendSteps(b []byte, steps []Item) []byte {
	calls, failed, said, events := 0, 0, 0, 0
	tools := map[string]int{}
	files := map[string]bool{}
	for i := range steps {
		if steps[i].Kind != "message" {
			events++
			continue
		}
		for _, p := range steps[i].Pieces {
			switch {
			case p.Kind == PieceCall:
				calls++
				tools[p.Tool]++
				if p.File != "" {
					files[p.File] = true
				}
			case p.Kind == PieceText && steps[i].Role != "tool":
				said++
			}
			if p.Failed {
				failed++
			}
		}
	}
	if events == len(steps) {
		b = append(b, count(events, "event")...)
		return b
	}
	if calls == 0 {
		b = append(b, count(len(steps), "step")...)
	} else {
		b = append(b, count(calls, "call")...)
		names := slices.SortedFunc(maps.Keys(tools), func(a, c string) int {
			if tools[a] != tools[c] {
				return tools[c] - tools[a]
			}
			return strings.Compare(a, c)
		})
		b = append(b, " <small>"...)
		for i, name := range names[:min(len(names), 4)] {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendName(b, name)
			if tools[name] > 1 {
				b = fmt.Appendf(b, " ×%d", tools[name])
			}
		}
		if len(names) > 4 {
			b = append(b, ", …"...)
		}
		b = append(b, "</small>"...)
	}
	if len(files) > 0 {
		b = fmt.Appendf(b, " · %s", count(len(files), "file"))
	}
	if said > 0 {
		b = fmt.Appendf(b, " · %s between", count(said, "remark"))
	}
	if events > 0 && calls > 0 {
		b = fmt.Appendf(b, " · %s", count(events, "event"))
	}
	if failed > 0 {
		b = fmt.Appendf(b, " · <em>%s</em>", count(failed, "error"))
	}
	return b
}

func (w *writer) item(b []byte, it *Item) []byte {
	if it.Kind != "message" {
		return w.event(b, it)
	}
	b = append(b, "<article class="...)
	switch role := roleClass(it.Role); {
	case it.Hole != "":
		b = append(append(append(b, '"'), role...), " hole\""...)
	case it.Failed:
		b = append(append(append(b, '"'), role...), " bad\""...)
	default:
		b = append(b, role...)
	}
	b = append(append(b, " id="...), it.ID[:anchorLen]...)
	if w.cited[it.ID] && it.Digest != "" {
		b = appendProof(append(b, " data-c="...), it.ID[anchorLen:]+it.Digest)
	}
	b = append(b, "><h3><b>"...)
	if it.Author != "" {
		b = appendName(b, it.Author)
	} else {
		b = append(b, roleClass(it.Role)...)
	}
	b = append(b, "</b>"...)
	if !it.Time.IsZero() {
		b = append(append(b, ' '), w.clock(it.Time)...)
	}
	if it.Note != "" {
		b = append(appendText(append(b, " <i>"...), it.Note), "</i>"...)
	}
	b = append(b, "</h3>"...)
	for _, thought := range it.Aside {
		b = append(b, "<details class=th><summary>thought</summary><div class=t>"...)
		b = append(appendText(b, thought), "</div></details>"...)
	}
	if it.Hole != "" {
		b = append(appendText(append(b, "<p class=gap>"...), it.Hole), "</p>"...)
	} else {
		b = appendPieces(b, it.Pieces)
	}
	return append(b, "</article>"...)
}

func (w *writer) event(b []byte, it *Item) []byte {
	b = append(append(b, "<div class=\"ev "...), it.Kind...)
	b = append(append(append(b, "\" id="...), it.ID[:anchorLen]...), '>')
	if it.Text != "" {
		b = append(b, "<details><summary>"...)
	}
	b = append(append(append(append(b, "<b>"...), it.Kind...), "</b> "...),
		it.Time.UTC().Format(minute)...)
	if it.Note != "" {
		b = appendName(append(b, " "...), it.Note)
	}
	if it.Text != "" {
		b = append(b, "</summary><div class=t>"...)
		b = append(appendProse(b, it.Text), "</div></details>"...)
	}
	if len(it.Left) > 0 {
		b = fmt.Appendf(b, "<details class=left><summary>%s taken back</summary>",
			count(len(it.Left), "message"))
		for i := range it.Left {
			b = w.item(b, &it.Left[i])
		}
		b = append(b, "</details>"...)
	}
	return append(b, "</div>"...)
}

// roleClass returns a role as a class. Roles are of a closed set; anything else is other.
func roleClass(role string) string {
	switch role {
	case "user", "model", "tool", "system":
		return role
	}
	return "other"
}

// clock returns a time, with its day where that is another one than before.
func (w *writer) clock(t time.Time) string {
	t = t.UTC()
	if day := t.Format(time.DateOnly); day != w.day {
		w.day = day
		return day + " " + t.Format("15:04")
	}
	return t.Format("15:04")
}
