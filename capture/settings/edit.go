package settings

import (
	"bytes"
	"strings"
)

// replace returns b with what is between two places replaced.
func replace(b []byte, start, end int, by string) []byte {
	out := make([]byte, 0, len(b)+len(by))
	return append(append(append(out, b[:start]...), by...), b[end:]...)
}

// newline is how the lines of a text end.
func newline(b []byte) string {
	if bytes.Contains(b, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// indentOf returns the white space that the line with a place begins with; alone reports whether there is nothing else before the place.
func indentOf(b []byte, at int) (indent string, alone bool) {
	start := bytes.LastIndexByte(b[:at], '\n') + 1
	i := start
	for i < at && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return string(b[start:i]), i == at
}

// unit is by how much a text indents.
func unit(b []byte, root *node) string {
	if len(root.members) > 0 {
		if indent, alone := indentOf(b, root.members[0].start); alone && indent != "" {
			return indent
		}
	}
	return "  "
}

// insert puts an item at the end of a container. Its lines are indented as far as they are in it, by tabs.
func insert(b []byte, root, in *node, item string) []byte {
	nl, step := newline(b), unit(b, root)
	outer, _ := indentOf(b, in.start)
	if indent, alone := indentOf(b, in.end-1); alone {
		outer = indent
	}
	inner := outer + step
	list := in.spans()
	if len(list) > 0 {
		if indent, alone := indentOf(b, list[0][0]); alone {
			inner = indent
		}
	}
	item = strings.ReplaceAll(strings.ReplaceAll(item, "\t", step), "\n", nl+inner)
	last := in.start + 1
	if len(list) > 0 {
		last = list[len(list)-1][1]
	}
	p := &parser{b: b, at: last}
	after := p.space() // comments on what is there stay before what comes
	tail := nl + inner + item
	if !bytes.ContainsRune(b[after:in.end-1], '\n') {
		tail += nl + outer
	}
	b = replace(b, after, after, tail)
	if len(list) > 0 {
		b = replace(b, last, last, ",")
	}
	return b
}

// remove takes the ith child out of a container, with its comma and the white space before it.
func remove(b []byte, in *node, i int) []byte {
	list := in.spans()
	start, end := list[i][0], list[i][1]
	start = lineStart(b, start, in.start+1)
	if len(list) == 1 {
		if len(bytes.TrimSpace(b[in.start+1:start])) == 0 && len(bytes.TrimSpace(b[end:in.end-1])) == 0 {
			return replace(b, in.start+1, in.end-1, "")
		}
		return endedLine(b, start, end)
	}
	if i+1 < len(list) {
		p := &parser{b: b, at: end}
		p.space()
		b = replace(b, p.at, p.at+1, "")
		return endedLine(b, start, end)
	}
	p := &parser{b: b, at: list[i-1][1]}
	p.space()
	comma := p.at
	b = endedLine(b, start, end)
	return replace(b, comma, comma+1, "")
}

// endedLine removes what is between two places, but leaves the end of the line that a comment before it needs.
func endedLine(b []byte, start, end int) []byte {
	line := b[bytes.LastIndexByte(b[:start], '\n')+1 : start]
	rest := b[end:]
	if bytes.Contains(line, []byte("//")) && !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r"), []byte("\n")) {
		return replace(b, start, end, newline(b))
	}
	return replace(b, start, end, "")
}

// lineStart goes back from a place over what indents it and the end of the line before.
func lineStart(b []byte, at, least int) int {
	for at > least && (b[at-1] == ' ' || b[at-1] == '\t') {
		at--
	}
	if at > least && b[at-1] == '\n' {
		at--
		if at > least && b[at-1] == '\r' {
			at--
		}
	}
	return at
}
