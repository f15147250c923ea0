package find

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// branchTips are the tips of branches, by session and by branch. A session that is there has one.
type branchTips map[string]map[string]format.ID

// branchTipsIn returns the tips of the branches whose refs start with prefix.
func branchTipsIn(view *refs.View, prefix string) branchTips {
	list := branchTips{}
	for _, ref := range view.Names(prefix) {
		if session, branch, ok := history.BranchOfRef(ref); ok {
			list.set(session, branch, view.Get(ref).ID)
		}
	}
	return list
}

func (t branchTips) set(session, branch string, tip format.ID) {
	if t[session] == nil {
		t[session] = map[string]format.ID{}
	}
	t[session][branch] = tip
}

// put replaces the branches of a session; none remove it.
func (t branchTips) put(session string, branches map[string]format.ID) {
	if len(branches) == 0 {
		delete(t, session)
		return
	}
	t[session] = branches
}
