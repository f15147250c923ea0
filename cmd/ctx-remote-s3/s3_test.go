package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
)

// TestMain takes away the pause that the library makes after each failure.
func TestMain(m *testing.M) {
	minio.DefaultRetryUnit = time.Millisecond
	os.Exit(m.Run())
}

// at opens a remote of a fake. Its pauses take no time.
func (f *fake) at(t *testing.T) *bucket {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "ak")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "sk")
	t.Setenv("AWS_SESSION_TOKEN", "")
	r, err := openBucket(t.Context(),
		"s3://bucket/team/x?region=us-east-1&endpoint="+url.QueryEscape(f.URL))
	if err != nil {
		t.Fatal(err)
	}
	r.wait = func(ctx context.Context, _ int) error { return ctx.Err() }
	return r
}

func TestConformance(t *testing.T) {
	f := newFake(t)
	remotetest.Check(t, func(t *testing.T) remote.Remote { return f.at(t) })
	// What others keep in the bucket is no file of the remote.
	f.objects["other"], f.objects["team/x/Not A Name"] = nil, nil
	files, err := f.at(t).List(t.Context(), "")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if !strings.HasPrefix(file.Name, "stores/") && !strings.HasPrefix(file.Name, "heads/") {
			t.Errorf("listed %q", file.Name)
		}
	}
}

