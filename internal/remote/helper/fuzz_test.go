package helper

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// none is a place that has nothing and takes everything.
type none struct{}

func (none) List(context.Context, string) ([]remote.File, error) {
	return []remote.File{{Name: "a", Size: 1}}, nil
}
func (none) Get(_ context.Context, name string) ([]byte, error) {
	return nil, errors.Join(remote.ErrNotFound, remote.CheckName(name))
}
func (none) PutNew(context.Context, string, []byte) error       { return nil }
func (none) Swap(context.Context, string, []byte, []byte) error { return remote.ErrStale }
func (none) Delete(context.Context, []string) error             { return nil }
func (none) Close() error                                       { return nil }

func (none) Index(context.Context, []remote.Message) error  { return nil }
func (none) Forget(context.Context, string, []string) error { return nil }
func (none) Search(context.Context, string, int) ([]remote.Hit, error) {
	return []remote.Hit{{ID: "1"}}, nil
}

// FuzzServe checks that whatever a helper reads, what it writes is of the protocol: a first line,
// then one answer for each request, in order.
func FuzzServe(f *testing.F) {
	open := `{"id":1,"do":"open","url":"x://y"}` + "\n"
	for _, seed := range []string{"", "\n", open, open + open, open + `{"id":2,"do":"list"}` + "\n",
		open + `{"id":2,"do":"put","name":"a","bodies":[3]}` + "\nabc",
		open + `{"id":2,"do":"swap","name":"a","bodies":[1,2]}` + "\nabc" +
			`{"id":3,"do":"get","name":"a","n":-1}` + "\n",
		open + `{"id":2,"do":"delete","bodies":[4]}` + "\n\"a\"\n",
		open + `{"id":2,"do":"search","query":"q","n":3}` + "\n",
		open + `{"id":2,"do":"index","bodies":[11]}` + "\n" + `{"id":"77"}` + open +
			`{"id":3,"do":"forget","store":"s","bodies":[0]}` + "\n",
		`{"id":1,"do":"put","bodies":[-1]}` + "\n", `{"id":1,"bodies":[1,1,1]}` + "\n",
		`{"id":1,"bodies":[67108864]}` + "\nx", "[]\n", "\xff\n",
		open + `{"id":2,"do":"index","bodies":[3]}` + "\n[1\n" +
			`{"id":9,"do":"check","timeout_ms":1}` + "\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		p := Program{Name: "n", Features: []string{FeatureSearch, FeatureCheck},
			Open: func(context.Context, string) (remote.Remote, error) { return none{}, nil }}
		err := Serve(t.Context(), p, bytes.NewReader(in), &out)
		r := bufio.NewReader(&out)
		first, bad := readLine(r)
		var h hello
		if bad != nil || json.Unmarshal(first, &h) != nil || h.check() != nil {
			t.Fatalf("the first line is %q", first)
		}
		requests := bufio.NewReader(bytes.NewReader(in))
		for {
			var req request
			if _, stop := read(requests, &req); stop != nil {
				if (stop == io.EOF) != (err == nil) {
					t.Errorf("read ends with %v, Serve with %v", stop, err)
				}
				break
			}
			var a answer
			if _, bad := read(r, &a); bad != nil || a.ID != req.ID ||
				a.Error != nil && (a.Error.Kind == "" || strings.Contains(a.Error.Message, "\n")) {
				t.Fatalf("request %+v is answered with %+v, %v", req, a, bad)
			}
		}
		if rest, _ := io.ReadAll(r); len(rest) > 0 {
			t.Errorf("%q is written unasked", rest)
		}
	})
}

// still is a peer that has ended.
type still struct{}

func (still) kill()                     {}
func (still) stop(time.Duration) string { return "" }

// FuzzClient checks that whatever a helper writes, the callers of a remote get what the contract
// says or an error, and after an error of the protocol no more of what it wrote.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{"", greeting,
		greeting + `{"id":1,"bodies":[25]}` + "\n" + `{"name":"a/x","size":12}` + "\n",
		greeting + `{"id":1,"more":true,"bodies":[0]}` + "\n" + `{"id":1,"bodies":[0]}` + "\n" +
			`{"id":2,"bodies":[3]}` + "\nabc" + `{"id":3}` + "\n" + `{"id":4,"bodies":[0]}` + "\n",
		greeting + `{"id":1,"error":{"kind":"stale","message":"a\u001b[31m\nb"}}` + "\n",
		greeting + `{"id":1,"error":{}}` + "\n",
		greeting + `{"id":1,"bodies":[9]}` + "\nshort", `{"ctx":"remote"}` + "\n",
		strings.Repeat("[", 70000), greeting + "\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		h := &Client{name: "ctx-remote-fuzz", timeout: time.Hour,
			running: &conn{peer: still{}, w: bufio.NewWriter(io.Discard),
				r: bufio.NewReader(bytes.NewReader(out)), stderr: &child.Tail{}}}
		ctx := context.Background()
		if h.greet(ctx) != nil {
			return
		}
		check := func(err error) {
			t.Helper()
			if err != nil &&
				(err.Error() == "" || strings.ContainsAny(err.Error(), "\n\x1b") ||
					len(err.Error()) > 1000) {
				t.Errorf("error %q", err)
			}
		}
		files, err := h.List(ctx, "a/")
		check(err)
		for _, f := range files {
			if remote.CheckName(f.Name) != nil || !strings.HasPrefix(f.Name, "a/") || f.Size < 0 {
				t.Errorf("listed %+v", f)
			}
		}
		data, err := h.Get(ctx, "a/x")
		check(err)
		if len(data) > remote.MaxFile {
			t.Errorf("got %d bytes", len(data))
		}
		check(h.Swap(ctx, "a/x", nil, nil))
		hits, err := (&searching{h}).Search(ctx, "q", 2)
		check(err)
		if len(hits) > 2 {
			t.Errorf("%d hits", len(hits))
		}
	})
}
