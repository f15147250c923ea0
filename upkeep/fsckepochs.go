package upkeep

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

const epochsPrefix = "epochs/"

// checkEpochs holds the ref of each branch's epoch against the branch: it names what the nearest epoch entry on the line of first parents names, and is
// there where there is one.
func (f *checker) checkEpochs() {
	if f.refs == nil || f.graph == nil {
		return
	}
	for _, name := range sortedNames(f.refs) {
		rest, ok := strings.CutPrefix(name, epochsPrefix)
		if _, branch := f.refs[sessionsPrefix+rest]; ok && !branch {
			f.fault("ref", name, "", "is the epoch of a branch that is not there")
		}
		if rest, ok = strings.CutPrefix(name, sessionsPrefix); !ok {
			continue
		}
		tip, err := f.graph.meet(f.refs[name].ID)
		if err != nil {
			continue // told where links are followed
		}
		if got, want := f.refs[epochsPrefix+rest].ID, f.graph.epochAt(tip); got != want {
			f.fault("ref", epochsPrefix+rest, "", fmt.Sprintf("names %s, and the branch was told %s", orNothing(got), orNothing(want)))
		}
	}
}

func orNothing(id format.ID) string {
	if id.IsZero() {
		return "nothing"
	}
	return id.String()
}

// epochAt returns the epoch that the nearest epoch entry from an entry back along first parents names, there or not; zero where there is none.
func (g *graph) epochAt(i uint32) format.ID {
	for {
		for _, e := range g.below(i) {
			if e.want() == epochKind {
				return g.objects[e.to()].id
			}
		}
		for _, l := range g.lost[i] {
			if l.want == epochKind {
				return l.id
			}
		}
		up := g.parentsOf(i)
		if len(up) == 0 {
			return format.ID{}
		}
		i = up[0].to()
	}
}
