package hooks

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns the hunks of a unified diff from one text to another, without the names of files and
// without carriage returns.
func Diff(before, after []byte) string {
	hunks := strings.SplitN(string(diff.Diff("", before, "", after)), "\n", 4)
	return strings.ReplaceAll(hunks[len(hunks)-1], "\r", "")
}
