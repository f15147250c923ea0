package corpus

import (
	"reflect"
	"strings"
	"testing"
)

// Every answer stands in the message that is its evidence, and in no other message of the
// conversation.
func TestWorkingFactsAreInTheirEvidence(t *testing.T) {
	messages, facts := Working(1, 12)
	if len(messages) != 12*workingMessages || len(facts) != 12*workingFacts {
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

// The messages are short, both roles speak, and no gap of a shape is left open.
func TestWorkingMessages(t *testing.T) {
	messages, _ := Working(1, 2)
	roles := map[string]int{}
	for _, m := range messages {
		roles[m.Role]++
		if n := strings.Count(m.Text, ". ") + strings.Count(m.Text, "? ") + 1; n > 3 ||
			m.Text == "" ||
			strings.ContainsAny(m.Text, "{}") {
			t.Errorf("%d sentences: %q", n, m.Text)
		}
	}
	if roles[roleUser] < 150 || roles[roleModel] < 150 {
		t.Errorf("%v", roles)
	}
}

func TestWorkingDependsOnTheSeedAlone(t *testing.T) {
	m1, f1 := Working(7, 2)
	m2, f2 := Working(7, 2)
	if !reflect.DeepEqual(m1, m2) || !reflect.DeepEqual(f1, f2) {
		t.Error("two runs differ")
	}
	m3, _ := Working(9, 1)
	if m3[0].Text == m1[0].Text && m3[1].Text == m1[1].Text {
		t.Error("another seed gives the same talk")
	}
	if got := m1[workingMessages].Conversation; got != "working/8" {
		t.Errorf("the second conversation is %q", got)
	}
}
