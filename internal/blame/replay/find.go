package replay

import (
	"slices"
	"strings"
)

// place is a range of whole lines, and what stands there after a replacement.
type place struct {
	from, to int
	now      []string
}

// findAll returns the places of a text in lines, and what the lines are with another in its place.
// The places do not overlap.
func findAll(list []string, old, now string) []place {
	if old == "" {
		return nil
	}
	text := strings.Join(list, "\n")
	starts := make([]int, len(list)+1)
	for i, s := range list {
		starts[i+1] = starts[i] + len(s) + 1
	}
	lineAt := func(offset int) int {
		n, found := slices.BinarySearch(starts, offset)
		if !found {
			n--
		}
		return n
	}
	var out []place
	for at := 0; ; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			return out
		}
		begin, end := at+i, at+i+len(old)
		from, to := lineAt(begin), lineAt(end)
		head, tail := list[from][:begin-starts[from]], list[to][end-starts[to]:]
		if n := len(out); n > 0 && out[n-1].to > from { // on the same line as the place before
			last := &out[n-1]
			gap := text[at:begin]
			// The end of what the last place wrote is the text after it, up to the end of its line.
			joined := strings.Join(last.now, "\n")
			joined = joined[:len(joined)-(starts[last.to]-1-at)] + gap + now + tail
			last.to, last.now = to+1, split(joined)
		} else {
			out = append(out, around(from, to, head+now, tail, end == starts[to] && to > from))
		}
		at = end
	}
}

// around returns the place of a text that begins in a line and ends in another. If it ends before
// the first letter of that line, and what takes its place does too, the line has no part in it.
func around(from, to int, now, tail string, atStart bool) place {
	if atStart && (now == "" || strings.HasSuffix(now, "\n")) {
		lines := split(now)
		return place{from, to, lines[:len(lines)-1]}
	}
	return place{from, to + 1, split(now + tail)}
}

// findHunk returns the place of the lines of a hunk: exactly, or without white space at the ends of
// lines. Among several places the first one after the anchor counts.
func findHunk(list []string, e *Edit) (place, bool) {
	old, now := hunkLines(e.Old), hunkLines(e.New)
	if len(old) == 0 {
		end := len(list)
		if end > 0 && list[end-1] == "" {
			end--
		}
		if e.Anchor != "" {
			if at := slices.IndexFunc(list,
				func(s string) bool {
					return strings.TrimSpace(s) == strings.TrimSpace(e.Anchor)
				}); at >= 0 {
				end = at + 1
			}
		}
		return place{end, end, now}, true
	}
	first := 0
	if e.Anchor != "" {
		first = 1 +
			slices.IndexFunc(list,
				func(s string) bool { return strings.TrimSpace(s) == strings.TrimSpace(e.Anchor) })
	}
	for _, same := range sameness {
		for _, start := range []int{first, 0} {
			if at := indexLines(list[start:], old, same); at >= 0 {
				return place{start + at, start + at + len(old), now}, true
			}
		}
	}
	return place{}, false
}

// sameness are the ways in which tools compare lines, the strictest first.
var sameness = []func(a, b string) bool{
	func(a, b string) bool { return a == b },
	func(a, b string) bool {
		return strings.TrimRight(a, " \t\r") == strings.TrimRight(b, " \t\r")
	},
	func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) },
}

func indexLines(list, what []string, same func(a, b string) bool) int {
	for at := 0; at+len(what) <= len(list); at++ {
		n := 0
		for n < len(what) && same(list[at+n], what[n]) {
			n++
		}
		if n == len(what) {
			return at
		}
	}
	return -1
}

// hunkLines returns the lines of a text of which each is ended by LF.
func hunkLines(text string) []string {
	if text == "" {
		return nil
	}
	return split(strings.TrimSuffix(text, "\n"))
}

// find returns the places that an edit changes; nil if it fits nowhere, or in several places where
// it should fit in one.
func find(list []string, e *Edit) []place {
	if e.Hunk {
		if p, ok := findHunk(list, e); ok {
			return []place{p}
		}
		return nil
	}
	all := findAll(list, e.Old, e.New)
	switch {
	case len(all) == 1 || e.All && len(all) > 0:
		return all
	case len(all) > 1:
		return nil
	}
	return findLoose(list, e)
}

// findLoose finds the lines of an edit by their words: several tools forgive other white space at
// the ends of lines. There has to be one such place.
func findLoose(list []string, e *Edit) []place {
	old := split(strings.TrimSuffix(e.Old, "\n"))
	if squeezed(strings.Join(old, "")) == "" {
		return nil
	}
	same := sameness[2]
	at := indexLines(list, old, same)
	if at < 0 || indexLines(list[at+1:], old, same) >= 0 {
		return nil
	}
	return []place{{at, at + len(old), split(strings.TrimSuffix(e.New, "\n"))}}
}

// similar returns the place where lines stand with some of them changed: between the lines that
// occur once in both. There have to be at least two of those, or half of all lines.
func similar(list, what []string) (from, to int, ok bool) {
	partner := Pairs(list, what)
	count := map[string]int{}
	for _, s := range list {
		count[s]++
	}
	first, last, anchors, telling := -1, -1, 0, 0
	for i, s := range what {
		if Letters(s) == 0 {
			continue
		}
		telling++
		if partner[i] < 0 || count[s] != 1 {
			continue
		}
		anchors++
		if first < 0 {
			first = i
		}
		last = i
	}
	if anchors == 0 || anchors < 2 && 2*anchors < telling || 3*anchors < telling {
		return 0, 0, false
	}
	from = max(partner[first]-first, 0)
	to = min(partner[last]+len(what)-last, len(list))
	// A place that is much longer than what is looked for is two places.
	if to-from > 2*len(what)+10 {
		return 0, 0, false
	}
	return from, to, true
}
