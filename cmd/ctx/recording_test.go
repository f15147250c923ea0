package main

import (
	"errors"
	"fmt"
	"html"
	"strconv"
	"strings"
)

// This file draws what a terminal shows as an SVG that plays by itself.

// Recording is a sequence of screens of a terminal.
type Recording struct {
	Label         string // what is to be seen, for those who do not see it
	Columns, Rows int    // of the terminal
	Scenes        []Scene
}

// Scene is a screen that begins empty, and what is typed there.
type Scene []Step

// Step is a command line and what it prints, with the control sequences for colours.
type Step struct{ Command, Output string }

// The size of a character in pixels. Most fonts of one width are 0.6 as wide as they are high;
// textLength fits the others.
const (
	charWidth, lineHeight = 8.4, 20.0
	marginX, marginY      = 16.0, 54.0
)

// Times in seconds: a person types fast here, and reads a screen of twenty lines in five seconds.
const (
	perKey, beforeTyping, afterTyping = 0.045, 0.4, 0.35
	perLine, perOutput, perScene      = 0.2, 0.7, 1.2
)

const prompt = "$ "

// SVG returns the picture. It is animated by CSS alone, so it plays where scripts do not run, and
// where motion is not wanted it is the last screen. The same recording gives the same bytes. An
// error says what does not fit on the screen, or is no character or colour that is known here.
func (r Recording) SVG() ([]byte, error) {
	d := drawing{Recording: r}
	for i, s := range r.Scenes {
		if err := d.scene(s, i == len(r.Scenes)-1); err != nil {
			return nil, fmt.Errorf("recording: scene %d: %w", i+1, err)
		}
	}
	width, height := 2*marginX+float64(r.Columns)*charWidth, marginY+float64(r.Rows)*lineHeight+10
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" role="img" aria-label="%s">`+"\n<style>\n%s",
		px(width), px(height), html.EscapeString(r.Label), svgStyle)
	for _, k := range d.frames {
		b.WriteString(k.css(d.now))
	}
	fmt.Fprintf(&b,
		"@media (prefers-reduced-motion: reduce) { * { animation: none !important } }\n</style>\n"+
			`<rect class="w" x=".5" y=".5" width="%s" height="%s" rx="8"/>`+"\n",
		px(width-1), px(height-1))
	for i, class := range []string{"r", "y", "g"} {
		fmt.Fprintf(&b, `<circle class="%s" cx="%d" cy="20" r="5.5"/>`+"\n", class, 22+18*i)
	}
	fmt.Fprintf(&b,
		`<clipPath id="p"><rect x="1" y="1" width="%s" height="%s"/></clipPath>`+
			"\n<g clip-path=\"url(#p)\">\n%s</g>\n</svg>\n",
		px(width-2), px(height-2), d.body.String())
	return []byte(b.String()), nil
}

// svgStyle has the colours for light and for dark, and how everything is when nothing moves: the
// last scene is there, and no cursor.
const svgStyle = `text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; white-space: pre; fill: #24292f }
.w { fill: #fff; stroke: #d0d7de } .c { fill: #fff } .k { fill: #57606a }
.b { font-weight: 700 } .d { fill: #6e7781 } text.f1 { fill: #cf222e } text.f2 { fill: #116329 } text.f3 { fill: #7d4e00 }
text.f4 { fill: #0550ae } text.f5 { fill: #8250df } text.f6 { fill: #0e6b74 } circle.r { fill: #ff5f57 } circle.y { fill: #febc2e } circle.g { fill: #28c840 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .w { fill: #0d1117; stroke: #30363d } .c { fill: #0d1117 } .k { fill: #8b949e }
.d { fill: #8b949e } text.f1 { fill: #ff7b72 } text.f2 { fill: #7ee787 } text.f3 { fill: #e3b341 } text.f4 { fill: #79c0ff } text.f5 { fill: #d2a8ff } text.f6 { fill: #76e3ea }
}
.h { opacity: 0 }
`

