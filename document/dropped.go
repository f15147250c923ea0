package document

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/session/view"
)

// Dropped counts what a rendering left out, by kind, in a line.
func Dropped(drops []view.Drop) string {
	var said []string
	for _, d := range drops {
		said = append(said, fmt.Sprintf("%s %d", d.Kind, d.Count))
	}
	return strings.Join(said, ", ")
}
