package conversation

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// Retract removes entries that a session loses from every forest, except those that another branch
// of the session, or a relative of it, has graduated and keeps. moving are the refs that move in
// the same operation. It removes from ids what it keeps and returns how many members it has
// removed.
func (t *Tx) Retract(
	ids map[format.ID]bool, session string, moving ...format.RefUpdate,
) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	after := map[string]format.Value{}
	for _, name := range t.store.View.Names("sessions/" + session + "/") {
		after[name] = t.store.View.Get(name)
	}
	several := len(after) > 1 || len(moving) > 1
	for _, u := range moving {
		delete(after, u.Name)
		// The entries that another branch moves to may be among ids.
		if several && strings.HasPrefix(u.Name, "sessions/"+session+"/") {
			v := u.New
			v.Frontier = max(v.Frontier, u.Old.Frontier) // FitBranches lowers it later
			after[u.Name] = v
		}
	}
	for _, v := range after {
		if err := t.keepMembersOf(ids, v); err != nil {
			return 0, err
		}
	}
	if err := t.onlyGraduated(ids, session); err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := t.keepShared(ids, session); err != nil || len(ids) == 0 {
		return 0, err
	}
	n := 0
	for _, name := range t.store.Forests() {
		st, err := t.store.DraftOf(name)
		if err != nil {
			return 0, err
		}
		list, err := st.Retract(ids)
		if err != nil {
			return 0, err
		}
		if err := t.store.DecideIn(name, list...); err != nil {
			return 0, err
		}
		n = len(list) // the same for each forest
	}
	if n > 0 {
		t.clusters.DropCandidates() // it keeps terms of members
	}
	return n, nil
}

// onlyGraduated removes from ids what cannot be a member, so that the forest is not searched for
// it.
func (t *Tx) onlyGraduated(ids map[format.ID]bool, session string) error {
	frontier := uint64(0)
	for _, name := range t.store.View.Names("sessions/" + session + "/") {
		frontier = max(frontier, t.store.View.Get(name).Frontier)
	}
	for id := range ids {
		e, err := t.Header(id)
		if err != nil {
			return err
		}
		if e.Kind != format.KindMessage || e.Seq > frontier {
			delete(ids, id)
		}
	}
	return nil
}

// Refresh drops the summaries over messages whose latest version has changed, so that the next
// compaction reads them again. Each member leaves its cluster and returns to its place.
func (t *Tx) Refresh(messages []format.ID) error {
	if len(messages) == 0 {
		return nil
	}
	ids := lists.Set(messages)
	for _, name := range t.store.Forests() {
		st, err := t.store.DraftOf(name)
		if err != nil {
			return err
		}
		out, err := st.Retract(ids)
		if err != nil {
			return err
		}
		for _, d := range out {
			back := d
			back.Kind = format.DecideRestore
			if err := t.store.DecideIn(name, d, back); err != nil {
				return err
			}
		}
		if len(out) > 0 {
			t.clusters.DropCandidates() // it keeps terms of members
		}
	}
	return nil
}

// RepeatAmends copies amends that an imported rewind would remove onto the entry onto, which
// follows seq messages. left are the removed entries, newest first; stays reports whether a message
// stays. A transcript that goes back keeps what it said last of the messages that stay, so that
// RepeatAmends copies the latest amend of each such message of the same agent. A rewind by hand
// restores the earlier text instead. The copies are oldest first; the last is the new tip.
func (t *Tx) RepeatAmends(
	left []history.Entry, onto format.ID, seq uint64, agent string, stays func(format.ID) bool,
) ([]history.Entry, error) {
	var amends []history.Entry
	for _, at := range left {
		e := at.Entry
		if e.Kind != format.KindAmend || e.Source == nil || e.Source.Agent != agent ||
			!stays(e.Amends) {
			continue
		}
		if !slices.ContainsFunc(amends,
			func(later history.Entry) bool { return later.Amends == e.Amends }) {
			amends = append(amends, at)
		}
	}
	if len(amends) == 0 {
		return nil, nil
	}
	if err := t.store.Flush(); err != nil { // Text reads only what is in the store
		return nil, err
	}
	var copies []history.Entry
	for _, at := range slices.Backward(amends) {
		_, text, err := t.Text(at.ID)
		if err != nil {
			if err = history.ButGone(err); err != nil {
				return nil, err
			}
			continue // forgotten
		}
		e := *at.Entry
		e.Parents, e.Seq = []format.ID{onto}, seq
		raw, err := t.SealEntry(&e, text, e.Body.Media)
		if err != nil {
			return nil, err
		}
		onto = t.store.Add(raw)
		copies = append(copies, history.Entry{ID: onto, Entry: &e})
	}
	return copies, nil
}

// keepShared removes from ids the entries that a relative of a session has within its frontier.
func (t *Tx) keepShared(ids map[format.ID]bool, session string) error {
	for _, other := range history.Relatives(t.store.View, session) {
		for _, branch := range history.BranchesIn(t.store.View, other) {
			if len(ids) == 0 {
				return nil
			}
			if err := t.keepMembersOf(ids,
				t.store.View.Get(history.RefName(other, branch))); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepMembersOf removes from ids the entries that a branch at v has within its frontier.
func (t *Tx) keepMembersOf(ids map[format.ID]bool, v format.Value) error {
	for e, err := range t.Walk(v.ID, history.WithJoined) {
		if err != nil || len(ids) == 0 {
			return err
		}
		if e.Seq <= v.Frontier {
			delete(ids, e.ID)
		}
	}
	return nil
}
