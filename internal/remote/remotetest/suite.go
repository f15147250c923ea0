// Package remotetest holds every remote to the contract of remote.Remote.
package remotetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// Check runs the conformance suite. open returns a new client of one place, which is empty before
// the first call; the suite closes it.
func Check(t *testing.T, open func(t *testing.T) remote.Remote) {
	for _, c := range []struct {
		name string
		run  func(s *suite)
	}{
		{"empty", (*suite).empty},
		{"put", (*suite).put},
		{"exists", (*suite).exists},
		{"lists", (*suite).lists},
		{"swap", (*suite).swap},
		{"tags", (*suite).tags},
		{"delete", (*suite).remove},
		{"names", (*suite).names},
		{"bytes", (*suite).bytes},
		{"swappers", (*suite).swappers},
		{"writers", (*suite).writers},
		{"cancelled", (*suite).cancelled},
	} {
		// One after another, in one place: each uses a folder of its own.
		t.Run(c.name, func(t *testing.T) {
			s := &suite{T: t, open: open, folder: "stores/" + c.name + "/"}
			c.run(s)
		})
	}
}

type suite struct {
	*testing.T
	open   func(t *testing.T) remote.Remote
	folder string
}

func (s *suite) client() remote.Remote {
	s.Helper()
	r := s.open(s.T)
	s.Cleanup(func() {
		if err := r.Close(); err != nil {
			s.Errorf("close: %v", err)
		}
	})
	return r
}

func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *suite) wants(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf("got error %v, want %v", err, want)
	}
}

// has fails unless a new client reads exactly data.
func (s *suite) has(name string, data []byte) {
	s.Helper()
	got, err := s.client().Get(s.Context(), name)
	s.must(err)
	if !bytes.Equal(got, data) {
		s.Fatalf("%s: got %d bytes %.40q, want %d bytes %.40q", name, len(got), got,
			len(data), data)
	}
}

func (s *suite) empty() {
	r := s.client()
	files, err := r.List(s.Context(), s.folder)
	s.must(err)
	if len(files) != 0 {
		s.Fatalf("an empty place lists %v", files)
	}
	_, err = r.Get(s.Context(), s.folder+"head")
	s.wants(err, remote.ErrNotFound)
	s.must(r.Delete(s.Context(), []string{s.folder + "head"}))
	s.wants(r.Swap(s.Context(), s.folder+"head", []byte("old"), []byte("new")), remote.ErrStale)
}

// put: what PutNew took is there for others after the next Swap.
func (s *suite) put() {
	r := s.client()
	s.must(r.PutNew(s.Context(), s.folder+"log/a", []byte("one")))
	s.must(r.PutNew(s.Context(), s.folder+"pack/b", []byte("two")))
	s.must(r.Swap(s.Context(), s.folder+"head", nil, []byte("head")))
	s.has(s.folder+"log/a", []byte("one"))
	s.has(s.folder+"pack/b", []byte("two"))
	s.has(s.folder+"head", []byte("head"))
	// The client that wrote them reads them, too.
	got, err := r.Get(s.Context(), s.folder+"log/a")
	s.must(err)
	if string(got) != "one" {
		s.Fatalf("got %q", got)
	}
}

func (s *suite) exists() {
	r := s.client()
	name := s.folder + "pack/a"
	s.must(r.PutNew(s.Context(), name, []byte("one")))
	s.must(r.PutNew(s.Context(), name, []byte("one")))
	s.wants(r.PutNew(s.Context(), name, []byte("two")), remote.ErrExists)
	s.must(r.Swap(s.Context(), s.folder+"head", nil, []byte("1")))
	s.must(r.PutNew(s.Context(), name, []byte("one")))
	s.wants(r.PutNew(s.Context(), name, []byte("two")), remote.ErrExists)
	s.has(name, []byte("one"))
}

func (s *suite) lists() {
	r := s.client()
	want := []remote.File{}
	for _, name := range []string{"a", "a-b", "a/1", "a/2", "b"} {
		if name == "a" {
			continue // a file and a folder cannot have one name
		}
		s.must(r.PutNew(s.Context(), s.folder+"log/"+name, []byte(name)))
		want = append(want, remote.File{Name: s.folder + "log/" + name, Size: int64(len(name))})
	}
	s.must(r.Swap(s.Context(), s.folder+"head", nil, []byte("1")))
	got, err := s.client().List(s.Context(), s.folder+"log/")
	s.must(err)
	for i := range got {
		got[i].Tag = ""
	}
	if !slices.Equal(got, want) {
		s.Errorf("got %v, want %v", got, want)
	}
	all, err := s.client().List(s.Context(), "")
	s.must(err)
	if !slices.ContainsFunc(all,
		func(f remote.File) bool { return f.Name == s.folder+"head" && f.Size == 1 }) {
		s.Errorf("the list of everything lacks the head: %v", all)
	}
}

