package recall_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// B2, B3: from leave to leave the prefix does not change by a byte, and pin and tail together hold
// every message, each once.
func TestB2PrefixHoldsBetweenLeaves(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(4, 4))
	var prefix []byte
	var pin format.ID
	leaves := 0
	for i := range 80 {
		storetest.Say(t, s, "talk", []string{"user", "model"}[i%2], storetest.Chatter(r))
		if i%7 == 3 {
			// Graduates into the same forest
			storetest.Say(t, s, "other", "user", storetest.Chatter(r))
		}
		v := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
			history.MainBranch))
		out := storetest.Render(t, s, "talk", 0)
		if v.Pin == pin && !bytes.Equal(prefix, out.Bytes[:out.Prefix]) {
			t.Fatalf("message %d changed the prefix without a leave", i)
		}
		if v.Pin != pin {
			leaves++
		}
		pin, prefix = v.Pin, bytes.Clone(out.Bytes[:out.Prefix])
		storetest.CheckEverythingOnce(t, s, "talk", v)
	}
	if leaves < 5 {
		t.Errorf("%d leaves", leaves)
	}
}
