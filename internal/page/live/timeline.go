package live

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
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

// timeline is how much was said by whom, what of it the branch shows word for word, and what
// happened. Its x axis is the number of messages.
type timeline struct {
	Messages int
	Bars     []path
	Window   string // points
	Marks    []mark
	Legend   []legend
	Seen     [][]any // what the branch showed its model, for the script
}

// path is the bars of a role.
type path struct{ Role, Wide, D string }

type mark struct{ Kind, Text, X string }

type legend struct {
	Kind string
	N    int
}

// Line returns the time line of the session; nil if nothing was said.
func (w *sheet) Line() *timeline {
	tokens, bars := w.bars()
	if len(tokens) == 0 {
		return nil
	}
	line := &timeline{Messages: len(tokens), Bars: paths(bars)}
	x := func(seq uint64) float64 { return float64(seq) / float64(len(tokens)) * lineWidth }
	for _, p := range w.window(tokens) {
		line.Window += fmt.Sprintf("%.0f,%.0f ", x(uint64(p.seq)), p.y)
	}
	kinds := map[string]int{}
	for _, m := range w.Marks {
		kinds[m.Kind]++
		line.Marks = append(line.Marks, mark{m.Kind, m.Text, fmt.Sprintf("%.1f", x(m.Seq))})
	}
	for _, kind := range []string{"leave", "compact", "rewind", "fork", "join", "epoch"} {
		if kinds[kind] > 0 {
			line.Legend = append(line.Legend, legend{kind, kinds[kind]})
		}
	}
	line.Seen = make([][]any, 0, len(w.Seen))
	for _, s := range w.Seen {
		line.Seen = append(line.Seen,
			[]any{s.Tip, s.Through, fmt.Sprintf("%.8s", s.Pin), s.Operation})
	}
	return line
}

// bars returns the tokens of each message of the line, and the bars.
func (w *sheet) bars() (tokens []int, bars []bar) {
	var roles []string
	for i := range w.Turns {
		for j := range w.Turns[i].Items {
			if it := &w.Turns[i].Items[j]; it.Kind == format.KindMessage {
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

// paths returns the bars as one path for each role.
func paths(bars []bar) (list []path) {
	most := 1
	for _, a := range bars {
		most = max(most, a.user+a.model+a.tool)
	}
	wide := float64(lineWidth) / float64(len(bars))
	y := func(n int) float64 { return lineHeight - lineHeight*float64(n)/float64(most) }
	for _, role := range []string{"user", "model", "tool"} {
		d := ""
		for i, a := range bars {
			low, n := 0, a.user
			switch role {
			case "model":
				low, n = a.user, a.model
			case "tool":
				low, n = a.user+a.model, a.tool
			}
			if n > 0 {
				d += fmt.Sprintf("M%.0f %.0fV%.0f", (float64(i)+0.4)*wide,
					min(y(low+n), y(low)-1), y(low))
			}
		}
		list = append(list, path{role, fmt.Sprintf("%.1f", wide*0.8), d})
	}
	return list
}

type point struct {
	seq int
	y   float64
}

// window returns how many tokens the branch showed word for word after each message, as heights.
func (w *sheet) window(tokens []int) (list []point) {
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
		for at < len(w.Seen) && w.Seen[at].Tip <= uint64(seq) {
			if tip := int(w.Seen[at].Tip); len(w.Seen) < mostPoints && tip <= len(tokens) {
				add(tip)
			}
			through = int(w.Seen[at].Through)
			at++
		}
		add(seq)
	}
	for i, v := range values {
		list = append(list, point{seqs[i], lineHeight - (lineHeight-4)*float64(v)/float64(most)})
	}
	return list
}
