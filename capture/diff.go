package capture

import (
	"bytes"
	"strings"
)

// maxCompared bounds the lines that are compared with each other: more than that are shown as taken out and put in.
const maxCompared = 2000

// Diff shows how one text becomes another: each line that goes after "-", each that comes after "+", and three lines around them.
func Diff(before, after []byte) string {
	a, b := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(after, []byte("\n"))
	head := 0
	for head < len(a) && head < len(b) && bytes.Equal(a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	var out strings.Builder
	show := func(sign string, lines [][]byte) {
		for _, line := range lines {
			if len(line) > 0 {
				out.WriteString(sign + strings.TrimRight(string(line), "\r\n") + "\n")
			}
		}
	}
	const around = 3
	show(" ", a[max(0, head-around):head])
	merged(a[head:len(a)-tail], b[head:len(b)-tail], show)
	show(" ", a[len(a)-tail:min(len(a), len(a)-tail+around)])
	return out.String()
}

// merged shows two runs of lines with what both have in the same order once.
func merged(a, b [][]byte, show func(string, [][]byte)) {
	if len(a) > maxCompared || len(b) > maxCompared {
		show("-", a)
		show("+", b)
		return
	}
	longest := make([][]int, len(a)+1) // of a[i:] and b[j:], how many lines in common
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if bytes.Equal(a[i], b[j]) {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && bytes.Equal(a[i], b[j]):
			show(" ", a[i:i+1])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			show("-", a[i:i+1])
			i++
		default:
			show("+", b[j:j+1])
			j++
		}
	}
}
