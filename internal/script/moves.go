package script

import (
	"path"
	"strings"
)

// Move is a file that mv moves, and where to.
type Move struct{ From, To string }

// Moves returns what mv does with its operands. What is moved into a directory keeps its name; a
// directory is what ends with a slash or is named by dots, and what several files are moved to. No
// other directory can be told from a file.
func Moves(operands []string) (list []Move) {
	if len(operands) < 2 {
		return nil
	}
	to := operands[len(operands)-1]
	base := path.Base(to)
	into := len(operands) > 2 || strings.HasSuffix(to, "/") || base == "." || base == ".."
	for _, from := range operands[:len(operands)-1] {
		m := Move{from, to}
		if into {
			m.To = path.Join(to, path.Base(from))
		}
		list = append(list, m)
	}
	return list
}
