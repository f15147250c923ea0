package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// entryOf returns an entry with a nonce whose bytes are all the same.
func entryOf(t testing.TB, e format.Entry, nonce byte, text string) Object {
	t.Helper()
	body := append(slices.Repeat([]byte{nonce}, format.NonceLen), text...)
	sum := format.SumBody(body, format.MediaText)
	e.Body = &sum
	header, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return Object{ID: format.Sum(header), Header: header, Body: body}
}

// sample returns the two entries that docs/format/entry.md shows.
func sample(t testing.TB) []Object {
	const session = "9f77ed91-4c41-4a3c-9d53-0c2f4b8f0a11"
	at := time.Date(2026, 11, 21, 0, 42, 9, 328e6, time.UTC)
	question := entryOf(t, format.Entry{
		Seq: 1, Session: session, Kind: format.KindMessage, Role: "user", Author: "Ada Lovelace",
		Time: at, Invocation: "i-1",
		Source: &format.Source{Agent: "gemini-cli", Session: session, Message: "m-1",
			Digest: "0f1e2d3c4b5a6978"},
	}, 1, "Where do the temporary files go?")
	answer := entryOf(t, format.Entry{
		Parents: []format.ID{question.ID}, Seq: 2, Session: session, Kind: format.KindMessage,
		Role:   "model",
		Author: "gemini-2.5-flash", Time: at.Add(1672 * time.Millisecond), Invocation: "i-1",
		Calls: []format.Call{{ID: "call-1", Tool: "read_file"}}, Tokens: 431,
	}, 2, "Into tmp/. The next holder of the lock sweeps them.")
	return []Object{question, answer}
}

// The examples of the page are what the package writes.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "format", "pack.md"))
	if err != nil {
		t.Fatal(err)
	}
	raw, digest := Encode(sample(t), Key{}, nil)
	index, err := EncodeIndex(sha256.Sum256(nil), entries(sample(t)),
		[]Entry{{Prefix: 0xabcd0000, Number: 0}},
		[]Block{{Kind: Whole, Frame: 400, Raw: len(raw), Objects: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"block": dump(raw), "digest": digest.String(),
		"index": dump(index)} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not have this %s:\n%s", name, want)
		}
	}
}

func entries(list []Object) []Entry {
	var out []Entry
	for i, o := range list {
		out = append(out, Entry{Prefix: Prefix(o.ID), Number: uint32(i)})
	}
	return out
}

// dump writes bytes as the page shows them: 32 bytes to a line in hexadecimal.
func dump(b []byte) string {
	var out strings.Builder
	for line := range slices.Chunk(b, 32) {
		out.WriteString("    " + hex.EncodeToString(line) + "\n")
	}
	return out.String()
}
