package brief

import "strings"

// maxJoined is the length in bytes up to which lines are joined.
const maxJoined = 400

// joined returns lines with one for what stands of a message in a row. A heading is told once. What
// announces a line that is not there is left out.
func joined(lines []Line) []Line {
	var out []Line
	last := Line{} // of those that are joined
	for i, l := range lines {
		if l.isWhole(lines) {
			l.Text = l.plainNumber(l.Text)
		}
		if l.Section == Story && strings.HasSuffix(l.Text, ":") &&
			(i+1 == len(lines) || !lines[i+1].continues(l) || lines[i+1].Pos > l.Pos+1) {
			continue
		}
		if n := len(out) - 1; n >= 0 && l.continues(last) && len(out[n].Text) < maxJoined {
			text, head := strings.TrimPrefix(l.Text, "> "), strings.TrimSpace(l.Heading)
			text = strings.TrimPrefix(text, l.Mark)
			if l.Heading == last.Heading || strings.HasSuffix(out[n].Text, head) {
				text = strings.TrimPrefix(text, l.Heading)
			}
			sep := gap
			if l.Pos == last.Pos+1 {
				sep = between(out[n].Text)
			}
			out[n].Text += sep + text
		} else {
			out = append(out, l)
		}
		last = l
	}
	return out
}

// continues reports whether a line is of the message of the one before it, and says nothing but
// what stands there.
func (l Line) continues(before Line) bool {
	return l.Section == before.Section && l.Entry == before.Entry && l.Seq == before.Seq &&
		l.Turn == before.Turn && (l.Section == Story || l.Section == Recap || l.Section == Tool)
}
