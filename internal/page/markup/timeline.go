package markup

import (
	"fmt"
	"strings"
)

// The picture of the time line: its size in units, and the most bars and points that it has.
const (
	lineWidth  = 1000
	lineHeight = 100
	mostBars   = 250
	mostPoints = 250
)

// bar is the tokens of some messages in a row, by role.
type bar struct{ user, model, tool int }

// timeline appends the time line of the session: how much was said by whom, what of it the branch
// shows word for word, and what happened. Its x axis is the number of messages.
func (w *writer) timeline(b []byte) []byte {
	tokens, bars := w.bars()
	if len(tokens) == 0 {
		return b
	}
	n := len(tokens)
	x := func(seq uint64) float64 { return float64(seq) / float64(n) * lineWidth }
	b = fmt.Appendf(b,
		"<section class=line aria-label=\"Time line\"><figure><svg viewBox=\"0 0 %d %d\" "+
			"preserveAspectRatio=none role=img aria-label=\"Time line of %s\">",
		lineWidth, lineHeight, count(n, "message"))
	b = appendBars(b, bars)
	b = append(b, `<polyline class=ctx points="`...)
	for i, p := range w.window(tokens) {
		if i > 0 {
			b = append(b, ' ')
		}
		b = fmt.Appendf(b, "%.0f,%.0f", x(uint64(p.seq)), p.y)
	}
	b = append(b, `"></polyline>`...)
	for _, m := range w.s.Marks {
		at := x(m.Seq)
		b = fmt.Appendf(b, `<line class=%s x1=%.1f x2=%.1f y1=0 y2=%d><title>`, m.Kind, at,
			at, lineHeight)
		b = append(appendText(b, m.Text), "</title></line>"...)
	}
	b = append(b, "<rect id=at y=0 width=2 height=100></rect></svg>\n<figcaption>"...)
	b = append(b,
		"<span class=user>user</span><span class=model>model</span><span "+
			"class=tool>tools</span>"...)
	b = append(b, "<span class=ctx>shown word for word</span>"...)
	seen := map[string]int{}
	for _, m := range w.s.Marks {
		seen[m.Kind]++
	}
	for _, kind := range []string{"leave", "compact", "rewind", "fork", "join", "epoch"} {
		if seen[kind] > 0 {
			b = fmt.Appendf(b, "<span class=%s>%s</span>", kind, count(seen[kind], kind))
		}
	}
	b = append(b, "<label id=sawbox hidden>What the model saw at message "...)
	b = fmt.Appendf(b,
		"<input id=saw type=range min=1 max=%d value=%d><output "+
			"id=sawn></output></label></figcaption></figure></section>\n", n, n)
	b = append(b, `<script type="application/json" id=seen>[`...)
	for i, s := range w.s.Seen {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `[%d,%d,"%.8s",%d,"%s"]`, s.Tip, s.Through, s.Pin, s.Operation,
			plainWord(s.Verb))
	}
	return append(b, "]</script>\n"...)
}

// plainWord returns a word without what is not a small letter or a hyphen.
func plainWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '-' {
			return r
		}
		return -1
	}, s)
}

// bars returns the tokens of each message of the line, and the bars.
func (w *writer) bars() (tokens []int, bars []bar) {
	var roles []string
	for i := range w.s.Turns {
		for j := range w.s.Turns[i].Items {
			if it := &w.s.Turns[i].Items[j]; it.Kind == "message" {
				tokens, roles = append(tokens, it.Tokens), append(roles, it.Role)
			}
		}
	}
	bars = make([]bar, min(mostBars, len(tokens)))
	for i, t := range tokens {
		at := &bars[i*len(bars)/len(tokens)]
		switch roles[i] {
		case "user":
			at.user += t
		case "tool":
			at.tool += t
		default:
			at.model += t
		}
	}
	return tokens, bars
}

func appendBars(b []byte, bars []bar) []byte {
	most := 1
	for _, a := range bars {
		most = max(most, a.user+a.model+a.tool)
	}
	wide := float64(lineWidth) / float64(len(bars))
	for _, role := range []string{"user", "model", "tool"} {
		b = fmt.Appendf(b, `<path class=%s stroke-width=%.1f d="`, role, wide*0.8)
		for i, a := range bars {
			low, n := 0, a.user
			switch role {
			case "model":
				low, n = a.user, a.model
			case "tool":
				low, n = a.user+a.model, a.tool
			}
			if n == 0 {
				continue
			}
			top := lineHeight - lineHeight*float64(low+n)/float64(most)
			bottom := lineHeight - lineHeight*float64(low)/float64(most)
			b = fmt.Appendf(b, "M%.0f %.0fV%.0f", (float64(i)+0.4)*wide, min(top, bottom-1), bottom)
		}
		b = append(b, `"></path>`...)
	}
	return b
}

type point struct {
	seq int
	y   float64
}

// window returns how many tokens the branch showed word for word after each message, as heights.
func (w *writer) window(tokens []int) (list []point) {
	sums := make([]int, len(tokens)+1)
	for i, t := range tokens {
		sums[i+1] = sums[i] + t
	}
	step := max(1, len(tokens)/mostPoints)
	at, through, most := 0, 0, 1
	var values []int
	var seqs []int
	add := func(seq int) {
		v := sums[seq] - sums[min(through, seq)]
		seqs, values, most = append(seqs, seq), append(values, v), max(most, v)
	}
	for seq := 0; seq <= len(tokens); seq += step {
		for at < len(w.s.Seen) && w.s.Seen[at].Tip <= uint64(seq) {
			if tip := int(w.s.Seen[at].Tip); len(w.s.Seen) < mostPoints && tip <= len(tokens) {
				add(tip)
			}
			through = int(w.s.Seen[at].Through)
			at++
		}
		add(seq)
	}
	for i, v := range values {
		list = append(list, point{seqs[i], lineHeight - (lineHeight-4)*float64(v)/float64(most)})
	}
	return list
}
