package summarize

import (
	"slices"
	"testing"
)

// A sentence that a later one corrects is not taken beside it; a sentence about another thing is.
func TestLaterBeatsEarlier(t *testing.T) {
	for _, tt := range []struct {
		early, late string
		both        bool
	}{
		{"The port is 5433.", "The port is now 6000.", false},
		{"The staging port is 5433.", "The staging port is 6000.", false},
		{"We keep backups for 30 days on vault-2.", "We keep backups for 90 days on vault-2 now.",
			false},
		{"Use pgbouncer 1.18 for the pooler.", "Use pgbouncer 1.22 for the pooler, not 1.18.",
			false},
		{"The staging database listens on port 5433.",
			"The production database listens on port 6544 now.", true},
		{"The port is 5433.", "The replica's port is now 6000.", true},
		{"The cache lives in /var/cache/one.", "The log lives in /var/log/two.", true},
		{"The build takes 14 minutes.", "The build takes 14 minutes on arm64, and not 20.", true},
		{"Which port is 5433?", "Let's meet at 9 instead.", true},
	} {
		src := said(tt.early, "Something else was said about the weather in Oslo.", tt.late)
		got := texts(Extract(src, 1000))
		if !slices.Contains(got, tt.late) {
			t.Errorf("%q: the later one is lost: %q", tt.late, got)
		}
		if slices.Contains(got, tt.early) != tt.both {
			t.Errorf("%q then %q: got %q", tt.early, tt.late, got)
		}
	}
}

func TestNearDuplicatesOnce(t *testing.T) {
	src := said(
		"The nightly import of the parcel tables was started by hand yesterday evening.",
		"Yesterday evening the nightly import of the parcel tables was started by hand.",
		"The nightly import of the parcel tables was started by hand yesterday evening, run 41.")
	got := texts(Extract(src, 1000))
	if len(got) != 2 || !slices.Contains(got, src[2].Text) {
		t.Errorf("got %q", got)
	}
}

func TestExactDuplicatesOnce(t *testing.T) {
	list := Extract(said("It is on port 5433.", "Now it is 6000.", "It is on port 5433."), 100)
	for _, s := range list {
		if s.Text == "It is on port 5433." && s.Seq != 2 {
			t.Errorf("taken from message %d", s.Seq)
		}
	}
	if len(list) > 2 {
		t.Errorf("got %q", texts(list))
	}
}

// Many sentences of one form are a series: each is about another thing.
func TestSeriesStays(t *testing.T) {
	var series []string
	for _, n := range []string{"11", "12", "13", "14", "15"} {
		series = append(series, "The crane on berth "+n+" is checked.")
	}
	if got := texts(Extract(said(series...), 1000)); len(got) != len(series) {
		t.Errorf("got %q", got)
	}
}
