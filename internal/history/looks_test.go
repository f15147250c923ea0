package history_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// What is cached of a message is made by this build: with other features the version has to be
// another one, too.
func TestLooksVersion(t *testing.T) {
	var all []byte
	for _, text := range []string{"ann: why does parser.go:12 fail with E1042?", "その日本語を見てください",
		"ok, thanks", "```\ngo test ./... --race\n```\nexit code 1"} {
		all = score.Of(score.Message{Conversation: "c", Role: "model", Author: "bob", Text: text,
			Calls: []string{"run_shell_command"}}).Append(all)
	}
	sum := format.Sum(all)
	const want = "2b822de1806670e6" // of version 1
	if got := hex.EncodeToString(sum[:8]); got != want {
		t.Errorf(
			"the features have digest %s, want %s: raise looksVersion, and put the digest here",
			got, want)
	}
}

// Features of another version are made anew; those of this one are taken as they are.
func TestFeaturesOfAnotherVersion(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Talk(t, s, "talk", 20, 1)
	view, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	v := view.Get(history.RefName("talk", history.MainBranch))
	other := score.Of(score.Message{Text: "features of something else"}).Append(nil)
	name := cache.HeadName("talk", history.MainBranch)
	for _, version := range []int{history.LooksVersion, history.LooksVersion + 1, 0} {
		h, err := s.History.Head("talk", history.MainBranch, v)
		if err != nil {
			t.Fatal(err)
		}
		h.Items = slices.Clone(h.Items)
		h.Items[0].Features, h.Looks = other, version
		b, err := h.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.History.Cache.Store(name, history.HeadStamp(v), b); err != nil {
			t.Fatal(err)
		}
		if h, err = s.History.Head("talk", history.MainBranch, v); err != nil {
			t.Fatal(err)
		}
		f, err := s.History.Features(h, &h.Items[0])
		if err != nil {
			t.Fatal(err)
		}
		if taken := bytes.Equal(f.Append(nil), other); taken != (version == history.LooksVersion) {
			t.Errorf("features of version %d: taken %v", version, taken)
		}
	}
}
