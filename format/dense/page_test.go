package dense

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// exampleOf returns the bytes of the first example of a page, a dump of them.
func exampleOf(t *testing.T, name string) []byte {
	t.Helper()
	_, rest, found := strings.Cut(pageOf(t, name), "```example operation\n")
	dump, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatalf("%s has no example", name)
	}
	var b []byte
	for line := range strings.Lines(dump) {
		part, err := hex.DecodeString(strings.ReplaceAll(line[10:45], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, part...)
	}
	return b
}

func pageOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "format", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// The example of the page is the block of the example record of operation.md, both of whose objects
// are in a pack.
func TestPage(t *testing.T) {
	record := exampleOf(t, "operation.md")
	block, raw, err := Encode(record,
		func(ids []format.ID) ([]bool, error) { return slices.Repeat([]bool{true}, len(ids)), nil })
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, "dense-log.md")
	var dump strings.Builder
	for line := range slices.Chunk(raw, 32) {
		dump.WriteString("    " + hex.EncodeToString(line) + "\n")
	}
	digest := sha256.Sum256(record)
	for name, want := range map[string]string{"block": dump.String(),
		"digest": hex.EncodeToString(digest[:])} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have this %s:\n%s", name, want)
		}
	}
	if block.Digest != digest {
		t.Error("the digest is another")
	}
}
