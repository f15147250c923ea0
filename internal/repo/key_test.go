package repo_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/lock"
)

func TestKeyed(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.write(w.path("key"), strings.Repeat("k", 32))
	r := w.open()
	nonce, err := r.Nonce("entry", []byte("header\n"))
	// Made with: printf 'entry\0header\n' | openssl dgst -sha256 -hmac
	// kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk
	if got := hex.EncodeToString(nonce); err != nil || got != "87b9d89bd26a510e6072b3d98be24ddf" {
		t.Errorf("nonce is %s, %v", got, err)
	}
	digest, err := r.Digest16([]byte(`{"id":1}`))
	// Made with: printf 'source\0{"id":1}' | openssl dgst -sha256 -hmac
	// kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk
	if err != nil || digest != "662cd066c01680a6" {
		t.Errorf("digest is %s, %v", digest, err)
	}
}

func TestKeyIsACopy(t *testing.T) {
	w := newWorld(t)
	r := w.init()
	first, err := r.Key()
	if err != nil || len(first) != repo.KeySize {
		t.Fatalf("%d bytes, %v", len(first), err)
	}
	clear(first)
	if second, _ := r.Key(); string(second) == string(first) {
		t.Error("a caller can change the key")
	}
}

func TestKeyLost(t *testing.T) {
	w := newWorld(t)
	w.init()
	for _, text := range []string{"", "short", strings.Repeat("k", 33), strings.Repeat("k", 64)} {
		w.write(w.path("key"), text)
		wantKeyError(t, w.open())
	}
	w.remove(w.path("key"))
	r := w.open()
	wantKeyError(t, r)
	w.write(w.path("key"), strings.Repeat("k", 32))
	if _, err := r.Key(); err != nil {
		t.Errorf("a key that came back: %v", err)
	}
}

func wantKeyError(t *testing.T, r *repo.Repo) {
	t.Helper()
	var lost *repo.KeyError
	_, err := r.Key()
	_, nonceErr := r.Nonce("entry", nil)
	_, digestErr := r.Digest16(nil)
	for _, err := range []error{err, nonceErr, digestErr} {
		if !errors.As(err, &lost) {
			t.Errorf("got %v", err)
		}
	}
}

func TestLock(t *testing.T) {
	w := newWorld(t)
	w.env.Overrides = []string{"lock.timeout=0s"}
	r := w.init()
	held, err := r.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Of(r.Dir); err != nil {
		t.Error(err)
	}
	var busy *lock.BusyError
	if _, err := w.open().Lock(context.Background()); !errors.As(err, &busy) {
		t.Fatalf("second: got %v", err)
	}
	if want := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC); busy.Owner.Command != "ctx test" ||
		!busy.Owner.Since.Equal(want) {
		t.Errorf("owner is %v", busy.Owner)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := r.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}
