package format_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// A record in which one byte changed, whichever it is, becomes what it was. What is damaged in more
// places does not become anything.
func TestMend(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	entry := []byte("a body with its words")
	e := format.Entry{Kind: format.KindMessage, Session: "s", Seq: 1, Role: "user",
		Time: sampleTime}
	body := format.SumBody(entry, format.MediaText)
	e.Body = &body
	header, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	raw := format.Raw{Header: header, Body: entry}
	op := format.Operation{Number: 1, Verb: "append", Time: sampleTime, Session: "s",
		Effects: format.Effects{Extends: true},
		Refs: []format.RefUpdate{{Name: "sessions/s/main",
			New: format.Value{Kind: format.SessionValue, ID: raw.ID()}}}}
	for name, carried := range map[string][]format.Raw{"alone": nil, "carries": {raw}} {
		op.Objects = carried
		good, _, err := op.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got := format.Mend(append(bytes.Clone(good), "ctxo more"...)); !bytes.Equal(got, good) {
			t.Errorf("%s: a sound record becomes %q", name, got)
		}
		for i := 0; i < len(good); i += 1 + r.IntN(5) {
			bad := bytes.Clone(good)
			bad[i] ^= byte(1 + r.IntN(255))
			got := format.Mend(append(bytes.Clone(bad), "ctxo more"...))
			if !bytes.Equal(got, good) {
				t.Errorf("%s: byte %d of %d is not mended: %q", name, i, len(good), got)
			}
		}
		for range 3 {
			bad := bytes.Clone(good)
			for _, i := range r.Perm(len(bad) - 48)[:3] {
				bad[12+i] ^= byte(1 + r.IntN(255))
			}
			if got := format.Mend(bad); got != nil {
				t.Errorf("%s: three damaged bytes become %q", name, got)
			}
		}
		for n := range len(good) {
			if got := format.Mend(good[:n]); got != nil {
				t.Errorf("%s: %d bytes of %d become %q", name, n, len(good), got)
			}
		}
	}
}
