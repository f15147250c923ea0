package brief

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// An item of a list that the next prompt names by its number or letter stands with the answer.
func TestPicked(t *testing.T) {
	asked := one(answer("The server closes idle connections after a minute, so three ways are open " +
		"to us, and all of them cost about the same amount of work in the end."))
	for _, text := range []string{"A | a ping every thirty seconds | simple",
		"B | a pool that dials anew | robust", "C | a longer timeout | needs the server"} {
		item := answer(text)
		item.Key = digest.Item
		asked = append(asked, item)
	}
	for said, want := range map[string]string{
		"B for the workers, please, and keep it small": "B | a pool that dials anew | robust",
		"option C":                   "C | a longer timeout | needs the server",
		"Keep the connections alive": "",
	} {
		got := chooseShort(of(one(prompt("Why are the connections lost?")), asked,
			one(prompt(said)), one(edited("pool.go", "", 1, 1))), 1200)
		line := ""
		for l := range strings.Lines(got) {
			if strings.HasPrefix(l, "concluded: The server closes") {
				line = l
			}
		}
		if picked := strings.Contains(line, " | "); picked != (want != "") ||
			!strings.Contains(line, want) {
			t.Errorf("%s: %s", said, got)
		}
	}
}

// The headings of a document that is not committed say what is planned, or was found.
func TestDocument(t *testing.T) {
	const plan = "plan.md: Plan; Task 1: Remove the timers; Task 2: Ask git once"
	f := digest.Fact{Kind: digest.Edit, Path: "plan.md", Text: "wrote " + plan, Added: 40}
	got := chooseShort(of(one(prompt("Write a plan to make it fast")), one(f),
		one(edited("a.go", "", 1, 1)), one(answer("The plan is in plan.md."))), 1200)
	contains(t, got, "state: wrote plan.md (+40 -0): Plan; Task 1: Remove the timers; Task 2: Ask git once")
}

// What git left half done is state until it has ended.
func TestUnmerged(t *testing.T) {
	merging := digest.Fact{Kind: digest.Unmerged, Key: "unmerged", State: digest.Failed,
		Text: "merge in progress: conflicts in a.go"}
	ended := merging
	ended.State = digest.Dropped
	asked := one(prompt("Bring the branch up to date"))
	got := chooseShort(of(asked, one(merging), one(edited("a.go", "", 1, 1))), 1200)
	contains(t, got, "state: merge in progress: conflicts in a.go")
	lacks(t, chooseShort(of(asked, one(merging), one(ended)), 1200), "in progress")
}

// A prompt that was given while nothing had come of the one before goes on with it.
func TestGoesOn(t *testing.T) {
	got := chooseShort(of(one(prompt("tidy the README")), one(prompt("keep the licence as it is now")),
		one(edited("README.md", "", 1, 1)), one(answer("The rest of the README is tidied now."))), 1200)
	contains(t, got, "wanted: > keep the licence as it is now", "wanted: > tidy the README")
}

// What the user said to a refused call holds until the call was made, if the words say so.
func TestAllowedLater(t *testing.T) {
	deploy := digest.Fact{Kind: digest.Command, Key: "make deploy", Text: "ran make deploy"}
	refused := digest.Fact{Kind: digest.Decision, Text: digest.Refused + deploy.Text}
	deployed := deploy
	deployed.State = digest.Passed
	for said, want := range map[string]bool{"not before the tests ran": false,
		"never deploy on a Friday": true} {
		words := prompt(said)
		words.Key = digest.Refused
		got := chooseShort(of(one(prompt("Deploy version twelve of it")), one(deploy),
			one(refused, words), one(prompt("now deploy it to the port")), one(deployed),
			one(answer("Version twelve of it is deployed now."))), 1200)
		if heeded := strings.Contains(got, "heed: > "+said); heeded != want {
			t.Errorf("%s: %s", said, got)
		}
	}
}
