package objects_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
)

// now is the clock of the tests: later than any file they make.
func now() time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) }

// newStore makes an empty store.
func newStore(t testing.TB, fs *durable.FS) (*objects.Store, string) {
	t.Helper()
	root := durabletest.TempDir(t)
	if err := objects.Init(root, nil); err != nil {
		t.Fatal(err)
	}
	return open(t, root, fs), root
}

func open(t testing.TB, root string, fs *durable.FS) *objects.Store {
	s := objects.Open(root, fs)
	s.Now = now
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// object returns an object with a body; n and text make it another one.
func object(n int, text string) format.Raw {
	body := format.SumBody([]byte(text), "text/plain")
	header := fmt.Sprintf(
		"entry 1\nseq %d\nsource test session message-%d 0123456789abcdef\nbody sha256:%x %d %s\n",
		n, n, body.Digest, body.Size, body.Media)
	return format.Raw{Header: []byte(header), Body: []byte(text)}
}

// bare returns an object of a kind that has no body.
func bare(n int) format.Raw {
	return format.Raw{Header: fmt.Appendf(nil, "node 1\ncount %d\n", n)}
}

// words returns n bytes that compress about as text does.
func words(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]string, 2000)
	for i := range list {
		w := make([]byte, 2+r.IntN(8))
		for j := range w {
			w[j] = byte('a' + r.IntN(26))
		}
		list[i] = string(w)
	}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(list[min(r.IntN(len(list)), r.IntN(len(list)))])
		b.WriteByte(' ')
	}
	return b.String()[:n]
}

func batch(n int) []format.Raw {
	text := words(n*16+100, 7)
	raws := make([]format.Raw, n)
	for i := range raws {
		raws[i] = object(i, text[i*16:i*16+100])
	}
	return raws
}

func put(t testing.TB, s *objects.Store, raws ...format.Raw) {
	t.Helper()
	if err := s.Put(raws...); err != nil {
		t.Fatal(err)
	}
}

// same fails unless the store gives r back.
func same(t testing.TB, s *objects.Store, r format.Raw) {
	t.Helper()
	got, err := s.Get(r.ID())
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Header) != string(r.Header) || string(got.Body) != string(r.Body) ||
		(got.Body == nil) != (r.Body == nil) {
		t.Fatalf("%v came back as %q %q", r.ID(), got.Header, got.Body)
	}
	header, err := s.Header(r.ID())
	if err != nil || string(header) != string(r.Header) {
		t.Fatalf("header of %v came back as %q, %v", r.ID(), header, err)
	}
	if ok, err := s.Has(r.ID()); !ok || err != nil {
		t.Fatalf("has %v: %v, %v", r.ID(), ok, err)
	}
}

// pack writes objects as a pack, whatever their number.
func pack(t testing.TB, s *objects.Store, raws ...format.Raw) objects.PackInfo {
	t.Helper()
	info, err := s.WritePack(sequence(raws), objects.Default)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func sequence(raws []format.Raw) func(func(format.Raw, error) bool) {
	return func(yield func(format.Raw, error) bool) {
		for _, r := range raws {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func ids(raws []format.Raw) []format.ID {
	out := make([]format.ID, len(raws))
	for i, r := range raws {
		out[i] = r.ID()
	}
	return out
}

func hold(t testing.TB, root string) *lock.Held {
	t.Helper()
	held, err := lock.Acquire(context.Background(), nil, root, time.Minute, lock.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Release() })
	return held
}

// forget writes the record that makes a missing body right.
func forget(t testing.TB, root string, id format.ID) {
	t.Helper()
	a := format.Absent{Object: id, Reason: format.ReasonForgotten, Time: time.Unix(1, 0).UTC()}
	b, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "absent", id.String()[:2])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, id.String()[2:]), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// files returns the names of all files below root, in order.
func files(t testing.TB, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}
