package git_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// TestMeasure cuts the file CTX_GIT_TRANSCRIPT, one session of an agent, into 40 parts of as many
// lines, and pushes each as a pack, a segment and a head, with a new client, as 40 runs of
// `ctx push` do. It logs what that takes.
func TestMeasure(t *testing.T) {
	file := os.Getenv("CTX_GIT_TRANSCRIPT")
	if file == "" {
		t.Skip("CTX_GIT_TRANSCRIPT names a transcript to measure with")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		t.Fatal(err)
	}
	path, bare := repository(t), filepath.Join(t.TempDir(), "copy.git")
	// A pack a push, so that the sizes of the packs are what was sent.
	if out, err := exec.Command("git", "-C", path, "config", "receive.unpackLimit",
		"1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const parts = 40
	lines := bytes.SplitAfter(text, []byte("\n"))
	var times []time.Duration
	var packed int
	var head []byte
	for n := range parts {
		part := z.EncodeAll(bytes.Join(lines[n*len(lines)/parts:(n+1)*len(lines)/parts], nil), nil)
		packed += len(part)
		next := fmt.Appendf(nil, "%d %0300x", n, n) // as long as a true one
		began := time.Now()
		r := openAt(t, path, bare)
		err := errors.Join(
			r.PutNew(t.Context(), fmt.Sprintf("stores/1/pack/%d-%d-%064x", n+1, n+1, n), part),
			r.PutNew(t.Context(), fmt.Sprintf("stores/1/log/%d-%d-%064x", n+1, n+1, n), next),
			r.Swap(t.Context(), "heads/1", head, next),
			r.Close())
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(began))
		head = next
	}
	packs := func() (size int64) {
		files, err := filepath.Glob(filepath.Join(path, "objects", "pack", "*.pack"))
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	sent := packs()
	t.Logf("%d bytes of %d lines, in %d parts of zstd: %d bytes", len(text), len(lines),
		parts, packed)
	t.Logf("received: %d bytes, %.2f times the parts", sent, float64(sent)/float64(packed))
	t.Logf("push: p50 %v, p95 %v", share(times, 50), share(times, 95))

	list := func(bare string) time.Duration {
		began := time.Now()
		r := openAt(t, path, bare)
		files, err := r.List(t.Context(), "heads/")
		if err = errors.Join(err, r.Close()); err != nil || len(files) != 1 {
			t.Fatalf("%v, error %v", files, err)
		}
		return time.Since(began)
	}
	times = nil
	for range 20 {
		times = append(times, list(bare))
	}
	t.Logf("nothing new: p50 %v, p95 %v", share(times, 50), share(times, 95))

	times = nil
	for range 10 {
		began := time.Now()
		var r remote.Remote = openAt(t, path, filepath.Join(t.TempDir(), "new.git"))
		files, err := r.List(t.Context(), "stores/1/")
		for _, f := range files {
			_, failed := r.Get(t.Context(), f.Name)
			err = errors.Join(err, failed)
		}
		if err != nil || len(files) != 2*parts {
			t.Fatalf("%d files, error %v", len(files), err)
		}
		times = append(times, time.Since(began))
	}
	t.Logf("fetch and read all: p50 %v, p95 %v", share(times, 50), share(times, 95))

	r := openAt(t, path, bare)
	began := time.Now()
	if err := r.Delete(t.Context(),
		[]string{fmt.Sprintf("stores/1/pack/1-1-%064x", 0)}); err != nil {
		t.Fatal(err)
	}
	t.Logf("delete, a commit without parents: %v, %d bytes sent", time.Since(began), packs()-sent)
}

// share returns the time that a percentage of times does not exceed.
func share(times []time.Duration, percent int) time.Duration {
	slices.Sort(times)
	return times[(len(times)-1)*percent/100].Round(100 * time.Microsecond)
}