// frame is when something is shown, and how far it goes meanwhile.
type frame struct {
	name        string
	from, until float64
	start, end  float64 // of the motion
	steps       int     // of the motion; 0 for none
}

// css returns the animation of something in a recording that lasts for a time.
func (k frame) css(whole float64) string {
	at := func(t float64) string { return strconv.FormatFloat(100*t/whole, 'f', 2, 64) + "%" }
	if k.steps > 0 {
		return fmt.Sprintf(
			"#%[1]s { animation: %[1]s %[2]ss infinite } @keyframes %[1]s { 0%%, %[3]s { "+
				"transform: none; animation-timing-function: steps(%[4]d) } %[5]s, 100%% { "+
				"transform: translateX(%[6]spx) } }\n",
			k.name, px(whole), at(k.start), k.steps, at(k.end), px(float64(k.steps)*charWidth))
	}
	first := ""
	if k.from > 0 {
		first = "0% { opacity: 0 } "
	}
	return fmt.Sprintf(
		"#%[1]s { animation: %[1]s %[2]ss step-end infinite } @keyframes %[1]s { %[3]s%[4]s { "+
			"opacity: 1 } %[5]s { opacity: 0 } }\n",
		k.name, px(whole), first, at(k.from), at(k.until))
}

// drawing is a recording on its way to be an SVG.
type drawing struct {
	Recording
	now    float64
	frames []frame
	body   strings.Builder
}

// during says when what comes next is shown, and returns its name.
func (d *drawing) during(from, until float64) string {
	name := fmt.Sprintf("a%d", len(d.frames))
	d.frames = append(d.frames, frame{name: name, from: from, until: until})
	return name
}

// scene draws a scene, which stays when nothing moves if it is the last.
func (d *drawing) scene(s Scene, last bool) error {
	type timed struct {
		Step
		prompted, typing, typed, printed float64
	}
	begin := d.now
	var steps []timed
	for _, step := range append(s, Step{}) {
		t := timed{Step: step, prompted: begin}
		if n := len(steps); n > 0 {
			t.prompted = steps[n-1].printed
		}
		t.typing = d.now + beforeTyping
		t.typed = t.typing + perKey*float64(len([]rune(step.Command)))
		t.printed = t.typed + afterTyping
		steps = append(steps, t)
		if step.Command != "" {
			d.now = t.printed + perOutput + perLine*float64(strings.Count(step.Output, "\n"))
		}
	}
	d.now += perScene
	hidden := ` class="h"`
	if last {
		hidden = ""
	}
	fmt.Fprintf(&d.body, `<g id="%s"%s>`+"\n", d.during(begin, d.now), hidden)
	row := 0
	for _, t := range steps {
		if err := d.typed(&row, t.Command, t.prompted, t.typing, t.typed, t.printed); err != nil {
			return err
		}
		if t.Command == "" {
			break
		}
		fmt.Fprintf(&d.body, `<g id="%s">`+"\n", d.during(t.printed, d.now))
		if err := d.text(&row, t.Output); err != nil {
			return fmt.Errorf("%s: %w", t.Command, err)
		}
		d.body.WriteString("</g>\n")
	}
	d.body.WriteString("</g>\n")
	return nil
}

