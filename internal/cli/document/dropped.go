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
		said = append(said, fmt.Sprintf("%s %d", d.Kind, d.Count))
	}
	return strings.Join(said, ", ")
}
