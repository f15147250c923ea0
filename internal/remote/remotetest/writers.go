package remotetest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// sharedEvery is how many pushes of a writer go by for each that it also counts in a file of all
// writers. Stores share no such file in earnest, so it is rare here, too.
const sharedEvery = 10

// writers: stores that push at the same time lose nothing to each other, and nothing is there
// twice. CTX_WRITERS=16x50 makes that many writers and pushes.
func (s *suite) writers() {
	writers, pushes := 4, 3
	if many := os.Getenv("CTX_WRITERS"); many != "" {
		if _, err := fmt.Sscanf(many, "%dx%d", &writers, &pushes); err != nil {
			s.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	var own, shared, counted atomic.Int64
	for w := range writers {
		r := s.client()
		wg.Go(func() {
			var old []byte
			for n := range pushes {
				next, retries, err := s.push(r, w, n, old)
				own.Add(retries)
				if err == nil && n%sharedEvery == 0 {
					retries, err = s.count(r, fmt.Sprintf("%d of %d\n", n, w))
					shared.Add(retries)
					counted.Add(1)
				}
				if err != nil {
					s.Errorf("writer %d, push %d: %v", w, n, err)
					return
				}
				old = next
			}
		})
	}
	wg.Wait()
	s.Logf(
		"%d writers, %d pushes each: %d retries of files of their own; %d of a file of "+
			"all, in %d pushes",
		writers, pushes, own.Load(), shared.Load(), counted.Load())
	s.complete(writers, pushes, int(counted.Load()))
}

// push does what one push of a store does: a new file, and a head that names it. A head of one's
// own is never stale.
func (s *suite) push(
	r remote.Remote, w, n int, old []byte,
) (head []byte, retries int64, err error) {
	file := fmt.Sprintf("stores/writers-%d/pack/%d", w, n)
	head = fmt.Appendf(bytes.Clone(old), "%d\n", n)
	if err := r.PutNew(s.Context(), file, []byte(file)); err != nil {
		return nil, 0, err
	}
	err = r.Swap(s.Context(), fmt.Sprintf("heads/writers-%d", w), old, head)
	for again := 0; errors.Is(err, remote.ErrTemporary) && again < 10; again++ {
		retries++
		err = r.Swap(s.Context(), fmt.Sprintf("heads/writers-%d", w), old, head)
	}
	return head, retries, err
}

// count adds a line to a file of all writers, until nobody else was faster. After an error that
// says neither yes nor no it looks.
func (s *suite) count(r remote.Remote, line string) (retries int64, err error) {
	for {
		old, err := r.Get(s.Context(), "heads/counted")
		if errors.Is(err, remote.ErrNotFound) {
			old, err = nil, nil
		}
		if bytes.Contains(old, []byte(line)) {
			return retries, nil
		}
		if err == nil {
			err = r.Swap(s.Context(), "heads/counted", old, append(bytes.Clone(old), line...))
		}
		if !errors.Is(err, remote.ErrStale) && !errors.Is(err, remote.ErrTemporary) {
			return retries, err
		}
		retries++
	}
}

// complete fails unless the place has what the writers have pushed, and nothing besides.
func (s *suite) complete(writers, pushes, counted int) {
	r := s.client()
	if got, err := r.Get(s.Context(), "heads/counted"); err != nil ||
		bytes.Count(got, []byte("\n")) != counted {
		s.Errorf("%d were counted, and the file has %q, error %v", counted, got, err)
	}
	listed := map[string]int{}
	files, err := r.List(s.Context(), "stores/")
	s.must(err)
	for _, f := range files {
		if strings.HasPrefix(f.Name, "stores/writers-") {
			listed[f.Name]++
		}
	}
	if len(listed) != writers*pushes {
		s.Errorf("%d files, want %d", len(listed), writers*pushes)
	}
	for w := range writers {
		var want []byte
		for n := range pushes {
			want = fmt.Appendf(want, "%d\n", n)
			name := fmt.Sprintf("stores/writers-%d/pack/%d", w, n)
			got, err := r.Get(s.Context(), name)
			if err != nil || string(got) != name || listed[name] != 1 {
				s.Errorf("%s: got %q, listed %d times, error %v", name, got, listed[name], err)
			}
		}
		if got, err := r.Get(s.Context(), fmt.Sprintf("heads/writers-%d", w)); err != nil ||
			!bytes.Equal(got, want) {
			s.Errorf("the head of writer %d is %q, want %q, error %v", w, got, want, err)
		}
	}
}
