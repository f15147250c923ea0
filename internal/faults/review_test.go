package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

// The scenarios of the design review that no single package can play, with their letters and
// numbers. The others are in the packages that they concern: refs (A1 to A4, A6, A8), session (A10,
// A11, B2 to B13, D1 to D12), objects (A7), maintenance (B1), lock (D13).

// fresh is a project with an empty store.
func fresh(t *testing.T) *world {
	t.Helper()
	w := &world{root: durabletest.TempDir(t), now: written, tick: time.Second}
	if err := os.Mkdir(w.project(), 0o700); err != nil {
		t.Fatal(err)
	}
	r := must[*repo.Repo](t)(
		func() (*repo.Repo, error) {
			r, _, err := repo.Init(w.env(), w.project())
			return r, err
		}())
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return w
}

// store opens the store of a test.
func (w *world) store(t *testing.T) *session.Store {
	t.Helper()
	s := must[*session.Store](t)(w.open())
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func talk(t *testing.T, s *session.Store, name, branch string, from, n int) {
	t.Helper()
	for i := range n {
		if err := say(s, name, branch, []string{"user", "model"}[i%2],
			fmt.Sprintf("the port of the database is %d", from+i)); err != nil {
			t.Fatal(err)
		}
	}
}

// logOf returns the messages of a branch in their newest versions, oldest first.
func logOf(t *testing.T, s *session.Store, name, branch string) (texts []string) {
	t.Helper()
	v, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range must[[]*history.Shown](t)(
		s.Recall.Log(v.Get(history.RefName(name, branch)).ID, recall.LogOptions{})) {
		if e.Entry.Kind == format.KindMessage {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// rendered returns the rendering of a branch: the texts of its clusters and of its tail.
func rendered(t *testing.T, s *session.Store, name, branch string) (prefix, tail string) {
	t.Helper()
	v, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	in := must[view.Input](t)(s.Recall.RenderInput(v, name, branch, view.Options{}))
	for _, m := range in.Tail {
		tail += m.Text + "\n"
	}
	return fmt.Sprintf("%+v", in.Clusters), tail
}

// A5: a writer that finds an object already there makes it durable, file and directory, before an
// operation names the object. Its first writer may have stopped before that.
func TestA5_ObjectThatIsThereLasts(t *testing.T) {
	w := fresh(t)
	start := must[image](t)(readImage(w.root, written))
	fsys, events := recorder(w.root)
	w.fs = fsys
	blob := format.Raw{
		Header: must[[]byte](t)(
			format.EncodeBlob(format.SumBody([]byte("same"), format.MediaText))),
		Body: []byte("same"),
	}
	// The first process stops between the last rename, of the index of a pack, and the sync of the
	// directory.
	first := must[*repo.Repo](t)(repo.Open(w.env()))
	if err := first.Objects.Put(blob); err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	d := newDisk(start)
	for _, e := range (*events)[:len(*events)-1] {
		d.run(e, len(e.Data))
	}
	if d.now().without(d.cut(func() bool { return false }, func() fate { return lost })) == 0 {
		t.Fatal("the object was certain to last already")
	}
	// The second process finds the object.
	*events = nil
	second := must[*repo.Repo](t)(repo.Open(w.env()))
	if err := second.Objects.Put(blob); err != nil {
		t.Fatal(err)
	}
	_ = second.Close()
	for _, e := range *events {
		d.run(e, len(e.Data))
	}
	p := newPlace(t)
	p.put(t, d.cut(func() bool { return false }, func() fate { return lost }))
	after := must[*repo.Repo](t)(repo.Open((&world{root: p.root, now: later}).env()))
	defer after.Close()
	if there, err := after.Objects.Has(blob.ID()); err != nil || !there {
		t.Errorf("what was put twice is there: %v, %v", there, err)
	}
}

// without counts the paths of an image that another image does not have.
func (m image) without(other image) (n int) {
	for path := range m {
		if _, ok := other[path]; !ok {
			n++
		}
	}
	return n
}

// A9: rewound messages stay long after the log of the rewind was dropped, because the rewind entry
// leads to them.
func TestA9_RewoundWordsStay(t *testing.T) {
	p := newPlace(t)
	p.put(t, must[image](t)(packed()))
	w := &world{root: p.root, now: today, tick: time.Second}
	s := w.store(t)
	secret := "this is taken back"
	if err := say(s, "talk", main, "user", secret); err != nil {
		t.Fatal(err)
	}
	id := must[format.ID](t)(resolve(s, "talk"))
	done := must[conversation.Rewound](t)(s.Conversation.Rewind(bg, "talk", main, id,
		conversation.RewindOptions{}))
	if done.Left != id {
		t.Fatalf("left %v, want %v", done.Left, id)
	}
	talk(t, s, "talk", main, 10, 3)
	w.now = atLast
	s = w.store(t)
	talk(t, s, "talk", main, 20, 1) // makes the log before it old
	for range 2 {
		must[gc.Report](t)(gc.Run(bg, s.Opened, gc.Options{Grace: -1}))
	}
	if base, err := s.Refs.Base(); err != nil || base.Number == 0 {
		t.Fatalf("no log was dropped: %v", err)
	}
	s = w.store(t)
	if shown := must[*history.Shown](t)(s.History.Entry(id)); shown.Text != secret {
		t.Errorf("it says %q", shown.Text)
	}
	if strings.Contains(strings.Join(logOf(t, s, "talk", main), "\n"), secret) {
		t.Error("it is in the branch")
	}
	if err := clean(s); err != nil {
		t.Error(err)
	}
}

// A12: update-ref cannot bypass the rules. It sets the user's own names; it moves the ref of a
// session only back, as a rewind.
func TestA12_UpdateRefIsNoSecondDoor(t *testing.T) {
	s := fresh(t).store(t)
	talk(t, s, "talk", main, 0, 8)
	talk(t, s, "other", main, 50, 2)
	id := must[format.ID](t)(resolve(s, "talk~3"))
	for _, name := range []string{"sessions/talk/main", "forests/main", "epochs/talk/main", "HEAD",
		"state/x", "user", "user/../forests/main"} {
		if err := s.State.UpdateRef(bg, name, id, nil); !errors.Is(err, history.ErrInput) &&
			!errors.Is(err, history.ErrRefused) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := s.Conversation.EndAt(bg, "talk", main, must[format.ID](t)(resolve(s, "other")),
		conversation.RewindOptions{}); !errors.Is(err, history.ErrRefused) {
		t.Errorf("an entry of another session: got %v", err)
	}
	done := must[conversation.Rewound](t)(s.Conversation.EndAt(bg, "talk", main, id,
		conversation.RewindOptions{}))
	if done.Entry.IsZero() || done.Messages != 3 || len(logOf(t, s, "talk", main)) != 5 {
		t.Errorf("%+v", done)
	}
	if err := clean(s); err != nil {
		t.Error(err)
	}
}

// B3: when a branch leaves, the rendering of a cluster without a summary is frozen, and does not
// count as a summary.
func TestB3_DirtyClusterIsFrozenAtTheLeave(t *testing.T) {
	s := fresh(t).store(t)
	talk(t, s, "talk", main, 0, 12)
	list := must[[]clusters.ClusterInfo](t)(clustersOf(s))
	dirty := 0
	for _, c := range list {
		for _, cover := range c.Covers {
			if !cover.Interim {
				t.Errorf("cluster %v has a summary that nobody made", c.ID)
			}
		}
		if c.Dirty {
			dirty++
		}
	}
	before, _ := rendered(t, s, "talk", main)
	if dirty == 0 || !strings.Contains(before, "database") {
		t.Fatalf("%d dirty clusters, rendered as %s", dirty, before)
	}
	// Another session adds to the same cluster: the branch still renders the same bytes.
	talk(t, s, "other", main, 100, 5)
	if after, _ := rendered(t, s, "talk", main); after != before {
		t.Errorf("rendered as %s\nwas %s", after, before)
	}
}

// B6: messages in the branches of a fork graduate only after the join, so that no sibling reads
// them in a summary.
func TestB6_ForksGraduateAfterTheJoin(t *testing.T) {
	s := fresh(t).store(t)
	talk(t, s, "talk", main, 0, 3)
	must[conversation.Forked](t)(s.Conversation.Fork(bg, "talk", main, []string{"a", "b"},
		conversation.ForkOptions{}))
	for i := range 12 {
		for _, child := range []string{"a", "b"} {
			if err := say(s, "talk", child, "model",
				fmt.Sprintf("the port of the database, %s says, is %d", child, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, child := range []string{"a", "b"} {
		must[clusters.Graduation](t)(s.Conversation.Graduate(bg, "talk", child))
	}
	must[summaries.Compaction](t)(s.Compaction.Compact(bg, compaction.CompactOptions{}))
	members := membersOf(t, s)
	for id := range members {
		if text := must[*history.Shown](t)(s.History.Entry(id)).Text; strings.Contains(text,
			"says") {
			t.Errorf("%q graduated before the join", text)
		}
	}
	if prefix, tail := rendered(t, s, "talk", "a"); strings.Contains(prefix+tail, "b says") {
		t.Error("a is shown what b says")
	}
	must[conversation.Joined](t)(s.Conversation.Join(bg, "talk", main, []string{"a", "b"},
		conversation.JoinOptions{}))
	must[clusters.Graduation](t)(s.Conversation.Graduate(bg, "talk", main))
	if now := membersOf(t, s); len(now) <= len(members) {
		t.Errorf("%d members after the join, %d before", len(now), len(members))
	}
	if err := clean(s); err != nil {
		t.Error(err)
	}
}

// membersOf counts how often each entry is in a cluster.
func membersOf(t *testing.T, s *session.Store) map[format.ID]int {
	t.Helper()
	v, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	count := map[format.ID]int{}
	for _, c := range must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(v)) {
		if err := s.Clusters.Members(v, c.ID,
			func(id format.ID) error { count[id]++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return count
}

// B8: a branch begins with the frontier of its starting point, so that nothing graduates twice.
func TestB8_BranchInheritsTheFrontier(t *testing.T) {
	s := fresh(t).store(t)
	talk(t, s, "talk", main, 0, 14)
	at := must[format.ID](t)(resolve(s, "talk~1"))
	must[conversation.Forked](t)(s.Conversation.Fork(bg, "talk", main, []string{"other"},
		conversation.ForkOptions{At: at}))
	v, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	if f := v.Get(history.RefName("talk", "other")).Frontier; f == 0 {
		t.Error("the branch begins without a frontier")
	}
	talk(t, s, "talk", "other", 100, 9)
	talk(t, s, "talk", main, 200, 9)
	for _, branch := range []string{main, "other"} {
		must[clusters.Graduation](t)(s.Conversation.Graduate(bg, "talk", branch))
	}
	for id, n := range membersOf(t, s) {
		if n != 1 {
			t.Errorf("entry %v is in clusters %d times", id, n)
		}
	}
	if err := clean(s); err != nil {
		t.Error(err)
	}
}

// B12: one cap holds for the clusters of all sessions, so a busy session can evict the clusters of
// an idle one. The idle session loses nothing but the lines in its rendering: every message can be
// expanded, and its log is complete.
func TestB12_IdleSessionLosesNothing(t *testing.T) {
	s := fresh(t).store(t)
	talk(t, s, "idle", main, 0, 9)
	was := logOf(t, s, "idle", main)
	about := []string{"camera lens shutter", "parser lexer token", "invoice customer refund",
		"rate limit header", "flaky timeout retry", "kernel driver interrupt"}
	for i := range 30 {
		if err := say(s, "busy", main, "user",
			fmt.Sprintf("%s number %d", about[i/5], i)); err != nil {
			t.Fatal(err)
		}
	}
	must[summaries.Compaction](t)(s.Compaction.Compact(bg, compaction.CompactOptions{}))
	evicted := false
	for _, c := range must[[]clusters.ClusterInfo](t)(clustersOf(s)) {
		evicted = evicted || !c.Tombstone.IsZero()
	}
	if !evicted {
		t.Fatal("nothing was evicted")
	}
	if now := logOf(t, s, "idle", main); strings.Join(now, "\n") != strings.Join(was, "\n") {
		t.Errorf("the log is %q", now)
	}
	members := membersOf(t, s)
	v, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	ref := v.Get(history.RefName("idle", main))
	for _, e := range must[[]*history.Shown](t)(s.Recall.Log(ref.ID, recall.LogOptions{})) {
		if e.Entry.Seq <= ref.Frontier && members[e.ID] != 1 {
			t.Errorf("%q expands from %d clusters", e.Text, members[e.ID])
		}
	}
}

// D6: a project from elsewhere runs no program, because its config may name none.
func TestD6_AClonedProjectRunsNothing(t *testing.T) {
	for _, line := range []string{
		"[summarizer.gemini]\ncommand = [\"/bin/sh\", \"-c\", \"true\"]\n",
		"summarize.chain = [\"gemini\"]\n", "[summarizer.mine]\ncommand = [\"./evil\"]\n",
	} {
		w := fresh(t)
		if err := os.WriteFile(filepath.Join(w.dir(), "config.toml"), []byte(line),
			0o600); err != nil {
			t.Fatal(err)
		}
		var bad *repo.ConfigError
		if _, err := w.open(); !errors.As(err, &bad) {
			t.Errorf("%q: got %v", line, err)
		}
	}
}

// D8: a header has the number of tokens that the agent reported, and no estimate.
func TestD8_TokensAreThoseReported(t *testing.T) {
	s := fresh(t).store(t)
	list, _, err := s.Conversation.Append(bg, "talk", main,
		[]conversation.Message{{Role: "user", Text: "how many tokens has this"},
			{Role: "model", Text: "some", Tokens: 7}}, conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{0, 7} {
		if got := must[*history.Shown](t)(s.History.Entry(list[i].ID)).Entry.Tokens; got != want {
			t.Errorf("message %d has %d tokens, want %d", i, got, want)
		}
	}
}

// D9: a child sees what its parent said, and not what its siblings said. The next invocation sees
// everything that the finished one said, without a join.
func TestD9_NextInvocationSeesAll(t *testing.T) {
	s := fresh(t).store(t)
	in := func(branch, invocation, text string) {
		t.Helper()
		_, _, err := s.Conversation.Append(bg, "talk", branch,
			[]conversation.Message{{Role: "user", Text: text, Invocation: invocation}},
			conversation.AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	in(main, "one", "look at both")
	must[conversation.Forked](t)(s.Conversation.Fork(bg, "talk", main, []string{"a", "b"},
		conversation.ForkOptions{}))
	in("a", "one", "left")
	in("b", "one", "right")
	if got := strings.Join(logOf(t, s, "talk", "a"), " "); got != "look at both left" {
		t.Errorf("a sees %q", got)
	}
	in(main, "two", "and now")
	if got := strings.Join(logOf(t, s, "talk", main),
		" "); got != "look at both left right and now" {
		t.Errorf("the next invocation sees %q", got)
	}
}

// D10: a rewind restores the epoch that held at the new end of the branch.
func TestD10_RewindRestoresTheEpoch(t *testing.T) {
	s := fresh(t).store(t)
	epochOf := func() format.ID {
		t.Helper()
		v, err := s.Refs.Read()
		if err != nil {
			t.Fatal(err)
		}
		shown := must[recall.EpochShown](t)(
			s.Recall.EpochAt(v.Get(history.RefName("talk", main)).ID))
		if ref := v.Get(epochs.EpochRef("talk", main)).ID; ref != shown.ID {
			t.Errorf("the ref names %v, the branch %v", ref, shown.ID)
		}
		return shown.ID
	}
	for _, step := range []error{observe(s, "talk", "Monday"),
		say(s, "talk", main, "user", "one")} {
		if step != nil {
			t.Fatal(step)
		}
	}
	monday := epochOf()
	if err := say(s, "talk", main, "model", "two"); err != nil {
		t.Fatal(err)
	}
	two := must[format.ID](t)(resolve(s, "talk"))
	if err := observe(s, "talk", "Tuesday"); err != nil {
		t.Fatal(err)
	}
	if epochOf() == monday {
		t.Fatal("nothing was told on Tuesday")
	}
	must[conversation.Rewound](t)(s.Conversation.Rewind(bg, "talk", main, two,
		conversation.RewindOptions{}))
	if epochOf() != monday {
		t.Error("the epoch is not that of where the branch ends")
	}
}
