package objects_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// The ids of a pack come together and as its objects lie, and those that no pack has come last.
func TestByPlace(t *testing.T) {
	s, _ := newStore(t, nil)
	var packed [][]format.ID
	var ids []format.ID
	for from := 0; from < 60; from += 20 {
		var list []format.Raw
		for i := range 20 {
			list = append(list, object(from+i, "text"))
		}
		c, err := s.PackContents(pack(t, s, list...).ID)
		if err != nil {
			t.Fatal(err)
		}
		packed, ids = append(packed, c.IDs), append(ids, c.IDs...)
	}
	logged, nowhere := object(100, "logged"), object(101, "nowhere")
	s.SetLogged([]format.Raw{logged})
	ids = append(ids, logged.ID(), nowhere.ID())
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })

	s.ByPlace(ids)
	for i, of := range packed {
		at := slices.Index(ids, of[0])
		if at < 0 || at+len(of) > len(ids) || !slices.Equal(ids[at:at+len(of)], of) {
			t.Errorf("the objects of pack %d are not together from %d on", i, at)
		}
	}
	if last := ids[60:]; !slices.Contains(last, logged.ID()) ||
		!slices.Contains(last, nowhere.ID()) {
		t.Errorf("the last ones are %v", last)
	}
}
