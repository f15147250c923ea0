package brief

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// besideSummary is a session of which a summary says a part.
func besideSummary() []digest.Fact {
	refused := digest.Fact{Kind: digest.Commit, Key: "commit", State: digest.Barred,
		Text: digest.Tried + "commit: Retry parcels three times"}
	instead := prompt("Squash it with the last commit.")
	instead.Key = digest.Instead
	answer := digest.Fact{Kind: digest.Answer,
		Text: "The router retries a parcel three times, and waits 250 milliseconds between two."}
	found := digest.Fact{Kind: digest.Answer,
		Text: "The queue stalls because the dispatcher holds the mutex while it waits."}
	return facts(prompt("Make the parcel router retry three times."),
		prompt("Never touch the ledger module without asking me."),
		digest.Fact{Kind: digest.Branch, Text: "on branch retry-router"},
		edited("/p/router.go", "", 3, 1), tests("1 passed", digest.Passed), answer,
		prompt("Commit that, and look at the stalled queue afterwards."), refused, instead,
		todo("Find why the queue stalls", digest.Active), found)
}

func TestKeep(t *testing.T) {
	o := Options{Room: endless, Cost: cost, Short: true, Keep: true}
	got := show(Choose(besideSummary(), o))
	contains(t, got, "heed: > Never touch the ledger module without asking me.",
		"heed: > Squash it with the last commit.", "state: on branch retry-router",
		"state: ran go test: 1 passed",
		"state: tried to commit: Retry parcels three times: the user refused",
		"todo: active: Find why the queue stalls")
	lacks(t, got, "wanted", "concluded", "changed")
}

func TestKnown(t *testing.T) {
	summary := "The router retries a parcel three times and waits 250 milliseconds between two. " +
		"On branch retry-router; committed: Retry parcels three times. The user wants: Never " +
		"touch the ledger module without asking me."
	got := show(Choose(besideSummary(), Options{Room: endless, Cost: cost, Short: true,
		Known: summary}))
	contains(t, got, "state: tried to commit: Retry parcels three times: the user refused",
		"concluded: The queue stalls because the dispatcher holds the mutex while it waits.",
		"state: ran go test: 1 passed")
	lacks(t, got, "250", "ledger", "retry-router")
}

// A number that names something is news, and a later sentence of an item whose first the reader has
// is not.
func TestKnownValues(t *testing.T) {
	list := of(one(prompt("Look at the review of the harbour")), listed("",
		"1. Comment 27854 says that the lexer of the harbour drops a sign.",
		"It drops the `tide` of each gauge, as the port does.",
		"2. The gauge of the port is slower than the shed of the harbour.",
		"It waits for the `sluice` of the basin at each tide."), one(prompt("Mend them")))
	o := Options{Room: endless, Cost: cost, Short: true, Known: "The review: comment 1 says that " +
		"the lexer of the harbour drops a sign. 2. The gauge of the port is slower than the shed of " +
		"the harbour."}
	got := show(Choose(list, o))
	contains(t, got, "noted: 1 of 2: Comment 27854 says that the lexer of the harbour drops a sign. "+
		"It drops the `tide` of each gauge, as the port does.")
	lacks(t, got, "sluice", "slower")
}

// Room that is left once lines are joined is for what the person typed.
func TestKnownLeavesRoom(t *testing.T) {
	var list [][]digest.Fact
	for n := range 12 {
		list = append(list,
			one(prompt(fmt.Sprintf("please look at basin %d of the port, as the shed does", n))))
	}
	var words []digest.Fact
	for n := range 8 {
		words = append(words, said(fmt.Sprintf("The `lamp%d` of the quay blinks at gate %d.", n, n)))
	}
	list = append(list, one(prompt("Look at the lamps of the quay")), words,
		one(answer("The lamps of the quay are all `dim` by now.")),
		one(prompt("Go on with the harbour")))
	got := show(Choose(of(list...), Options{Room: 1300, Cost: cost, Short: true,
		Known: "The harbour."}))
	if n := strings.Count(got, "please look at basin"); n < 11 { // 10 without it
		t.Errorf("%d prompts:\n%s", n, got)
	}
}

// A word within another one, and a text without words, are known to nobody.
func TestBareWords(t *testing.T) {
	k := &known{words: bareWords("The catalogue: it is **done**, `a.go` too.")}
	for text, want := range map[string]bool{
		"it is done": true, "IT IS: done a go": true, "The catalog": false, "...": false,
	} {
		if got := k.has(&digest.Fact{Kind: digest.Prompt, Text: text}, nil); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
