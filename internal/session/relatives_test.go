package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// TestHistoriesOfRelatives: sessions that go on with one another share messages. One of them is a
// transcript, which grows and is imported again, also after what it brought was taken back.
// Whatever one of them takes back, the store is sound, and the others have every word that they
// had.
func TestHistoriesOfRelatives(t *testing.T) {
	bg := context.Background()
	done := map[string]int{}
	for seed := range thirds.Range(t, uint64(12)) {
		r := rand.New(rand.NewPCG(seed, 17))
		s := storetest.Create(t, storetest.Small...)
		agent := &growing{r: r}
		agent.say(12)
		storetest.Must[importer.ImportedTranscript](t)(agent.importAs(s, "s0"))
		names, last := []string{"s0"}, 1
		for step := range 45 {
			name := names[r.IntN(len(names))]
			before := storetest.Texts(t, s)
			var verb, gone string
			var err error
			log := func() []*history.Shown {
				tip := storetest.View(t, s).Get(history.RefName(name, history.MainBranch)).ID
				return storetest.Must[[]*history.Shown](t)(
					s.Recall.Log(tip, recall.LogOptions{Limit: 20}))
			}
			switch n := r.IntN(32); {
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
				list := log()
				if len(list) < 4 {
					continue
				}
				_, err = s.Conversation.Rewind(bg, name, history.MainBranch,
					list[1+r.IntN(len(list)-1)].ID, conversation.RewindOptions{})
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
			case n < 20 && len(names) > 1:
				verb = "remove"
				_, err = s.Conversation.RemoveSession(bg, name)
			case n < 23:
				verb = "fork"
				child := fmt.Sprint("b", step)
				if _, err = s.Conversation.Fork(bg, name, history.MainBranch, []string{child},
					conversation.ForkOptions{}); err == nil {
					_, _, err = s.Conversation.Append(bg, name, child,
						[]conversation.Message{{Role: "model", Text: storetest.Chatter(r)}},
						conversation.AppendOptions{})
				}
			case n < 25:
				verb = "join"
				var children []string
				for _, ref := range storetest.View(t, s).Names("sessions/" + name + "/") {
					if _, b, _ := history.BranchOfRef(ref); b != history.MainBranch {
						children = append(children, b)
					}
				}
				if len(children) == 0 {
					continue
				}
				_, err = s.Conversation.Join(bg, name, history.MainBranch,
					children[:1+r.IntN(len(children))], conversation.JoinOptions{})
			case n < 26:
				verb = "forget"
				list := log()
				if len(list) == 0 {
					continue
				}
				one := list[r.IntN(len(list))]
				gone = one.Text
				_, err = forget.Run(bg, s.Opened, forget.Options{IDs: []format.ID{one.ID}})
			case n < 30:
				verb, name = "import", "s0"
				agent.say(r.IntN(4))
				if _, err = agent.importAs(s, name); !slices.Contains(names, name) {
					names = append(names, name)
				}
			default:
				verb = "gc"
				_, err = gc.Run(bg, s.Opened, gc.Options{Grace: -1})
			}
			switch {
			case err == nil:
				done[verb]++
			case errors.Is(err, history.ErrNotFound), errors.Is(err, history.ErrStale),
				errors.Is(err, history.ErrRefused), errors.Is(err, history.ErrAfterForget),
				clusters.IsMissing(err):
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
				if of, _, _ := history.BranchOfRef(ref); of == name && verb != "forget" &&
					verb != "gc" {
					continue
				}
				words, old := without(words, gone), without(before[ref], gone)
				if _, was := before[ref]; was && !slices.Equal(words, old) {
					t.Fatalf("seed %d, step %d: %s of %s: %s had %q, has %q", seed, step, verb,
						name, ref, old, words)
				}
			}
			report, err := fsck.Run(bg, s.Opened, fsck.Options{})
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
	for _, verb := range []string{"say", "go on", "rewind", "undo", "redo", "remove", "fork",
		"import"} {
		if done[verb] == 0 { // a third of the histories may have a rare one once
			t.Errorf("%d times: %s", done[verb], verb)
		}
	}
}

// growing is a transcript of Claude Code.
type growing struct {
	r    *rand.Rand
	n    int
	file strings.Builder
}

// say adds messages to the transcript.
func (g *growing) say(n int) {
	for range n {
		g.n++
		fmt.Fprintf(&g.file, `{"type":"user","uuid":"u%d","parentUuid":"u%d","sessionId":"s0",`+
			`"timestamp":"2026-03-01T08:%02d:%02dZ","message":{"role":"user","content":%q}}`+"\n",
			g.n, g.n-1, g.n/60, g.n%60, storetest.Chatter(g.r))
	}
}

func (g *growing) importAs(s *session.Store, as string) (importer.ImportedTranscript, error) {
	return s.Importer.ImportTranscript(context.Background(),
		func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return claudecode.ReadAs(as, strings.NewReader(g.file.String()), emit)
		}, as)
}

// without returns the words that are left of a branch when one text was forgotten.
func without(words []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(words),
		func(w string) bool { return gone != "" && (w == gone || w == "") })
}
