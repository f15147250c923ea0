package format_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// TestEveryKindHasARow checks the row of each kind: its own name, a sample that its codec reads and
// writes again, links of known kinds, and a body if the row says so. TestEveryKindHasAPage checks
// the kind's page in docs/format.
func TestEveryKindHasARow(t *testing.T) {
	for k := range format.AnyKind {
		if k.String() == "" || format.KindNamed(k.String()) != k {
			t.Fatalf("kind %d has no name of its own: %q", k, k)
		}
		header := codecOf(t, k.String()).samples[0]
		got, o, err := format.DecodeObject(header)
		if err != nil || got != k {
			t.Fatalf("%s is read as %s: %v", k, got, err)
		}
		if again, err := o.Encode(); err != nil || !bytes.Equal(again, header) {
			t.Errorf("%s is written as %q: %v", k, again, err)
		}
		for _, l := range o.Links() {
			if l.ID.IsZero() || l.Want >= format.AnyKind {
				t.Errorf("%s has the link %v", k, l)
			}
		}
		if _, named, err := format.HeaderBody(header); err != nil || named && !k.HasBody() {
			t.Errorf("%s names a body: %v, its row says %v; %v", k, named, k.HasBody(), err)
		}
	}
	if k, _, err := format.DecodeObject([]byte("dream 1\nof sheep\n")); k != format.AnyKind ||
		err == nil {
		t.Errorf("an unknown kind is %s, %v", k, err)
	}
}

func FuzzDecodeObject(f *testing.F) {
	f.Fuzz(func(t *testing.T, header []byte) {
		_, o, err := format.DecodeObject(header)
		if err != nil {
			return
		}
		again, err := o.Encode()
		if err != nil || !bytes.Equal(again, header) {
			t.Errorf("%q is read and printed as %q, %v", header, again, err)
		}
		links := o.Links()
		if e, ok := o.(*format.Entry); ok && len(e.Parents) > len(links) {
			t.Errorf("%d parents among %d links", len(e.Parents), len(links))
		}
		for _, l := range links {
			if l.ID.IsZero() {
				t.Error("a link to nothing")
			}
		}
	})
}

// A corpus that is no longer there fails nothing by itself.
func TestFuzzSeedsOfObjects(t *testing.T) {
	seeds, err := filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzDecodeObject", "*"))
	if err != nil || len(seeds) < int(format.AnyKind) {
		t.Errorf("%d seeds, %v", len(seeds), err)
	}
}

// TestEveryHeaderIsAKind checks that the registry has each kind of header that the package writes,
// but for those of files that are no objects.
func TestEveryHeaderIsAKind(t *testing.T) {
	files := []string{"absent", "checkpoint", "forgotten"}
	for _, name := range kindsInSource(t) {
		if format.KindNamed(name) == format.AnyKind && !slices.Contains(files, name) {
			t.Errorf("kinds.go has no row for %q", name)
		}
	}
}

// TestEveryKindIsFuzzed checks that the decoder of each kind has a fuzz target of its own.
func TestEveryKindIsFuzzed(t *testing.T) {
	targets := fuzzTargets(t)
	for k := range format.AnyKind {
		name := k.String()
		if target := "FuzzDecode" + strings.ToUpper(name[:1]) + name[1:]; !targets[target] {
			t.Errorf("no fuzz target %s", target)
		}
	}
}