func (s *suite) swap() {
	r, other := s.client(), s.client()
	name := s.folder + "head"
	s.must(r.Swap(s.Context(), name, nil, []byte("one")))
	s.wants(r.Swap(s.Context(), name, nil, []byte("two")), remote.ErrStale)
	s.wants(r.Swap(s.Context(), name, []byte("zero"), []byte("two")), remote.ErrStale)
	s.has(name, []byte("one"))
	s.must(other.Swap(s.Context(), name, []byte("one"), []byte("two")))
	s.wants(r.Swap(s.Context(), name, []byte("one"), []byte("three")), remote.ErrStale)
	s.has(name, []byte("two"))
	s.must(r.Swap(s.Context(), name, []byte("two"), []byte("four")))
	s.has(name, []byte("four"))
}

// tags: where a remote has tags, another content has another tag.
func (s *suite) tags() {
	r := s.client()
	tag := func() string {
		files, err := s.client().List(s.Context(), "heads/")
		s.must(err)
		for _, f := range files {
			if f.Name == "heads/tags" {
				return f.Tag
			}
		}
		s.Fatal("the head is not listed")
		return ""
	}
	s.must(r.Swap(s.Context(), "heads/tags", nil, []byte("one")))
	one := tag()
	if again := tag(); again != one {
		s.Errorf("the tag changed from %q to %q, and the file did not", one, again)
	}
	s.must(r.Swap(s.Context(), "heads/tags", []byte("one"), []byte("two")))
	if two := tag(); one != "" && two == one {
		s.Errorf("two contents have the tag %q", one)
	}
}

func (s *suite) remove() {
	r := s.client()
	a, b := s.folder+"pack/a", s.folder+"pack/b"
	s.must(r.PutNew(s.Context(), a, []byte("one")))
	s.must(r.PutNew(s.Context(), b, []byte("two")))
	s.must(r.Swap(s.Context(), s.folder+"head", nil, []byte("1")))
	s.must(s.client().Delete(s.Context(), []string{a, s.folder + "pack/none"}))
	_, err := s.client().Get(s.Context(), a)
	s.wants(err, remote.ErrNotFound)
	s.has(b, []byte("two"))
	s.has(s.folder+"head", []byte("1"))
}

func (s *suite) names() {
	r := s.client()
	for _, name := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", ".a", "a/.b", "A",
		"a b", "a\\b", "a:b", "-a", "ä"} {
		if err := r.PutNew(s.Context(), name, []byte("x")); err == nil {
			s.Errorf("PutNew takes the name %q", name)
		}
		if err := r.Swap(s.Context(), name, nil, []byte("x")); err == nil {
			s.Errorf("Swap takes the name %q", name)
		}
		if _, err := r.Get(s.Context(), name); err == nil {
			s.Errorf("Get takes the name %q", name)
		}
		if err := r.Delete(s.Context(), []string{name}); err == nil {
			s.Errorf("Delete takes the name %q", name)
		}
	}
}

// bytes: any bytes come back, none as well.
func (s *suite) bytes() {
	all := make([]byte, 0, 1<<20)
	for i := range 1 << 20 {
		all = append(all, byte(i^i>>8))
	}
	r := s.client()
	for i, data := range [][]byte{{}, {0}, []byte("a\r\nb\n"), []byte("\xff\xfe\x00"), all} {
		s.must(r.PutNew(s.Context(), fmt.Sprintf("%spack/%d", s.folder, i), data))
		defer s.has(fmt.Sprintf("%spack/%d", s.folder, i), data)
	}
	s.must(r.Swap(s.Context(), s.folder+"head", nil, []byte{0xff, '\n', 0}))
	s.must(r.Swap(s.Context(), s.folder+"head", []byte{0xff, '\n', 0}, []byte{}))
	s.must(r.Swap(s.Context(), s.folder+"head", []byte{}, []byte("end")))
	s.has(s.folder+"head", []byte("end"))
}

// swappers: of those who swap the same old content, one wins.
func (s *suite) swappers() {
	name := s.folder + "head"
	s.must(s.client().Swap(s.Context(), name, nil, []byte("start")))
	const clients = 4
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for i := range clients {
		r := s.client()
		wg.Go(
			func() {
				errs[i] = r.Swap(s.Context(), name, []byte("start"), fmt.Appendf(nil, "by %d", i))
			})
	}
	wg.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			s.Fatalf("both %d and %d swapped", won, i)
		case err == nil:
			won = i
		case !errors.Is(err, remote.ErrStale):
			s.Errorf("client %d: %v, want ErrStale", i, err)
		}
	}
	if won < 0 {
		s.Fatal("nobody swapped")
	}
	s.has(name, fmt.Appendf(nil, "by %d", won))
}

func (s *suite) cancelled() {
	r := s.client()
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if err := r.Swap(ctx, s.folder+"head", nil, []byte("late")); err == nil {
		s.Skip("a swap that takes no time is done before it looks at the context")
	}
	_, err := s.client().Get(s.Context(), s.folder+"head")
	s.wants(err, remote.ErrNotFound)
}
