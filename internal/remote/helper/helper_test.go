package helper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
)

// A remote behind a helper keeps the contract of all remotes: nothing is lost on the way.
func TestConformance(t *testing.T) {
	beside, root := players(t, "good"), filepath.Join(t.TempDir(), "shared")
	remotetest.Check(t, func(t *testing.T) remote.Remote {
		r, err := Open(t.Context(), Config{URL: "play://" + filepath.ToSlash(root), Beside: beside})
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
}

func TestScheme(t *testing.T) {
	for url, want := range map[string]string{
		"s3://bucket/x": "s3", "postgres://h/db": "postgres", "a://": "a", "age+dir:/x": "age",
		"age+git+ssh://h/x": "age", "age+": "age", "+x": "",
		"dir:/a+b": "", "a-b+dir:/x": "", "": "", "s3:": "", "S3://x": "", "3s://x": "",
		"../x://y": "",
		"a-b://x":  "", "a.exe://x": "", "://x": "", strings.Repeat("a", 33) + "://x": "",
	} {
		if got := Scheme(url); got != want {
			t.Errorf("%q: got %q, want %q", url, got, want)
		}
	}
}

func TestNoProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Open(t.Context(), Config{URL: "nobody://user:hunter2@host", Beside: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "ctx-remote-nobody") ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// A file of the largest size goes through, and one more byte is refused before it is sent.
func TestLargest(t *testing.T) {
	r := playing(t)
	data := bytes.Repeat([]byte("0123456789"), remote.MaxFile/10)
	if err := r.PutNew(t.Context(), "pack/a", data); err != nil {
		t.Fatal(err)
	}
	got, err := r.Get(t.Context(), "pack/a")
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if err := r.PutNew(t.Context(), "pack/b", append(data, 'x')); err == nil {
		t.Error("a file that is too large is taken")
	}
	if _, err := r.List(t.Context(), ""); err != nil {
		t.Errorf("the helper does not go on: %v", err)
	}
}

// A list that is longer than one body comes in parts.
func TestParts(t *testing.T) {
	r := playing(t).(remote.Searcher)
	text := strings.Repeat("a word ", 1000)
	var many []remote.Message
	for i := range 2000 {
		many = append(many,
			remote.Message{ID: fmt.Sprintf("%064x", i), Store: "s", Session: "main",
				At: time.Unix(int64(i), 0).UTC(), Role: "user", Text: text})
	}
	if err := r.Index(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	hits, err := r.Search(t.Context(), "a word", remote.MaxHits)
	if err != nil || len(hits) != remote.MaxHits || hits[999].ID != many[999].ID ||
		!hits[999].At.Equal(many[999].At) || hits[999].Text != text {
		t.Fatalf("%d hits, %v", len(hits), err)
	}
	if err := r.Forget(t.Context(), "s", []string{many[0].ID}); err != nil {
		t.Fatal(err)
	}
	if hits, err = r.Search(t.Context(), "a word", 1); err != nil || len(hits) != 1 ||
		hits[0].ID != many[1].ID {
		t.Errorf("%v, %v", hits, err)
	}
	if hits, err = r.Search(t.Context(), "nowhere", 9); err != nil || len(hits) != 0 {
		t.Errorf("%v, %v", hits, err)
	}
}

func TestCheck(t *testing.T) {
	err := playing(t).(remote.Checker).Check(t.Context())
	if err == nil || err.Error() != "ctx-remote-play: the check ran" {
		t.Errorf("got %v", err)
	}
}

// Every misbehaviour is an error that names the program, in bounded time, without a secret.
func TestMisbehaviour(t *testing.T) {
	head := greeting + `{"id":1}` + "\n"
	for part, want := range map[string]string{
		"dies":   "ended before it answered (exit status 3): no such bucket; password=[REDACTED",
		"nobody": `not of the protocol: "nobody`,
		`{"ctx":"remote","v":2,"name":"x","version":"1"}` + "\n": "version 2",
		`{"ctx":"summarizer","v":1,"name":"x","version":"1"}` +
			"\n": "no \"ctx\":\"remote\"",
		`{"ctx":"remote","v":1,"name":"","version":"1"}` + "\n": "no name",
		strings.Repeat("x",
			MaxLine+1): "longer than the protocol allows",
		greeting + `{"id":7}` +
			"\n": "answered request 7 instead of 1",
		greeting + `{"id":1,"error":{"kind":"?","message":""}}` +
			"\n": "did not say which",
		head + `{"id":2,"bodies":[99999999999]}` +
			"\n": "longer than the protocol allows",
		head + `{"id":2,"bodies":[-1]}` +
			"\n": "longer than the protocol allows",
		head + `{"id":2,"bodies":[1,1,1]}` + "\n" + "abc": "3 bodies",
		head + `{"id":2,"bodies":[1,1]}` + "\n" +
			"ab": "two bodies",
		head + `{"id":2,"bodies":[29]}` + "\n" + `{"name":"../etc/x","size":1}` +
			"\n": "lists what is no file",
		head + `{"id":2,"bodies":[25]}` + "\n" + `{"name":"b/x","size":12}` +
			"\n": "lists what is no file",
	} {
		if part == "nobody" {
			part += "\n"
		}
		err := askAll(t, part)
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "ctx-remote-play") ||
			strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.100q: got %v, want %q", part, err, want)
		}
	}
}

func askAll(t *testing.T, part string) error {
	r, err := Open(t.Context(), Config{URL: "play://x", Beside: players(t, part)})
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.List(t.Context(), "a/")
	if err == nil {
		return nil
	}
	if _, again := r.List(t.Context(), "a/"); again == nil ||
		!strings.Contains(again.Error(), "has ended") {
		t.Errorf("%.100q: after an error of the protocol the helper is asked again: %v", part,
			again)
	}
	return err
}

// A context that ends frees the caller from a helper that neither reads nor writes.
func TestDeaf(t *testing.T) {
	for _, part := range []string{"mute", "deaf"} {
		for _, early := range []bool{true, false} {
			homes := t.TempDir() // where each helper has its working directory while it runs
			t.Setenv("TMPDIR", homes)
			t.Setenv("TMP", homes)
			ctx, cancel := context.WithCancel(t.Context())
			beside := players(t, part)
			if early {
				cancel()
			} else {
				go cancel()
			}
			if _, err := Open(ctx, Config{URL: "play://x", Beside: beside}); !errors.Is(err,
				context.Canceled) {
				t.Errorf("%s: got %v", part, err)
			}
			if left, err := os.ReadDir(homes); err != nil || len(left) > 0 {
				t.Errorf("%s, canceled early %v: the helper still runs in %v, error %v", part,
					early, left, err)
			}
		}
	}
	h := &Client{name: "ctx-remote-play", timeout: time.Millisecond}
	var err error
	path := filepath.Join(players(t, "deaf"), "ctx-remote-play")
	if h.running, err = launch(path, ""); err != nil {
		t.Skip(err)
	}
	if err := h.greet(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = h.PutNew(t.Context(), "a", make([]byte, 10<<20))
	if !errors.Is(err, remote.ErrTemporary) ||
		!strings.Contains(err.Error(), "said nothing for 1ms") {
		t.Errorf("got %v", err)
	}
}

// After Close nothing of the helper is left, and a call says so.
func TestClose(t *testing.T) {
	r := playing(t)
	p := r.(*searching).running.peer.(*process)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if p.cmd.ProcessState == nil || !p.cmd.ProcessState.Success() {
		t.Errorf("the helper did not end by itself: %v", p.cmd.ProcessState)
	}
	if _, err := os.Stat(p.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is left: %v", err)
	}
	if err := r.PutNew(t.Context(), "a", nil); err == nil ||
		!strings.Contains(err.Error(), "closed") {
		t.Errorf("got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// The URL, which may hold a password, is not on the command line of the helper.
func TestCommandLine(t *testing.T) {
	r := playing(t)
	if args := r.(*searching).running.peer.(*process).cmd.Args; len(args) != 1 {
		t.Errorf("got %q", args)
	}
}
