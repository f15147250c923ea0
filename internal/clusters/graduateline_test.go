package clusters_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// between is a context that calls do when it is asked for the nth time whether it ended. Who
// graduates asks before each batch.
type between struct {
	context.Context
	n  int
	do func()
}

func (c *between) Err() error {
	if c.n--; c.n == 0 {
		c.do()
	}
	return c.Context.Err()
}

// A line from the past has messages of a branch that graduates in batches. No message joins twice,
// whenever the line begins.
func TestGraduateBesideALine(t *testing.T) {
	const messages = 2600
	for _, begins := range []int{1, 2, 3} { // before which batch
		t.Run(fmt.Sprint(begins), func(t *testing.T) {
			s := storetest.Create(t)
			ids := say(t, s, messages)
			ctx := context.Background()
			began := false
			c := &between{Context: ctx, n: begins, do: func() {
				began = true
				_, err := s.Conversation.Fork(ctx, "talk", history.MainBranch, []string{"line"},
					conversation.ForkOptions{At: ids[messages-100]})
				if err != nil {
					t.Fatal(err)
				}
				if g, err := s.Clusters.GraduateAll(ctx, "talk", "line", nil); err != nil ||
					g.Graduated == 0 {
					t.Fatal(g, err)
				}
			}}
			if _, err := s.Clusters.GraduateAll(c, "talk", history.MainBranch, nil); err != nil {
				t.Fatal(err)
			}
			if !began {
				t.Fatal("the line did not begin")
			}
			onceInTheForest(t, s, ids)
		})
	}
}

// The cache is lost, and the branch has looked for members once. Then a line from the past
// graduates messages that both have. No message joins twice.
func TestGraduateAfterALook(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	ctx := context.Background()
	ids := say(t, s, 60)
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.Dir, "cache"), 0o700); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, storetest.Say(t, s, "talk", "user", "one more"))
	view := storetest.View(t, s)
	v := storetest.Must[format.Value](t)(history.Tip(view, "talk", history.MainBranch))
	h := storetest.Must[*history.Head](t)(s.History.Head("talk", history.MainBranch, v))
	if v.Frontier == 0 || h.Sought == 0 || h.Sought >= view.Number {
		t.Fatalf("frontier %d, sought %d of %d operations: nobody has looked", v.Frontier,
			h.Sought, view.Number)
	}
	if _, err := s.Conversation.Fork(ctx, "talk", history.MainBranch, []string{"line"},
		conversation.ForkOptions{At: ids[50]}); err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"line", history.MainBranch} {
		if _, err := s.Clusters.GraduateAll(ctx, "talk", branch, nil); err != nil {
			t.Fatal(err)
		}
	}
	onceInTheForest(t, s, ids)
}

// onceInTheForest checks that each message up to the frontier is a member of one cluster.
func onceInTheForest(t *testing.T, s *session.Store, ids []format.ID) {
	t.Helper()
	times := map[format.ID]int{}
	view := storetest.View(t, s)
	st := storetest.Must[*forest.State](t)(s.History.Forest(view))
	for _, cluster := range st.Live() {
		for _, id := range storetest.Must[[]format.ID](t)(st.Members(cluster)) {
			times[id]++
		}
	}
	frontier := storetest.Must[format.Value](t)(
		history.Tip(view, "talk", history.MainBranch)).Frontier
	for i, id := range ids[:frontier] {
		if times[id] != 1 {
			t.Fatalf("message %d is %d times in the forest", i+1, times[id])
		}
	}
}

// say appends messages that do not graduate yet, and returns their ids.
func say(t *testing.T, s *session.Store, n int) (ids []format.ID) {
	t.Helper()
	batch := make([]conversation.Message, n)
	for i := range batch {
		batch[i] = conversation.Message{Role: "user",
			Text: fmt.Sprintf("subject%d matter%d", i/3, i)}
	}
	done, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range done {
		ids = append(ids, d.ID)
	}
	return ids
}
