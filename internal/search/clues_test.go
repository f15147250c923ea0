package search

import (
	"errors"
	"testing"
)

func TestClues(t *testing.T) {
	for _, c := range []struct {
		text         string
		names, words float64
	}{
		{"", 0, 0},
		{"yes, go on", 0, 0},
		{"Mend the lantern in lamps/wick.go and wick.go", 1, 2}, // a path is its last element
		{"trimWick drops snuff_candle again", 2, 1},
		{"the branch ann/ent-112-lamp and refs/heads/lamp-2", 2, 1},
		{"README.md, GitHub and fmt.Errorf are everywhere", 0, 1}, // in any project
		{"trimWick trimWick trimwick", 1, 0},
		{"the lamp-review-check skill, trim3Wick and fix/lamp-oil-burns", 3, 1},
		{"an up-to-date, state-of-the-art, read-only lamp of 100MB", 0, 4},
	} {
		if s := CluesOf(c.text).All(); s.Names != c.names || s.Words != c.words {
			t.Errorf("%q: %+v", c.text, s)
		}
	}
}

func TestCluesAreWeighed(t *testing.T) {
	seg, _ := segmentOf(t, []Doc{{Session: "s", Seq: 1, Text: "trimWick is lit"},
		{Session: "s", Seq: 2, Text: "the lantern"}, {Session: "s", Seq: 3, Text: "a lantern"}})
	c := CluesOf("trimWick, the lantern and snuffCandle")
	if err := c.Weigh(nil); err != nil || c.Known() != (Sight{}) {
		t.Errorf("%+v, %v", c.Known(), err)
	}
	if _, err := c.Query(); !errors.Is(err, ErrNoTerms) {
		t.Error(err)
	}
	if err := c.Weigh([]Source{{Segment: seg}}); err != nil {
		t.Fatal(err)
	}
	s := c.In("We lost the LANTERN: see src/wick.go, trimWick and trimWick")
	if s.Names != 1 || s.Words <= 0 || s.Words >= 1 || s.N != 2 || s != c.Known() {
		t.Errorf("%+v", s)
	}
	q, err := c.Query()
	if err != nil {
		t.Fatal(err)
	}
	hits, err := Rank([]Source{{Segment: seg}}, q, Options{Limit: 4})
	if err != nil || len(hits) != 1 || hits[0].Seq != 1 {
		t.Errorf("%+v, %v", hits, err)
	}
}
