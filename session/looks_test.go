package session

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
)

// What is cached of a message is made by this build: with other features the version has to be another one, too.
func TestLooksVersion(t *testing.T) {
	var all []byte
	for _, text := range []string{"ann: why does parser.go:12 fail with E1042?", "その日本語を見てください", "ok, thanks", "```\ngo test ./... --race\n```\nexit code 1"} {
		all = score.Of(score.Message{Conversation: "c", Role: "model", Author: "bob", Text: text, Calls: []string{"run_shell_command"}}).Append(all)
	}
	sum := format.Sum(all)
	const want = "2b822de1806670e6" // of version 1
	if got := hex.EncodeToString(sum[:8]); got != want {
		t.Errorf("the features have digest %s, want %s: raise looksVersion, and put the digest here", got, want)
	}
}

// Features and candidates of another version are made anew; those of this one are taken as they are.
func TestCachesOfAnotherVersion(t *testing.T) {
	s := create(t, small...)
	talk(t, s, "talk", 20, 1)
	view, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	v := view.Get(RefName("talk", MainBranch))
	other := score.Of(score.Message{Text: "features of something else"}).Append(nil)
	name := index.HeadName("talk", MainBranch)
	for _, version := range []int{looksVersion, looksVersion + 1, 0} {
		h, err := s.head("talk", MainBranch, v)
		if err != nil {
			t.Fatal(err)
		}
		h.Items = slices.Clone(h.Items)
		h.Items[0].Features, h.Looks = other, version
		b, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Cache.Store(name, headStamp(v), b); err != nil {
			t.Fatal(err)
		}
		if h, err = s.head("talk", MainBranch, v); err != nil {
			t.Fatal(err)
		}
		f, err := s.features(h, &h.Items[0])
		if err != nil {
			t.Fatal(err)
		}
		if taken := bytes.Equal(f.Append(nil), other); taken != (version == looksVersion) {
			t.Errorf("features of version %d: taken %v", version, taken)
		}

		err = s.locked(context.Background(), func(t1 *tx) error {
			payload, stamp, ok := s.Cache.Load(index.CandidatesName(MainForest))
			if !ok {
				t.Fatal("no candidates are cached")
			}
			payload = slices.Clone(payload)
			payload[0] = byte(version)
			if err := s.Cache.Store(index.CandidatesName(MainForest), stamp, payload); err != nil {
				return err
			}
			c, err := t1.cachedCandidates()
			if (c != nil) != (version == looksVersion) {
				t.Errorf("candidates of version %d: taken %v", version, c != nil)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A newer version of a member and a graduation in one operation: the candidates that the operation worked with know the old words, and are not kept.
func TestCandidatesAreNotKeptOverAnAmend(t *testing.T) {
	s := create(t, small...)
	said := func(text string) []Message {
		return []Message{{Role: "user", Text: text, Source: &Source{Agent: "a", Session: "s", Message: "first"}}}
	}
	appendAll := func(batch []Message) {
		t.Helper()
		if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	appendAll(said("the old words"))
	talk(t, s, "talk", 20, 1)
	before, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	batch := said("altogether different ones")
	for range 6 {
		batch = append(batch, Message{Role: "user", Text: "more of it"})
	}
	appendAll(batch)
	err = s.locked(context.Background(), func(t1 *tx) error {
		name := RefName("talk", MainBranch)
		if t1.view.Get(name).Frontier == before.Get(name).Frontier {
			t.Error("nothing graduated with the newer version")
		}
		c, err := t1.cachedCandidates()
		if c != nil {
			t.Error("the candidates with the old words are kept")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
