package replay

import "strings"

// Blocks returns the old and the new text of each block of an edit in the form of Cline and Roo
// Code: lines behind "SEARCH", "=======", and lines before "REPLACE". Any other text has none.
func Blocks(diff string) (list [][2]string) {
	const old, now = 0, 1
	at := -1 // outside of a block
	var block [2]string
	for line := range strings.Lines(diff) {
		mark := strings.TrimRight(line, " \r\n")
		switch {
		case at < 0 && len(mark) >= 10 && strings.Trim(mark, "<- ") == "SEARCH":
			at, block = old, [2]string{}
		case at == old && block[old] == "" && strings.HasPrefix(mark, ":start_line:"),
			at == old && block[old] == "" && mark == "-------":
		case at == old && mark == "=======":
			at = now
		case at == now && len(mark) >= 10 && strings.Trim(mark, ">+ ") == "REPLACE":
			list, at = append(list, block), -1
		case at >= 0:
			block[at] += line
		}
	}
	return list
}
