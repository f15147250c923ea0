package objects_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// sealed returns an object whose nonce follows from the key, as a store makes it.
func sealed(key []byte, lines, media, text string) format.Raw {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("nonce\x00" + lines))
	body := append(mac.Sum(nil)[:format.NonceLen], text...)
	sum := format.SumBody(body, media)
	return format.Raw{Header: fmt.Appendf(nil, "%sbody sha256:%x %d %s\n", lines, sum.Digest,
		sum.Size, sum.Media), Body: body}
}

// talkOf returns messages, and for each ten a node, a summary that quotes them all, and a
// tombstone.
func talkOf(key []byte, n int) (entries, derived []format.Raw) {
	for i := range n {
		text := fmt.Sprintf("message %d: %s", i, words(60, uint64(i)))
		entries = append(entries,
			sealed(key, fmt.Sprintf("entry 1\nseq %d\nsession s\nkind message\nrole user\n", i+1),
				format.MediaText, text))
		if i%10 != 9 {
			continue
		}
		node := "node 1\nlevel 0\ncount 10\n"
		var lines []string
		for k, e := range entries[i-9:] {
			node += "entry " + e.ID().String() + "\n"
			lines = append(lines,
				fmt.Sprintf(`{"entry":"%v","seq":%d,"pos":0,"weight":%d,"text":"%s"}`, e.ID(),
					i-9+k+1, 1000-k, e.Body[format.NonceLen:]))
		}
		run := format.Raw{Header: []byte(node)}
		sum := sealed(key,
			fmt.Sprintf(
				"summary 1\nnode %v\ngeneration 1\nsummarizer extractive 3\ninput node %v\n",
				run.ID(), run.ID()),
			format.MediaExtract, "[\n"+strings.Join(lines, ",\n")+"\n]\n")
		stone := sealed(key,
			fmt.Sprintf("tombstone 1\ncluster %d\nnode %v 10\narrival %d\nsummary %v\n", i/10,
				run.ID(), i, sum.ID()), format.MediaText, "a line")
		derived = append(derived, run, sum, stone)
	}
	return entries, derived
}

// Summaries stand beside the entries that they quote, and take little besides. All come back, one
// by one and all together, also with a new index, and where the entries are in another pack.
func TestSummariesBesideEntries(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 32)
	entries, derived := talkOf(key, 5000) // three blocks
	var mixed []format.Raw
	for i, e := range entries {
		if mixed = append(mixed, e); i%10 == 9 {
			mixed = append(mixed, derived[i/10*3:i/10*3+3]...)
		}
	}
	size := func(raws []format.Raw) int64 {
		s, _ := newStore(t, nil)
		s.Key = func() ([]byte, error) { return key, nil }
		info := pack(t, s, raws...)
		check := func() {
			for _, i := range []int{len(raws) - 1, 0, len(raws) / 2} {
				got, err := s.Get(raws[i].ID())
				if err != nil || !bytes.Equal(got.Header, raws[i].Header) ||
					!bytes.Equal(got.Body, raws[i].Body) {
					t.Fatalf("object %d: %v", i, err)
				}
			}
			n := 0
			err := s.SalvagePack(info.ID, func(r format.Raw, whole bool) error {
				if whole {
					n++
				}
				return nil
			})
			if err != nil || n != len(raws) {
				t.Fatalf("%d objects of %d were salvaged: %v", n, len(raws), err)
			}
		}
		check()
		if err := s.Reindex(info.ID); err != nil {
			t.Fatal(err)
		}
		check()
		return info.Size
	}
	alone, together, apart := size(entries), size(mixed), size(slices.Concat(entries, derived))
	t.Logf("entries %d bytes, with summaries beside them %d, behind them %d", alone,
		together, apart)
	if more := together - alone; more > 5000*16 {
		t.Errorf("summaries of 5000 messages take %d bytes", more)
	}
	size(derived)
}
