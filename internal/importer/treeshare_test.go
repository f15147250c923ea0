package importer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// family is a family of sessions of Claude Code, each a fork of another one.
type family struct {
	draw  *rand.Rand
	n     int // records so far
	names []string
	of    map[string][]treeRecord
}

func newFamily(draw *rand.Rand) *family {
	f := &family{draw: draw, of: map[string][]treeRecord{}}
	f.begin(nil)
	return f
}

func (f *family) begin(copied []treeRecord) string {
	name := fmt.Sprintf("%08x-0000-4000-8000-000000000000", 0xa0+len(f.names))
	f.names = append(f.names, name)
	f.of[name] = slices.Clone(copied)
	f.grow(name)
	return name
}

// grow says more in a session, after its newest message or an earlier one.
func (f *family) grow(name string) {
	for range 1 + f.draw.IntN(3) {
		list := f.of[name]
		r := treeRecord{id: fmt.Sprintf("%08x-1111-4111-8111-111111111111", f.n)}
		f.n++
		if len(list) > 0 {
			r.parent = list[len(list)-1].id
			if f.draw.IntN(6) == 0 {
				r.parent = list[f.draw.IntN(len(list))].id
			}
		}
		f.of[name] = append(list, r)
	}
}

// fork forks a session: as a whole, or the line of one of its messages.
func (f *family) fork(name string) string {
	list := f.of[name]
	if f.draw.IntN(2) == 0 {
		return f.begin(list)
	}
	line := chainOf(list, list[f.draw.IntN(len(list))].id)
	return f.begin(slices.DeleteFunc(slices.Clone(list),
		func(r treeRecord) bool { return !slices.Contains(line, r.id) }))
}

// text is the transcript of a session.
func (f *family) text(name string) string {
	of := strings.ReplaceAll(treeText(f.of[name]), `"sessionId":"s"`,
		fmt.Sprintf(`"cwd":"/work/%s","sessionId":%q`, name[:8], name))
	return of
}

func (f *family) pick() string { return f.names[f.draw.IntN(len(f.names))] }

// judge compares what a store has of a family with the truth: every session is the line of its
// newest record, and every message is stored once.
func (f *family) judge(t *testing.T, s *session.Store, what string) {
	t.Helper()
	ids := map[string]format.ID{}
	for _, name := range f.names {
		list := f.of[name]
		if got, want := spokenIn(t, s, name),
			chainOf(list, list[len(list)-1].id); !slices.Equal(got, want) {
			t.Errorf("%s: %s has\n%v, want\n%v", what, name, got, want)
		}
		reached := reachedIn(t, s, name)
		for id, text := range reached {
			if was := ids[text]; text != "" && !was.IsZero() && was != id {
				t.Errorf("%s: %q of %s is stored twice", what, text, name)
			}
			ids[text] = id
		}
		for _, r := range list {
			if _, ok := reached[ids[r.id]]; !ok {
				t.Errorf("%s: %s does not reach %s", what, name, r.id)
			}
		}
	}
	report, err := fsck.Run(t.Context(), s.Opened, fsck.Options{})
	if err != nil || len(report.Faults) > 0 {
		t.Errorf("%s: fsck: %v, %v", what, report.Faults, err)
	}
}

// Whatever the order in which forks and their origins are imported, and grow: what they share is
// stored once, and each has all that was said in it, and no more.
func TestForksShareHistory(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(24) {
		draw := rand.New(rand.NewPCG(seed, 32))
		f := newFamily(draw)
		s := storetest.Create(t, storetest.Small...)
		brought := map[string]bool{} // sessions that were imported
		var steps []string
		step := func(format string, args ...any) string {
			steps = append(steps, fmt.Sprintf(format, args...))
			return fmt.Sprintf("seed %d, %s", seed, strings.Join(steps, ", "))
		}
		for range 30 {
			switch name := f.pick(); draw.IntN(7) {
			case 0, 1:
				step("%s grows", name[:8])
				f.grow(name)
			case 2:
				if len(f.names) < 5 {
					step("%s forks %s", f.fork(name)[:8], name[:8])
				}
			case 3, 4, 5:
				what := step("import %s", name[:8])
				importClaude(t, s, f.text(name), "")
				brought[name] = true
				number := storetest.View(t, s).Number
				again := importClaude(t, s, f.text(name), "")
				if again.Messages+again.Rewinds+again.Amended != 0 ||
					storetest.View(t, s).Number != number {
					t.Fatalf("%s again: %+v", what, again.Tally)
				}
			case 6:
				if brought[name] {
					step("graduate %s", name[:8])
					storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(ctx, name,
						history.MainBranch))
				}
			}
		}
		what := step("import all")
		order := slices.Clone(f.names)
		draw.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		var list []transcript.Read
		for _, name := range order {
			list = append(list, readClaude(f.text(name)))
		}
		importTogether(t, s, "", list...)
		f.judge(t, s, what)
	}
}
