package prose

import "strings"

// maxCell is the length in bytes of the longest cell that says little without its column's head.
const maxCell = 14

// WithHeads returns a text in which each short cell of a table in Markdown, as 85 % or ✓, has the
// head of its column before it, from the second column on: a row is told without the others. The
// row of the heads is gone.
func WithHeads(text string) string {
	if !strings.Contains(text, "\n|") {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	heads := []string(nil)
	for i, line := range lines {
		row := strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(row, "|"):
			heads = nil
		case strings.Trim(row, "|-: ") == "" && i > 0:
			heads = cellsOf(lines[i-1])
			lines[i-1], lines[i] = "", ""
		case heads != nil:
			lines[i] = withHeads(row, heads) + line[len(strings.TrimRight(line, "\r\n")):]
		}
	}
	return strings.Join(lines, "")
}

// withHeads returns a row of a table with heads before its short cells.
func withHeads(row string, heads []string) string {
	cells := cellsOf(row)
	for i, cell := range cells {
		if i == 0 || i >= len(heads) || cell == "" || len(cell) > maxCell || HasName(cell) {
			continue
		}
		if head := heads[i]; head != "" && len(head) <= maxHeading {
			cells[i] = head + " " + cell
		}
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// cellsOf returns the cells of a row of a table.
func cellsOf(row string) []string {
	cells := strings.Split(strings.Trim(row, "| \r\n"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(WithoutBold(cells[i]))
	}
	return cells
}
