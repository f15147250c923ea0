package page

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// entriesPage is a page with the entries of a branch, and the store that it is of.
func entriesPage(t testing.TB) (*session.Store, string) {
	t.Helper()
	s := storetest.Create(t)
	for _, text := range []string{"one", "two", "three <b>", strings.Repeat("four ", 100)} {
		storetest.Say(t, s, "work", "user", text)
	}
	v := storetest.View(t, s)
	doc, err := Read(context.Background(), s, v, Branch{Session: "work", Branch: history.MainBranch,
		Tip: v.Get(history.RefName("work", history.MainBranch))}, true)
	if err != nil {
		t.Fatal(err)
	}
	return s, doc.Entries
}

func pageOf(text string) []byte { return []byte("<p>" + EntriesOpen + text + EntriesClose) }

func TestEntriesOf(t *testing.T) {
	s, text := entriesPage(t)
	e, err := entriesOf(s.Objects, pageOf(text))
	if err != nil || e.branch != history.MainBranch || len(e.objects) < 4 {
		t.Fatalf("got %+v, error %v", e, err)
	}
	for _, raw := range e.objects {
		here, err := s.Objects.Get(raw.ID())
		if err != nil || !slices.Equal(here.Body, raw.Body) {
			t.Errorf("object %v: %q, here %q, error %v", raw.ID(), raw.Body, here.Body, err)
		}
	}
	other := storetest.Create(t)
	done, err := Take(context.Background(), other, pageOf(text))
	if err != nil || done.Session != "work" || done.Messages != 4 || !done.Moved {
		t.Fatalf("got %+v, error %v", done, err)
	}
	storetest.Check(t, other)
}

// What is cut, changed, of another version or none is refused, and nothing of it is stored.
func TestEntriesOfRefuses(t *testing.T) {
	s, text := entriesPage(t)
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(b)
	changed[len(changed)-9] ^= 1
	whole := string(b)
	bad := []string{"", "!", "AAAA", text[:len(text)/2&^3], text[:len(text)-8]}
	for _, b := range []string{"x", string(changed), strings.Replace(whole, " 1 ", " 2 ", 1),
		strings.Replace(whole, "main\n", "ma in\n", 1),
		strings.Replace(whole, "main\n", "a/b\n", 1), strings.Replace(whole, "main\n", "\n", 1)} {
		bad = append(bad, base64.StdEncoding.EncodeToString([]byte(b)))
	}
	for _, text := range bad {
		if done, err := Take(context.Background(), s, pageOf(text)); !errors.Is(err, ErrForm) {
			t.Errorf("%.20q: %+v, error %v", text, done, err)
		}
	}
	if _, err := Take(context.Background(), s, []byte("<p>")); !errors.Is(err, ErrForm) {
		t.Errorf("a page without entries: %v", err)
	}
}

// Whatever stands in a page, its objects are those that they say they are, or it is refused.
func FuzzEntriesOf(f *testing.F) {
	s, text := entriesPage(f)
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("ctx-entries 1 "))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := entriesOf(s.Objects, pageOf(base64.StdEncoding.EncodeToString(b)))
		if err != nil {
			return
		}
		for _, raw := range e.objects {
			body, named, err := format.HeaderBody(raw.Header)
			if err != nil || raw.Body != nil && (!named || body.Check(raw.Body) != nil) {
				t.Fatalf("a body that its header does not name: %q", raw.Header)
			}
		}
	})
}
