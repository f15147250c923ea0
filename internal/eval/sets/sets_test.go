package sets

import "testing"

// The working set has what its generator says, and nothing of what nobody asked for.
func TestOwnSets(t *testing.T) {
	names := map[string]Set{}
	for _, set := range Own(1) {
		names[set.Name] = set
		if len(set.Messages) > 0 && len(set.Transcripts) > 0 {
			t.Errorf("%s has messages and transcripts", set.Name)
		}
	}
	if w := names["working"]; len(w.Messages) != 3*200 ||
		len(w.Facts) != 3*40 {
		t.Errorf("working: %d messages, %d facts", len(w.Messages), len(w.Facts))
	}
	for _, tr := range names["agent-sessions"].Transcripts {
		if AgentOf(tr.Data) != tr.Agent || len(tr.Records()) < 60 {
			t.Errorf("%s: %s, %d records", tr.Name, tr.Agent, len(tr.Records()))
		}
	}
}
