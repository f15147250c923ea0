package brief

import (
	"strings"
	"testing"
)

func TestJoined(t *testing.T) {
	line := func(seq uint64, pos int, s Section, text string) Line {
		return Line{Section: s, Seq: seq, Pos: pos, Text: text}
	}
	listed := func(pos int, text string) Line {
		return Line{Section: Story, Seq: 1, Pos: pos, Heading: "We know: ",
			Text: "We know: " + text}
	}
	for _, c := range []struct {
		name  string
		lines []Line
		want  string
	}{
		{"in a row", []Line{line(1, 2, Story, "It rains."), line(1, 3, Story, "Hard")},
			"noted: It rains. Hard\n"},
		{"an item of a list", []Line{line(1, 2, Story, "rain"), line(1, 3, Story, "wind")},
			"noted: rain; wind\n"},
		{"something between", []Line{line(1, 2, Story, "It rains."), line(1, 4, Story, "Hard.")},
			"noted: It rains. … Hard.\n"},
		{"a heading once", []Line{listed(1, "1. rain"), listed(3, "3. wind"),
			line(1, 4, Story, "Take a coat.")}, "noted: We know: 1. rain … 3. wind; Take a coat.\n"},
		{"its own line", []Line{line(1, 0, Story, "We know:"), listed(1, "1. rain")},
			"noted: We know: 1. rain\n"},
		{"the user's", []Line{line(1, 0, Story, "> Rain"), line(1, 1, Story, "> wind")},
			"noted: > Rain; wind\n"},
		{"another message", []Line{line(1, 2, Story, "Rain."), line(2, 3, Story, "Wind.")},
			"noted: Rain.\nnoted: Wind.\n"},
		{"another section", []Line{line(1, 2, Concluded, "Rain."), line(1, 3, Story, "Wind.")},
			"concluded: Rain.\nnoted: Wind.\n"},
		{"signs of the state", []Line{line(1, 2, State, "on main"), line(1, 3, State, "committed")},
			"state: on main\nstate: committed\n"},
		{"a mark once", []Line{
			{Section: Story, Pos: 1, Mark: "(doubted) ", Text: "(doubted) It rains."},
			{Section: Story, Pos: 2, Mark: "(doubted) ", Text: "(doubted) Hard."}},
			"noted: (doubted) It rains. Hard.\n"},
		{"a lead with its list", []Line{line(1, 2, Story, "It says:"), line(1, 3, Story, "1. rain")},
			"noted: It says: 1. rain\n"},
		{"a lead alone", []Line{line(1, 2, Story, "It says:"), line(1, 4, Story, "Hard.")},
			"noted: Hard.\n"},
		{"a lead at the end", []Line{line(1, 2, Story, "It says:")}, ""},
		{"a long one ends", []Line{line(1, 2, Story, strings.Repeat("rain ", 80)+"."),
			line(1, 3, Story, "Wind.")},
			"noted: " + strings.Repeat("rain ", 80) + ".\nnoted: Wind.\n"},
	} {
		if got := show(joined(c.lines)); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}
