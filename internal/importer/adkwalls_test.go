package importer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// walledEvent is an event of ADK 2, which says the word of its number.
type walledEvent struct{ path, scope string }

func word(n int) string { return fmt.Sprintf("w%dw", n) }

var words = regexp.MustCompile(`w\d+w`)

// document is a session of ADK with events.
func document(list []walledEvent) []byte {
	var events []map[string]any
	for i, e := range list {
		o := map[string]any{"id": fmt.Sprint("e", i), "invocationId": "i1", "author": "A",
			"timestamp": 1767348100000 + 1000*i,
			"content": map[string]any{"role": "model",
				"parts": []any{map[string]any{"text": word(i)}}}}
		if e.path != "" {
			o["branch"] = e.path
		}
		if e.scope != "" {
			o["isolationScope"] = e.scope
		}
		if e == (walledEvent{}) && i%3 == 0 {
			o["author"], o["content"].(map[string]any)["role"] = "user", "user"
			o["invocationId"] = fmt.Sprint("i", i)
		}
		events = append(events, o)
	}
	b, err := json.Marshal(map[string]any{"id": "s", "appName": "a", "userId": "u",
		"events": events})
	if err != nil {
		panic(err)
	}
	return b
}

// seenBy returns the words that a branch sees.
func seenBy(t *testing.T, s *session.Store, name, branch string) []string {
	t.Helper()
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), name, branch))
	var list []string
	for _, shown := range storetest.Must[[]*history.Shown](t)(
		s.Recall.Log(tip.ID, recall.LogOptions{})) {
		list = append(list, words.FindAllString(shown.Text+string(shown.Parts), -1)...)
	}
	return list
}

// below reports whether a branch is another one or below it, segment by segment.
func below(path, of string) bool {
	return of == "" || path == of || strings.HasPrefix(path, of+".")
}

// Nobody sees through a wall: for random programs of branches and scopes, imported in one go and
// piece by piece, each reader sees its own words, those of the branches around it, and what had
// come back before. An export gives every event back, in its turn, and another store has the same.
func TestADKWalls(t *testing.T) {
	paths := []string{"", "", "root.A@1", "root.A@1.C", "root.B@1", "root.AB", "root", "x.y z/1"}
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s, other := storetest.Create(t), storetest.Create(t)
		list := []walledEvent{{}}
		if seed%4 == 0 {
			list = nil // the first event may be in a branch
		}
		for range 4 + rng.IntN(12) {
			e := walledEvent{path: paths[rng.IntN(len(paths))]}
			if rng.IntN(5) == 0 {
				e.scope = []string{"task-7", "task-8"}[rng.IntN(2)]
			}
			list = append(list, e)
		}
		for at := 1; at < len(list); at += 1 + rng.IntN(9) {
			importADK(t, s, document(list[:at]), "")
		}
		importADK(t, s, document(list), "")
		if again := importADK(t, s, document(list), ""); again.Known != len(list)+1 {
			t.Errorf("seed %d: of %d events a second import knows %d", seed, len(list), again.Known)
		}
		checkWalls(t, s, list)
		out, _ := exportADK(t, s, "s", history.MainBranch, adk.WriteOptions{})
		var doc struct {
			Events []struct{ ID, Branch, IsolationScope string }
		}
		if err := json.Unmarshal(out, &doc); err != nil {
			t.Fatal(err)
		}
		for i, e := range doc.Events {
			if e.ID != fmt.Sprint("e", i) || e.Branch != list[i].path ||
				e.IsolationScope != list[i].scope {
				t.Errorf("seed %d: event %d comes back as %+v of %+v", seed, i, e, list[i])
			}
		}
		if len(doc.Events) != len(list) {
			t.Errorf("seed %d: %d of %d events come back", seed, len(doc.Events), len(list))
		}
		importADK(t, other, out, "")
		checkWalls(t, other, list)
		if back, _ := exportADK(t, other, "s", history.MainBranch,
			adk.WriteOptions{}); string(back) != string(out) {
			t.Errorf("seed %d: another store exports\n%s\nnot\n%s", seed, back, out)
		}
		storetest.Check(t, s)
		storetest.Check(t, other)
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, list)
		}
	}
}

// checkWalls compares what the readers of a session see with what was said.
func checkWalls(t *testing.T, s *session.Store, list []walledEvent) {
	t.Helper()
	home := -1 // the newest event outside of branches and scopes
	for i, e := range list {
		if e == (walledEvent{}) {
			home = i
		}
	}
	view := storetest.View(t, s)
	found := map[string]bool{}
	for _, ref := range view.Names("sessions/") {
		name, branch, _ := history.BranchOfRef(ref)
		got := seenBy(t, s, name, branch)
		if name != "s" { // a scope, or branches that nothing could be forked from
			e := list[numberOf(got[0])]
			for _, w := range got {
				found[w] = true
				if list[numberOf(w)] != e {
					t.Errorf("%s: %s of %+v beside %+v", name, w, list[numberOf(w)], e)
				}
			}
			continue
		}
		path := ""
		if branch != history.MainBranch {
			path, _, _ = strings.Cut(branch, ":")
			if len(got) > 0 {
				path = list[numberOf(got[len(got)-1])].path
			}
		}
		for _, w := range got {
			found[w] = true
			e := list[numberOf(w)]
			if e.scope != "" || numberOf(w) > home && !below(path, e.path) {
				t.Errorf("a reader in %q sees %s of %+v", path, w, e)
			}
		}
		if path == "" && home >= 0 {
			for i, e := range list[:home+1] {
				if e.scope == "" && !slices.Contains(got, word(i)) && !orphaned(list, i) {
					t.Errorf("main does not see %s of %+v", word(i), e)
				}
			}
		}
	}
	for i := range list {
		if !found[word(i)] {
			t.Errorf("nobody sees %s of %+v", word(i), list[i])
		}
	}
}

// orphaned reports whether an event of a branch came before there was anything to fork from.
func orphaned(list []walledEvent, n int) bool {
	for _, e := range list[:n] {
		if e == (walledEvent{}) {
			return false
		}
	}
	return list[n].path != ""
}

func numberOf(w string) (n int) {
	_, _ = fmt.Sscanf(w, "w%dw", &n)
	return n
}
