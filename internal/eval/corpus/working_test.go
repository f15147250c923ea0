package corpus

import (
	"reflect"
	"strings"
	"testing"
)

// Every answer stands in the message that is its evidence, and in no other message of the
// conversation.
func TestWorkingFactsAreInTheirEvidence(t *testing.T) {
	messages, facts := Working()
	if len(messages) != 3*200 || len(facts) != 3*40 {
		t.Fatalf("%d messages, %d facts", len(messages), len(facts))
	}
	queries := map[string]bool{}
	for _, f := range facts {
		if key := f.Conversation + f.Query; queries[key] {
			t.Errorf("%s: asked twice: %q", f.Conversation, f.Query)
		} else {
			queries[key] = true
		}
		var found []int
		for _, m := range messages {
			if m.Conversation == f.Conversation &&
				strings.Contains(strings.ToLower(m.Text), strings.ToLower(f.Answer)) {
				found = append(found, m.Seq)
			}
		}
		if !reflect.DeepEqual(found, f.Evidence) {
			t.Errorf("%s: %q stands in %v, not in %v", f.Conversation, f.Answer, found, f.Evidence)
		}
		if strings.Contains(strings.ToLower(f.Query), strings.ToLower(f.Answer)) {
			t.Errorf("the question %q has its answer", f.Query)
		}
	}
}

// The messages are short, and both roles speak.
func TestWorkingMessages(t *testing.T) {
	messages, _ := Working()
	roles := map[string]int{}
	for _, m := range messages {
		roles[m.Role]++
		if n := strings.Count(m.Text, ". ") + strings.Count(m.Text, "? ") + 1; n > 3 ||
			m.Text == "" {
			t.Errorf("%d sentences: %q", n, m.Text)
		}
	}
	if roles["user"] < 200 || roles["model"] < 200 {
		t.Errorf("%v", roles)
	}
}
