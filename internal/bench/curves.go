package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// A curve is what a command needs in stores of growing size.
type curve struct {
	name   string
	points []point
}

type point struct {
	n int
	took
}

// compactUpTo is the largest store that grow compacts; a larger one takes minutes.
const compactUpTo = 100_000

// grow measures commands in stores of the given sizes, writes an SVG, and adds the figures as
// rows.
func (b *bench) grow(sizes []int, file string) error {
	var all []*curve
	named := map[string]*curve{}
	for _, n := range sizes {
		dir, err := b.project(true)
		if err != nil {
			return err
		}
		points, err := b.grown(dir, n)
		if err != nil {
			return err
		}
		for _, p := range points {
			c := named[p.name]
			if c == nil {
				c = &curve{name: p.name}
				named[p.name], all = c, append(all, c)
			}
			c.points = append(c.points, p.points...)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	for _, c := range all {
		var times, memories []string
		for _, p := range c.points {
			times = append(times, fmt.Sprintf("%d: %s", p.n, millis(p.wall)))
			memories = append(memories, fmt.Sprintf("%d: %s", p.n, size(p.memory)))
		}
		b.rows = append(b.rows,
			row{what: c.name, ctx: strings.Join(times, ", "), memory: strings.Join(memories, ", ")})
	}
	return os.WriteFile(file, []byte(draw(all)), 0o644)
}

// grown makes a store of n messages and measures each command in it.
func (b *bench) grown(dir string, n int) (curves []curve, err error) {
	lines := filepath.Join(dir, "lines")
	if err := generate(n, inJSON(lines)); err != nil {
		return nil, err
	}
	add := func(name string, t took) { curves = append(curves, curve{name, []point{{n, t}}}) }
	t, err := b.fed(dir, lines, b.ctx, "append", "-s", "talk", "--jsonl")
	if err != nil {
		return nil, err
	}
	add("append --jsonl of all", t)
	maintenance := [][]string{{"gc"}, {"fsck"}, {"rebuild"}}
	if n <= compactUpTo {
		maintenance = append([][]string{{"compact", "-s", "talk"}}, maintenance...)
	}
	for _, args := range maintenance {
		t, err := b.run(dir, nil, b.ctx, args...)
		if err != nil {
			return nil, err
		}
		add(args[0], t)
	}
	for _, c := range []struct {
		name string
		args [][]string
	}{
		{"append", [][]string{{"append", "-s", "talk", "--role", "user", "-m", "one more"}}},
		{"log -n 20", [][]string{{"log", "-s", "talk", "-n", "20"}}},
		{"status", [][]string{{"status"}}},
		{"search of a rare word", [][]string{{"search", "zanzibar7"}}},
		{"render --budget 4000", [][]string{{"render", "-s", "talk", "--budget", "4000"}}},
		{"rewind @~1, undo", [][]string{{"rewind", "-s", "talk", "@~1"}, {"undo", "-s", "talk"}}},
	} {
		m, err := b.median(max(b.rounds/4, 1),
			func(int) (took, error) { return b.sequence(dir, c.args) })
		if err != nil {
			return nil, err
		}
		add(c.name, m[0])
	}
	return curves, nil
}

// The picture: two panels side by side, both axes logarithmic, and the names below.
const (
	panelWidth, panelHeight = 380, 300
	margin                  = 60
	nameHeight              = 16
)

// colours tell curves apart; from the eighth on the lines are dashed.
var colours = []string{"#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#34495e", "#d35480"}

// draw returns an SVG of the seconds and of the peak memory of the curves.
func draw(curves []*curve) string {
	var s strings.Builder
	height := margin + panelHeight + margin + nameHeight*((len(curves)+1)/2)
	width := 2*(panelWidth+margin) + margin
	fmt.Fprintf(&s,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "+
			"font-family=\"sans-serif\" font-size=\"12\">\n", width, height)
	fmt.Fprintf(&s, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, height)
	panel(&s, margin, "seconds", curves, func(p point) float64 { return p.wall.Seconds() })
	panel(&s, 2*margin+panelWidth, "peak memory, MB", curves,
		func(p point) float64 { return float64(p.memory) / 1e6 })
	for i, c := range curves {
		x, y := margin+i%2*(panelWidth+margin), 2*margin+panelHeight+i/2*nameHeight
		fmt.Fprintf(&s, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" %s/>\n", x, y-4, x+24,
			y-4, stroke(i))
		fmt.Fprintf(&s, "<text x=\"%d\" y=\"%d\">%s</text>\n", x+30, y, c.name)
	}
	s.WriteString("</svg>\n")
	return s.String()
}

func stroke(i int) string {
	dash := ""
	if i >= len(colours) {
		dash = " stroke-dasharray=\"5 3\""
	}
	return fmt.Sprintf("stroke=\"%s\" stroke-width=\"1.6\" fill=\"none\"%s",
		colours[i%len(colours)], dash)
}

// panel draws one panel with its left border at x.
func panel(s *strings.Builder, x int, title string, curves []*curve, value func(point) float64) {
	low, high := math.Inf(1), math.Inf(-1)
	few, many := math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		for _, p := range c.points {
			v := math.Log10(max(value(p), 1e-4))
			n := math.Log10(float64(p.n))
			low, high, few, many = min(low, v), max(high, v), min(few, n), max(many, n)
		}
	}
	if low > high {
		return
	}
	low, high = math.Floor(low), math.Ceil(high+1e-9)
	across := func(n float64) float64 { return float64(x) + (n-few)/max(many-few, 1e-9)*panelWidth }
	up := func(v float64) float64 { return margin + (high-v)/(high-low)*panelHeight }
	fmt.Fprintf(s, "<text x=\"%d\" y=\"%d\">%s</text>\n", x, margin-16, title)
	for v := low; v <= high; v++ {
		fmt.Fprintf(s, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
			x, up(v), x+panelWidth, up(v))
		fmt.Fprintf(s, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", x-6, up(v)+4,
			math.Pow(10, v))
	}
	for n := math.Ceil(few - 1e-9); n <= many+1e-9; n++ {
		fmt.Fprintf(s, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n", across(n),
			margin+panelHeight+18, math.Pow(10, n))
	}
	for i, c := range curves {
		var points []string
		for _, p := range c.points {
			points = append(points,
				fmt.Sprintf("%.1f,%.1f", across(math.Log10(float64(p.n))),
					up(math.Log10(max(value(p), 1e-4)))))
		}
		fmt.Fprintf(s, "<polyline points=\"%s\" %s/>\n", strings.Join(points, " "), stroke(i))
	}
}