// The same, while the store answers every third request with a conflict or that it is busy, or
// carries it out and loses the answer.
func TestConformanceWithFaults(t *testing.T) {
	for _, wrong := range []fault{conflict, busy, lost} {
		t.Run(fmt.Sprint(wrong), func(t *testing.T) {
			f := newFake(t)
			n := 0
			failed := map[string]bool{} // the newest request for a file did
			f.fault = func(r *http.Request) fault {
				// A client that was answered a conflict reads again, so reads have none.
				// Of several who swap at once and get no answer, none can say who did what.
				many := wrong != conflict && strings.Contains(r.URL.Path, "/swappers/")
				if n++; n%3 != 0 || many || wrong == conflict && r.Method != http.MethodPut {
					return none
				}
				// Several clients at once could make all tries of one of them fail
				failed[r.URL.Path] = !failed[r.URL.Path]
				if !failed[r.URL.Path] {
					return none
				}
				return wrong
			}
			remotetest.Check(t, func(t *testing.T) remote.Remote { return f.at(t) })
			if n < 100 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// once makes a fault happen to the first PUT.
func once(wrong fault) func(*http.Request) fault {
	done := false
	return func(r *http.Request) fault {
		if r.Method != http.MethodPut || done {
			return none
		}
		done = true
		return wrong
	}
}

// A request that was carried out although no answer came is seen to be, and is not sent again.
func TestStoredWithoutAnswer(t *testing.T) {
	for _, wrong := range []fault{lost, late} {
		f := newFake(t)
		r := f.at(t)
		r.patience = 200 * time.Millisecond
		for i, do := range []func() error{
			func() error { return r.PutNew(t.Context(), "packs/a", []byte("data")) },
			func() error { return r.Swap(t.Context(), "head", nil, []byte("one")) },
			func() error { return r.Swap(t.Context(), "head", []byte("one"), []byte("two")) },
		} {
			f.fault = once(wrong)
			before := f.asked[http.MethodPut]
			if err := do(); err != nil {
				t.Errorf("fault %d, call %d: %v", wrong, i, err)
			}
			if n := f.asked[http.MethodPut] - before; n != 1 {
				t.Errorf("fault %d, call %d: sent %d times", wrong, i, n)
			}
		}
		if got := string(f.objects["team/x/head"]); got != "two" {
			t.Errorf("the head is %q", got)
		}
	}
}

// If somebody else replaced the file after an answer was lost, nobody can say who did what: the
// error is neither success nor ErrStale, which would say that nothing has changed.
func TestLostAndReplaced(t *testing.T) {
	f := newFake(t)
	r := f.at(t)
	if err := r.Swap(t.Context(), "head", nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	lose := once(lost)
	f.fault = func(q *http.Request) fault {
		if f.asked[http.MethodPut] > 1 && q.Method == http.MethodGet {
			f.objects["team/x/head"] = []byte("three")
		}
		return lose(q)
	}
	err := r.Swap(t.Context(), "head", []byte("one"), []byte("two"))
	if !errors.Is(err, remote.ErrTemporary) || errors.Is(err, remote.ErrStale) {
		t.Errorf("got %v", err)
	}
}

// A conflict that does not end is tried a bounded number of times.
func TestConflictForEver(t *testing.T) {
	f := newFake(t)
	r := f.at(t)
	f.fault = func(q *http.Request) fault {
		if q.Method == http.MethodPut {
			return conflict
		}
		return none
	}
	for _, do := range []func() error{
		func() error { return r.PutNew(t.Context(), "a", nil) },
		func() error { return r.Swap(t.Context(), "head", nil, []byte("one")) },
	} {
		before := f.asked[http.MethodPut]
		if err := do(); !errors.Is(err, remote.ErrTemporary) {
			t.Errorf("got %v", err)
		}
		if n := f.asked[http.MethodPut] - before; n != tries {
			t.Errorf("tried %d times", n)
		}
	}
	// The pause of a real remote ends with the context.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := pause(ctx, 30); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Of sixteen who swap, in a store that answers some of them with a conflict, one wins a round.
func TestSwappers(t *testing.T) {
	f := newFake(t)
	n := 0
	f.fault = func(q *http.Request) fault {
		if n++; q.Method == http.MethodPut && n%4 == 0 {
			return conflict
		}
		return none
	}
	f.objects["team/x/head"] = []byte("0")
	clients := make([]*bucket, 16)
	for i := range clients {
		clients[i] = f.at(t)
	}
	for round := range 5 {
		var wg sync.WaitGroup
		errs := make([]error, len(clients))
		for i, r := range clients {
			wg.Go(func() {
				errs[i] = r.Swap(t.Context(), "head", fmt.Append(nil, round),
					fmt.Append(nil, round+1))
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, remote.ErrStale) && !errors.Is(err, remote.ErrTemporary):
				t.Error(err)
			}
		}
		if won != 1 {
			t.Fatalf("round %d: %d clients won", round, won)
		}
	}
}

func TestCheck(t *testing.T) {
	f := newFake(t)
	r := f.at(t)
	if err := r.Check(t.Context()); err != nil {
		t.Error(err)
	}
	for _, header := range []string{"If-None-Match", "If-Match"} {
		f.fault = func(q *http.Request) fault {
			if q.Header.Get(header) != "" {
				return ignores
			}
			return none
		}
		if err := r.Check(t.Context()); err == nil ||
			!strings.Contains(err.Error(), "ignores the header "+header) {
			t.Errorf("%s: got %v", header, err)
		}
	}
	if len(f.objects) > 0 {
		t.Errorf("the check left %v", f.objects)
	}
}

func TestParse(t *testing.T) {
	none := func(string) string { return "" }
	for address, want := range map[string]place{
		"s3://b":  {bucket: "b", endpoint: "s3.amazonaws.com", secure: true},
		"s3://b/": {bucket: "b", endpoint: "s3.amazonaws.com", secure: true},
		"s3://b/x/y/?region=eu-west-1": {bucket: "b", prefix: "x/y/", endpoint: "s3.amazonaws.com",
			secure: true, region: "eu-west-1"},
		"s3://b/x?endpoint=http://127.0.0.1:9000": {bucket: "b", prefix: "x/",
			endpoint: "127.0.0.1:9000", region: "us-east-1"},
		"s3://b?endpoint=minio.example&region=garage": {bucket: "b", endpoint: "minio.example",
			secure: true, region: "garage"},
	} {
		if got, err := parse(address, none); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", address, got, err)
		}
	}
	for _, address := range []string{"", "s3:", "s3:///x", "http://b/x",
		"s3://key:hunter2hunter2@b/x", "s3://b/a/../c", "s3://b/a//c",
		"s3://b?acl=public", "s3://b#x",
		"s3://b?endpoint=ftp://h", "s3://b?endpoint=http://key:hunter2hunter2@h",
		"s3://b?endpoint=http://h/path", "s3://b/%00"} {
		if got, err := parse(address, none); err == nil ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %+v, %v", address, got, err)
		}
	}
	env := func(name string) string {
		return map[string]string{"AWS_ENDPOINT_URL": "https://store.example",
			"AWS_REGION": "x-1"}[name]
	}
	if got, err := parse("s3://b", env); err != nil || got.endpoint != "store.example" ||
		got.region != "x-1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Errors say what to do, and have no key.
func TestErrors(t *testing.T) {
	f := newFake(t)
	r := f.at(t)
	r.bucket = "elsewhere"
	if _, err := r.Get(t.Context(), "a"); err == nil || errors.Is(err, remote.ErrNotFound) ||
		!strings.Contains(err.Error(), "NoSuchBucket") {
		t.Errorf("no bucket: got %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
	t.Setenv("AWS_PROFILE", "")
	if _, err := openBucket(t.Context(), "s3://b?endpoint="+f.URL); err == nil ||
		!strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("no key: got %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "other")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2hunter2X9")
	denied, err := openBucket(t.Context(), "s3://bucket?endpoint="+f.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := denied.PutNew(t.Context(), "a", nil); err == nil ||
		!strings.Contains(err.Error(), "AccessDenied") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestLargest(t *testing.T) {
	r := newFake(t).at(t)
	data := bytes.Repeat([]byte("0123456789"), remote.MaxFile/10)
	if err := r.PutNew(t.Context(), "packs/a", data); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Get(t.Context(), "packs/a"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// TestRealStore runs the suite and the check on a store of your choice: CTX_S3_URL is a URL of an
// empty prefix, and the variables of AWS have the key.
func TestRealStore(t *testing.T) {
	address := os.Getenv("CTX_S3_URL")
	if address == "" {
		t.Skip("CTX_S3_URL names no store to test with")
	}
	open := func(t *testing.T) *bucket {
		r, err := openBucket(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if err := open(t).Check(t.Context()); err != nil {
		t.Error(err)
	}
	remotetest.Check(t, func(t *testing.T) remote.Remote { return open(t) })
	r := open(t)
	files, err := r.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if err := r.Delete(t.Context(), names); err != nil {
		t.Error(err)
	}
}
