package sessions_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
)

func projectBrief(t *testing.T, s *session.Store) []brief.SessionBrief {
	t.Helper()
	o := brief.Options{Room: 1000, Cost: view.BriefCost}
	v := storetest.View(t, s)
	return storetest.Must[[]brief.SessionBrief](t)(s.Recall.ProjectBrief(v, "", o))
}

// What the cache holds of tips changes nothing but the cost, whatever has happened to the sessions.
func TestProjectBriefOfAWarmCache(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(5, 9))
	path := filepath.Join(s.Dir, "cache", cache.OverviewsName)
	most := 0
	for i := range 60 {
		storetest.RandomStep(t, s, r)
		session := fmt.Sprint("talk", i%5)
		storetest.Say(t, s, session, "user", storetest.Chatter(r))
		if i%9 == 4 {
			storetest.Must[bool](t)(s.Conversation.Link(t.Context(), session,
				history.Parent{Session: "talk", Call: "c1"}, true))
		}
		warm := projectBrief(t, s)
		again := projectBrief(t, s)
		most = max(most, len(warm))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if cold := projectBrief(t, s); !reflect.DeepEqual(warm, cold) ||
			!reflect.DeepEqual(again, cold) {
			t.Fatalf("step %d:\nwarm  %+v\nagain %+v\ncold  %+v", i, warm, again, cold)
		}
		if i%7 == 0 { // a damaged file is as good as none
			if err := os.WriteFile(path, []byte("tips"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if most < 2 {
		t.Errorf("the briefs had %d sessions at most", most)
	}
}
