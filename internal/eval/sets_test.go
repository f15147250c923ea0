package eval

import "testing"

// The working set has what its generator says, and nothing of what nobody asked for.
func TestOwnSets(t *testing.T) {
	for _, set := range Own(1) {
		if set.Name == "working" && (len(set.Messages) != 3*200 || len(set.Facts) != 3*40) {
			t.Errorf("working: %d messages, %d facts", len(set.Messages), len(set.Facts))
		}
	}
}

// A set is measured in its parts alone.
func TestPartsOfASet(t *testing.T) {
	set := chat()
	set.Parts = []string{"recovery"}
	s := run(t, Options{}, set).Sets[0]
	if s.Recovery == nil || s.Clustering != nil || s.Retention != nil {
		t.Errorf("%+v", s)
	}
}
