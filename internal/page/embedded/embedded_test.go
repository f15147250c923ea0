package embedded

import (
	"bytes"
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// chain is a few entries, each the parent of the next. The second has no words.
func chain(t testing.TB) *Entries {
	t.Helper()
	e := &Entries{Store: "store", Session: "work", Branch: "main"}
	for i, text := range []string{"one", "two", "three <b>", strings.Repeat("four ", 100)} {
		entry := &format.Entry{
			Seq: uint64(i + 1), Session: "work", Kind: format.KindMessage, Role: "user",
			Author: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
			Time:   time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC),
		}
		if i > 0 {
			entry.Parents = []format.ID{e.Tip}
		}
		body := append(bytes.Repeat([]byte{byte(i)}, format.NonceLen), text...)
		sum := format.SumBody(body, format.MediaText)
		entry.Body = &sum
		header, err := entry.Encode()
		if err != nil {
			t.Fatal(err)
		}
		raw := format.Raw{Header: header, Body: body}
		if i == 1 {
			raw.Body = nil
		}
		e.Objects, e.Tip = append(e.Objects, raw), raw.ID()
	}
	return e
}

func TestRoundTrip(t *testing.T) {
	e := chain(t)
	text, err := Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode([]byte(text))
	if err != nil || !reflect.DeepEqual(e, got) {
		t.Fatalf("%v\n%+v\n%+v", err, e, got)
	}
	if again, _ := Encode(got); again != text {
		t.Error("not the same text twice")
	}
}

func TestDecodeRefuses(t *testing.T) {
	text, err := Encode(chain(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "!", "AAAA", base64.StdEncoding.EncodeToString([]byte("x")),
		text[:len(text)/2&^3], text[:len(text)-8]} {
		if _, err := Decode([]byte(bad)); !errors.Is(err, ErrForm) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

// FuzzDecode feeds what is packed, so that the fuzzer gets behind the compression.
func FuzzDecode(f *testing.F) {
	w := writer{at: map[format.ID]int{}}
	for i, raw := range chain(f).Objects {
		w.object(i, raw)
	}
	f.Add(w.b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := reader{b: b}
		for r.err == nil && len(r.b) > 0 && len(r.ids) < 100 {
			raw := r.object()
			if r.err != nil {
				return
			}
			body, named, err := format.HeaderBody(raw.Header)
			if err != nil || raw.Body != nil && (!named || body.Check(raw.Body) != nil) {
				t.Fatalf("a body that its header does not name: %q", raw.Header)
			}
			r.ids = append(r.ids, raw.ID())
		}
	})
}
