package fsck

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
)

// checkEpochs compares the ref of each branch's epoch with the branch: the ref must name the epoch
// of the nearest epoch entry on the line of first parents, and must exist if there is such an
// entry.
func (f *checker) checkEpochs() {
	if f.refs == nil || f.graph == nil {
		return
	}
	for _, name := range graph.SortedNames(f.refs) {
		rest, ok := strings.CutPrefix(name, graph.EpochsPrefix)
		if _, branch := f.refs[graph.SessionsPrefix+rest]; ok && !branch {
			f.fault("ref", name, "", "is the epoch of a branch that is not there")
		}
		if rest, ok = strings.CutPrefix(name, graph.SessionsPrefix); !ok {
			continue
		}
		tip, err := f.graph.Meet(f.refs[name].ID)
		if err != nil {
			continue // checkGraph reports it
		}
		got, want := f.refs[graph.EpochsPrefix+rest].ID, f.graph.EpochAt(tip)
		if got != want && !f.holed(tip) {
			f.fault("ref", graph.EpochsPrefix+rest, "",
				fmt.Sprintf("names %s, and the branch was told %s", orNothing(got),
					orNothing(want)))
		}
	}
}

// holed reports whether an entry on the line of first parents is lost.
func (f *checker) holed(i uint32) bool {
	for up := f.graph.ParentsOf(i); len(up) > 0 && !f.graph.Stands(i); up = f.graph.ParentsOf(i) {
		i = up[0].To()
	}
	return f.graph.Stands(i)
}

func orNothing(id format.ID) string {
	if id.IsZero() {
		return "nothing"
	}
	return id.String()
}
