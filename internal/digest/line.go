package digest

import (
	"strings"
	"unicode/utf8"
)

// squeeze makes one line of a text by turning white space into single spaces.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// oneLine is squeeze for a text that may be invalid UTF-8.
func oneLine(s string) string { return squeeze(valid(s)) }

func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// firstLine returns the first non-empty line of s with single spaces, cut to most bytes.
func firstLine(s string, most int) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = squeeze(line); line != "" {
			return Cut(line, most)
		}
	}
	return ""
}

// Cut returns s, or the beginning of s with an ellipsis if s has more than most bytes. It cuts
// between words if there is a space in the second half.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if i := strings.LastIndexByte(s[:n], ' '); i > n/2 {
		n = i
	}
	return strings.TrimRight(s[:n], " ") + " …"
}

// eachLine calls yield for the non-empty lines of an output, with single spaces, until yield
// returns false. Of an output longer than maxOutput it uses the first and the last half.
func eachLine(output string, yield func(string) bool) {
	if len(output) > maxOutput {
		output = output[:maxOutput/2] + "\n" + output[len(output)-maxOutput/2:]
	}
	for line := range strings.SplitSeq(output, "\n") {
		if isListed(line) {
			continue
		}
		if line = oneLine(line); line != "" && !yield(line) {
			return
		}
	}
}

// isListed reports whether a line begins with a number and a tab, like the output of cat -n.
func isListed(line string) bool {
	line = strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(line, "0123456789")
	return len(rest) < len(line) && strings.HasPrefix(rest, "\t")
}

// isNumbered reports whether a line belongs to a numbered listing: it is a number followed by an
// arrow, a colon, a bar or a hyphen, or consists of digits and punctuation.
func isNumbered(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) == len(line) {
		return false
	}
	if strings.TrimLeft(rest, "0123456789 ,.") == "" {
		return true
	}
	return strings.HasPrefix(rest, "→") || strings.IndexByte("|-:", rest[0]) >= 0
}

// tells reports whether a line tells something: it has a word of three letters, and is not only the
// name of a number.
func tells(line string) bool {
	if name, value, ok := strings.Cut(line, ":"); ok && !strings.Contains(name, " ") &&
		!strings.ContainsFunc(value, isLetter) {
		return false
	}
	run := 0
	for _, r := range line {
		if run++; !isLetter(r) {
			run = 0
		}
		if run == 3 {
			return true
		}
	}
	return false
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7F }
