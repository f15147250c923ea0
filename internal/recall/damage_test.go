package recall_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// TestOneSessionIsLost: where the objects of a session are gone, whatever reads several sessions
// reads the others, and says so once. Nothing of it is kept in the cache, and an import, which has
// to know all of the session, refuses.
func TestOneSessionIsLost(t *testing.T) {
	s := storetest.Create(t)
	c := context.Background()
	say := func(session string) string {
		var list []conversation.Message
		for i := range objects.MaxCarried + 1 {
			list = append(list, storetest.Sourced("user",
				fmt.Sprintf("%s: paint the buoy number %d", session, i), fmt.Sprint(session, i)))
		}
		if _, _, err := s.Conversation.Append(c, session, history.MainBranch, list,
			conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
		packs, err := filepath.Glob(filepath.Join(s.Dir, objects.Dir, "pack", "*.pack"))
		if err != nil || len(packs) == 0 {
			t.Fatalf("no pack: %v", err)
		}
		for _, pack := range packs { // the new one
			if b, _ := os.ReadFile(pack + ".seen"); b == nil {
				if err := os.WriteFile(pack+".seen", []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
				return pack
			}
		}
		t.Fatal("no new pack")
		return ""
	}
	lost := say("north")
	say("south")
	marks, _ := filepath.Glob(filepath.Join(s.Dir, objects.Dir, "pack", "*.seen"))
	for _, path := range append(marks, lost, strings.TrimSuffix(lost, "pack")+"idx") {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	reads := map[string]func(v *refs.View) (bool, error){
		"list": func(v *refs.View) (bool, error) {
			list, err := s.Recall.Overviews(v)
			return len(list) == 2 && list[0].Name == "south" && list[0].Title != "", err
		},
		"search": func(v *refs.View) (bool, error) {
			hits, err := s.Recall.Search(v, find.SearchQuery{Text: "buoy", Limit: 3})
			return len(hits) == 3, err
		},
		"rules": func(v *refs.View) (bool, error) {
			_, err := s.Recall.ProjectRules(v, brief.Options{Room: 1000,
				Cost: view.BriefCost})
			return true, err
		},
		"how": func(v *refs.View) (bool, error) {
			_, err := s.Recall.How(v, "buoy", "", 3)
			return true, err
		},
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			s = storetest.Reopen(t, filepath.Dir(filepath.Dir(s.Dir)), nil)
			var warned []string
			s.History.Warn = func(text string) { warned = append(warned, text) }
			if ok, err := read(storetest.View(t, s)); !ok || err != nil {
				t.Errorf("not what is left, or %v", err)
			}
			if len(warned) != 1 || !strings.Contains(warned[0], `session "north"`) {
				t.Errorf("warnings: %q", warned)
			}
			_, _, err := s.Conversation.Append(c, "north", history.MainBranch,
				[]conversation.Message{storetest.Sourced("user", "more", "n")},
				conversation.AppendOptions{})
			if !errors.Is(err, objects.ErrNotFound) {
				t.Errorf("an import into what is lost: %v", err)
			}
		})
	}
}
