package replay

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// line is a line of a file with its writer.
type line struct {
	text string
	by   int // Step.By, or Nobody
}

// split returns the lines of a text. A line feed at the end makes an empty line, so that joining
// the lines gives the text again.
func split(text string) []string { return strings.Split(text, "\n") }

func texts(list []line) []string {
	return lists.Map(list, func(l line) string { return l.text })
}

func written(list []string, by int) []line {
	return lists.Map(list, func(s string) line { return line{s, by} })
}

// minMoved is the number of letters that lines need to be taken for moved ones, as in git blame -M.
const minMoved = 20

// carry returns new lines with their writers: a line that was there before keeps the writer that it
// had, also if only white space changed, or if it moved. All others are by whoever wrote the new
// text. gone are the lines that have no place in the new text.
func carry(old []line, now []string, by int) (out, gone []line) {
	before := texts(old)
	if len(old)*len(now) > maxAligned {
		return carryPartners(old, now, by, Pairs(before, now))
	}
	n, k := len(before)-1, len(now)-1
	if n < 0 || k < 0 || before[n] != "" || now[k] != "" {
		return carryPartners(old, now, by, align(before, now))
	}
	// The empty line after the last line feed is no blank line.
	return carryPartners(old, now, by, append(align(before[:n], now[:k]), n))
}

// carryPartners is carry where the partners of the new lines among the old ones are known.
func carryPartners(old []line, now []string, by int, partner []int) (out, gone []line) {
	out = written(now, by)
	taken := make([]bool, len(old))
	free := make([]bool, len(now)) // lines without a partner
	for i, at := range partner {
		if at < 0 {
			free[i] = true
			continue
		}
		out[i].by, taken[at] = old[at].by, true
	}
	reindented(old, taken, out, partner, free)
	for i := range old {
		if !taken[i] {
			gone = append(gone, old[i])
		}
	}
	return out, moved(gone, out, free)
}

// reindented gives lines that differ from a line before in white space alone its writer, if both
// stand between the same partners.
func reindented(old []line, taken []bool, out []line, partner []int, free []bool) {
	i := 0
	for j := 0; j < len(out); {
		if !free[j] {
			i = max(i, partner[j]+1)
			j++
			continue
		}
		end := j
		for end < len(out) && free[end] {
			end++
		}
		last := i
		for last < len(old) && !taken[last] {
			last++
		}
		thinned(old[i:last], taken[i:last], out[j:end], free[j:end])
		j = end
	}
}

// thinned compares lines without their white space. A line of one character is too common.
func thinned(old []line, taken []bool, out []line, free []bool) {
	if len(old) == 0 || len(out) == 0 {
		return
	}
	thin := func(list []line) []string {
		return lists.Map(list, func(l line) string { return squeezed(l.text) })
	}
	now := thin(out)
	for j, at := range Pairs(thin(old), now) {
		if at >= 0 && len(now[j]) > 1 {
			out[j].by, taken[at], free[j] = old[at].by, true, false
		}
	}
}

// moved gives runs of new lines that stand among the lines that are gone their writers, and returns
// the lines that stay gone. Runs with few letters could stand there by chance.
func moved(gone []line, out []line, free []bool) []line {
	if len(gone) == 0 {
		return nil
	}
	places := map[string][]int{}
	for i := range gone {
		if key := squeezed(gone[i].text); key != "" {
			places[key] = append(places[key], i)
		}
	}
	used := make([]bool, len(gone))
	for i := 0; i < len(out); i++ {
		if !free[i] {
			continue
		}
		at, best := 0, 0
		for _, p := range places[squeezed(out[i].text)] {
			if n := run(gone, used, p, out, free, i); n > best {
				at, best = p, n
			}
		}
		count := 0
		for k := range best {
			count += Letters(out[i+k].text)
		}
		if count < minMoved {
			continue
		}
		for k := range best {
			out[i+k].by, free[i+k], used[at+k] = gone[at+k].by, false, true
		}
		i += best - 1
	}
	rest := gone[:0:0]
	for i := range gone {
		if !used[i] {
			rest = append(rest, gone[i])
		}
	}
	return rest
}

// run returns the number of lines from p in gone that stand from i in out.
func run(gone []line, used []bool, p int, out []line, free []bool, i int) int {
	n := 0
	for p+n < len(gone) && i+n < len(out) && !used[p+n] && free[i+n] &&
		squeezed(gone[p+n].text) == squeezed(out[i+n].text) {
		n++
	}
	return n
}

// splice returns a list with others in the place of list[from:to].
func splice(list []line, from, to int, with []line) []line {
	return slices.Concat(list[:from], with, list[to:])
}
