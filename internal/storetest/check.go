package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/view"
)

// places counts, for every graduated message, the live clusters and tombstones that have it.
func places(t testing.TB, s *session.Store) map[format.ID]int {
	t.Helper()
	st, err := s.History.Forest(View(t, s))
	if err != nil {
		t.Fatal(err)
	}
	count := map[format.ID]int{}
	for _, c := range st.Live() {
		for _, id := range Must[[]format.ID](t)(st.Members(c)) {
			count[id]++
		}
	}
	evicted, err := st.Evicted()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range evicted {
		stone := Must[*format.Tombstone](t)(s.History.Loader().Tombstone(e.Tombstone))
		if err := s.Clusters.EachMember(stone.Node,
			func(id format.ID) error { count[id]++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return count
}

// Check checks what holds of a store at every moment: the messages of a branch are numbered without
// gaps, each of them is in the window or in one cluster only, and the clusters hold nothing else.
// Every branch's epoch is the one that its entries tell.
func Check(t testing.TB, s *session.Store) {
	t.Helper()
	v := View(t, s)
	count := places(t, s)
	for _, name := range v.Names("sessions/") {
		at := v.Get(name)
		if at.Through > at.Frontier {
			t.Fatalf("%s: through %d is past frontier %d", name, at.Through, at.Frontier)
		}
		seq := uint64(0)
		for _, shown := range Must[[]*history.Shown](t)(s.Recall.Log(at.ID, recall.LogOptions{})) {
			if shown.Entry.Kind != format.KindMessage {
				continue
			}
			if seq++; shown.Entry.Seq != seq {
				t.Fatalf("%s: message %v has seq %d, want %d", name, shown.ID, shown.Entry.Seq, seq)
			}
			n := count[shown.ID]
			delete(count, shown.ID)
			if want := 0; seq > at.Frontier && n != want {
				t.Fatalf("%s: message %d is after the frontier %d and %d times in the forest", name,
					seq, at.Frontier, n)
			}
			if want := 1; seq <= at.Frontier && n != want {
				t.Fatalf("%s: message %d is up to the frontier %d and %d times in the forest", name,
					seq, at.Frontier, n)
			}
		}
	}
	if len(count) > 0 {
		t.Fatalf("%d entries are in the forest and in no session", len(count))
	}
	CheckEpochs(t, s)
	if v.Number%16 == 0 {
		checkRenders(t, s)
	}
}

// checkRenders checks that every branch renders its newest messages word for word, and that its
// clusters say nothing of its session that is not of its own history or is in the tail already.
func checkRenders(t testing.TB, s *session.Store) {
	t.Helper()
	v := View(t, s)
	for _, name := range v.Names("sessions/") {
		session, branch, _ := history.BranchOfRef(name)
		in := Must[view.Input](t)(s.Recall.RenderInput(v, session, branch, view.Options{}))
		stands := map[format.ID]bool{} // what the clusters may say
		tip := v.Get(name)
		if err := s.History.Reach(stands, tip.ID); err != nil {
			t.Fatal(err)
		}
		seq := Must[*format.Entry](t)(s.History.Header(tip.ID)).Seq
		if least := min(seq, 3*uint64(s.Config.Window.GraduateAt)/4); uint64(len(in.Tail)) < least {
			t.Fatalf("%s: %d of %d messages are word for word, want %d", name,
				len(in.Tail), seq, least)
		}
		for _, m := range in.Tail {
			delete(stands, m.ID)
		}
		for _, c := range append(in.Clusters, in.Evicted...) {
			for _, p := range c.Parts {
				for _, line := range p.Sentences {
					if e := Must[*format.Entry](t)(
						s.History.Header(line.Entry)); e.Session == session && !stands[line.Entry] {
						t.Fatalf(
							"%s: a cluster says %q, which is not of its history or in its tail",
							name, line.Text)
					}
				}
			}
		}
	}
}

// CheckEpochs checks that the ref of every branch's epoch names what the branch's own entries name.
func CheckEpochs(t testing.TB, s *session.Store) {
	t.Helper()
	view := View(t, s)
	for _, name := range view.Names("epochs/") {
		if !view.Get("sessions/" + strings.TrimPrefix(name, "epochs/")).Exists() {
			t.Fatalf("%s has no branch", name)
		}
	}
	for _, name := range view.Names("sessions/") {
		shown := Must[recall.EpochShown](t)(s.Recall.EpochAt(view.Get(name).ID))
		if got := view.Get("epochs/" + strings.TrimPrefix(name, "sessions/")).ID; got != shown.ID {
			t.Fatalf("the epoch of %s is %v, and the branch was told %v", name, got, shown.ID)
		}
	}
}

// Texts returns the messages of every branch, by the name of its ref.
func Texts(t testing.TB, s *session.Store) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	view := View(t, s)
	for _, name := range view.Names("sessions/") {
		all[name] = []string{}
		for _, shown := range Must[[]*history.Shown](t)(
			s.Recall.Log(view.Get(name).ID, recall.LogOptions{})) {
			all[name] = append(all[name], shown.Text)
		}
	}
	return all
}

// CheckEverythingOnce checks that a branch renders each of its messages once: word for word,
// in a cluster, or in a tombstone. v is the value of the branch.
func CheckEverythingOnce(t *testing.T, s *session.Store, session string, v format.Value) {
	t.Helper()
	in := Must[view.Input](t)(s.Recall.RenderInput(View(t, s), session, history.MainBranch,
		view.Options{}))
	count := map[format.ID]int{}
	for _, m := range in.Tail {
		count[m.ID]++
	}
	for _, c := range in.Clusters {
		// What the tail has word for word the cluster does not say, though it is a member.
		members := 0
		if err := s.Clusters.EachMember(c.ID, func(id format.ID) error {
			if count[id] == 0 {
				count[id]++
				members++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if members != c.Members {
			t.Errorf("cluster %v shows %d messages, want %d that the tail has not", c.ID,
				c.Members, members)
		}
		for _, p := range c.Parts {
			for _, line := range p.Sentences {
				if slices.ContainsFunc(in.Tail,
					func(m view.Message) bool { return m.ID == line.Entry }) {
					t.Errorf("cluster %v says %q, which is in the tail", c.ID, line.Text)
				}
			}
		}
	}
	if !v.Pin.IsZero() {
		st := Must[*forest.State](t)(s.History.ReadForest(v.Pin))
		for _, e := range Must[[]forest.Evicted](t)(st.Evicted()) {
			stone := Must[*format.Tombstone](t)(s.History.Loader().Tombstone(e.Tombstone))
			// The one line of a tombstone may be about a message that is in the tail.
			if err := s.Clusters.EachMember(stone.Node,
				func(id format.ID) error {
					count[id] = max(1, count[id])
					return nil
				}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, shown := range Must[[]*history.Shown](t)(s.Recall.Log(v.ID, recall.LogOptions{})) {
		if count[shown.ID] != 1 {
			t.Fatalf("message %d is rendered %d times (pin %v, through %d)", shown.Entry.Seq,
				count[shown.ID], v.Pin, v.Through)
		}
	}
}
