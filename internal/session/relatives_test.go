package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// TestHistoriesOfRelatives: sessions that go on with one another share messages. Whatever one of
// them takes back, the store is sound, and the others have every word that they had.
func TestHistoriesOfRelatives(t *testing.T) {
	bg := context.Background()
	done := map[string]int{}
	for seed := range thirds.Range(t, uint64(6)) {
		r := rand.New(rand.NewPCG(seed, 17))
		s := storetest.Create(t, storetest.Small...)
		storetest.Talk(t, s, "s0", 12, seed)
		names, last := []string{"s0"}, 1
		for step := range 45 {
			name := names[r.IntN(len(names))]
			before := storetest.Texts(t, s)
			verb, err := "nothing", error(nil)
			switch n := r.IntN(20); {
			case n < 8:
				verb = "say"
				for range 1 + r.IntN(6) {
					storetest.Say(t, s, name, []string{"user", "model"}[r.IntN(2)],
						storetest.Chatter(r))
				}
			case n < 11 && len(names) < 5:
				verb = "go on"
				as := fmt.Sprint("s", last)
				if _, err = s.Conversation.GoOn(bg, name, history.MainBranch, as); err == nil {
					names, last = append(names, as), last+1
				}
			case n < 14:
				verb = "rewind"
				log := storetest.Must[[]*history.Shown](t)(
					s.Recall.Log(
						storetest.View(t, s).Get(history.RefName(name, history.MainBranch)).ID,
						recall.LogOptions{Limit: 20}))
				if len(log) < 4 {
					continue
				}
				_, err = s.Conversation.Rewind(bg, name, history.MainBranch,
					log[1+r.IntN(len(log)-1)].ID, conversation.RewindOptions{})
			case n < 17:
				verb = "undo"
				if _, err = s.Conversation.Undo(bg, name); err == nil && r.IntN(2) == 0 {
					done[verb]++
					verb = "redo"
					_, err = s.Conversation.Redo(bg, name)
				}
			case n < 18:
				verb = "graduate"
				_, err = s.Conversation.Graduate(bg, name, history.MainBranch)
			case n < 19:
				verb = "compact"
				_, err = s.Compaction.Compact(bg,
					compaction.CompactOptions{Branches: []history.BranchName{{Session: name,
						Branch: history.MainBranch}}})
			case len(names) > 2:
				verb = "remove"
				_, err = s.Conversation.RemoveSession(bg, name)
			}
			switch {
			case err == nil:
				done[verb]++
			case errors.Is(err, history.ErrNotFound), errors.Is(err, history.ErrStale),
				errors.Is(err, history.ErrRefused), clusters.IsMissing(err):
			default:
				t.Fatalf("seed %d, step %d: %s of %s: %v", seed, step, verb, name, err)
			}
			names = slices.DeleteFunc(names,
				func(n string) bool {
					return !storetest.View(t, s).Get(
						history.RefName(n, history.MainBranch)).Exists()
				})
			if len(names) == 0 {
				break
			}
			for ref, words := range storetest.Texts(t, s) {
				if old, was := before[ref]; was &&
					ref != history.RefName(name, history.MainBranch) && !slices.Equal(words, old) {
					t.Fatalf("seed %d, step %d: %s of %s: %s had %q, has %q", seed, step, verb,
						name, ref, old, words)
				}
			}
			report, err := fsck.Run(bg, s, fsck.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Faults) > 0 {
				t.Fatalf("seed %d, step %d: %s of %s: %d faults: %v", seed, step, verb, name,
					len(report.Faults), report.Faults[0])
			}
		}
	}
	t.Log(done)
	for _, verb := range []string{"say", "go on", "rewind", "undo", "redo", "remove"} {
		if done[verb] == 0 { // a third of the histories may have a rare one once
			t.Errorf("%d times: %s", done[verb], verb)
		}
	}
}
