package document

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/internal/view"
)

// Dropped lists in one line how many items of each kind a rendering left out.
func Dropped(drops []view.Drop) string {
	var said []string
	for _, d := range drops {
		what := string(d.Kind)
		if d.Count != 1 && d.Kind != view.DropShortened {
			what += "s"
		}
		said = append(said, fmt.Sprintf("%d %s", d.Count, what))
	}
	return strings.Join(said, ", ")
}