// typed draws a prompt and a command behind it that is uncovered key by key. Without a command the
// cursor stands there until the scene is over.
func (d *drawing) typed(row *int, command string, prompted, typing, typed, printed float64) error {
	line, y := prompt+command, *row
	fmt.Fprintf(&d.body, `<g id="%s">`+"\n", d.during(prompted, d.now))
	if len([]rune(line)) > d.Columns {
		return fmt.Errorf("%s is longer than %d columns", line, d.Columns)
	}
	if err := d.text(row, "\x1b[32;1m$\x1b[0m \x1b[1m"+command+"\x1b[0m\n"); err != nil {
		return err
	}
	n := len([]rune(command))
	if n == 0 {
		printed = d.now
	}
	cover := d.during(prompted, printed)
	fmt.Fprintf(&d.body, `<g id="%s" class="h">`, cover)
	x, top := marginX+charWidth*float64(len(prompt)), marginY+lineHeight*float64(y)-15
	if n > 0 {
		name := cover + "m"
		d.frames = append(d.frames, frame{name: name, start: typing, end: typed, steps: n})
		fmt.Fprintf(&d.body, `<g id="%s"><rect class="c" x="%s" y="%s" width="%s" height="20"/>`,
			name, px(x), px(top), px(charWidth*float64(n+1)))
	}
	fmt.Fprintf(&d.body, `<rect class="k" x="%s" y="%s" width="8" height="18"/>`, px(x), px(top))
	if n > 0 {
		d.body.WriteString("</g>")
	}
	d.body.WriteString("</g>\n</g>\n")
	return nil
}

// text draws lines from a row on, and moves the row behind them. A line that is longer than the
// screen goes on in the next row, as in a terminal.
func (d *drawing) text(row *int, text string) error {
	var now pen
	var run strings.Builder
	column, from := 0, 0
	flush := func() error {
		words := strings.TrimRight(run.String(), " ")
		run.Reset()
		left := strings.TrimLeft(words, " ")
		from += len(words) - len(left)
		if left == "" {
			return nil
		}
		if *row >= d.Rows {
			return fmt.Errorf("more than %d rows", d.Rows)
		}
		n := len([]rune(left))
		fmt.Fprintf(&d.body, `<text%s x="%s" y="%s" textLength="%s">%s</text>`+"\n", now.class(),
			px(marginX+charWidth*float64(from)), px(marginY+lineHeight*float64(*row)),
			px(charWidth*float64(n)), html.EscapeString(left))
		return nil
	}
	for text != "" {
		if rest, escape := strings.CutPrefix(text, "\x1b["); escape {
			codes, after, ended := strings.Cut(rest, "m")
			if !ended {
				return errors.New("a control sequence that is no colour")
			}
			if err := flush(); err != nil {
				return err
			}
			from, text = column, after
			if err := now.set(codes); err != nil {
				return err
			}
			continue
		}
		r := []rune(text[:min(len(text), 4)])[0]
		text = text[len(string(r)):]
		if r == '\n' || column == d.Columns {
			if err := flush(); err != nil {
				return err
			}
			*row++
			column, from = 0, 0
			if r == '\n' {
				continue
			}
		}
		if r < ' ' || r == 0x7f || r >= 0x1100 && (r < 0x2000 || r > 0x2bff) {
			return fmt.Errorf("%q, whose width is not known here", r)
		}
		run.WriteRune(r)
		column++
	}
	return flush()
}

// pen is how characters look.
type pen struct {
	bold, dim bool
	color     byte // '1' to '7'; 0 for that of the terminal
}

// set changes the pen as the numbers of a control sequence say.
func (p *pen) set(codes string) error {
	for code := range strings.SplitSeq(codes, ";") {
		switch {
		case code == "" || code == "0":
			*p = pen{}
		case code == "1":
			p.bold = true
		case code == "2":
			p.dim = true
		case code == "22":
			p.bold, p.dim = false, false
		case code == "39":
			p.color = 0
		case len(code) == 2 && code[0] == '3' && code[1] >= '1' && code[1] <= '6':
			p.color = code[1]
		default:
			return fmt.Errorf("colour %q, which is not known here", code)
		}
	}
	return nil
}

func (p pen) class() string {
	var list []string
	if p.bold {
		list = append(list, "b")
	}
	if p.dim {
		list = append(list, "d")
	}
	if p.color != 0 {
		list = append(list, "f"+string(p.color))
	}
	if list == nil {
		return ""
	}
	return ` class="` + strings.Join(list, " ") + `"`
}

// px returns a number as SVG has it, with two digits behind the point at most.
func px(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
