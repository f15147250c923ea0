package sessions_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func overviews(t *testing.T, s *session.Store) []sessions.Overview {
	t.Helper()
	return storetest.Must[[]sessions.Overview](t)(s.Recall.Overviews(storetest.View(t, s)))
}

// What the cache holds changes nothing but the cost, whatever has happened to the sessions.
func TestOverviewsOfAWarmCache(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(3, 9))
	for i := range 60 {
		storetest.RandomStep(t, s, r)
		if len(overviews(t, s)) == 0 {
			continue
		}
		warm := overviews(t, s)
		again := overviews(t, s)
		if err := os.Remove(filepath.Join(s.Dir, "cache", cache.OverviewsName)); err != nil {
			t.Fatal(err)
		}
		if cold := overviews(t, s); !reflect.DeepEqual(warm, cold) ||
			!reflect.DeepEqual(again, cold) {
			t.Fatalf("step %d:\nwarm  %+v\nagain %+v\ncold  %+v", i, warm, again, cold)
		}
	}
}

// After HEAD has followed the person, the cache has the overviews of the sessions that are there
// now: a list after an import makes none anew.
func TestOverviewsAfterFollowing(t *testing.T) {
	s := storetest.Create(t)
	before := storetest.View(t, s)
	for _, name := range []string{"quay", "pier", "buoy"} {
		storetest.AppendOne(t, s, name, conversation.Message{Role: "user", Text: name})
	}
	after := storetest.View(t, s)
	storetest.Must[string](t)(s.Recall.FollowPerson(before, after))
	path := filepath.Join(s.Dir, "cache", cache.OverviewsName)
	kept := storetest.Must[[]byte](t)(os.ReadFile(path))
	if got := overviews(t, s); len(got) != 3 {
		t.Fatalf("%d sessions", len(got))
	}
	if now := storetest.Must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(now, kept) {
		t.Error("the overviews were made anew")
	}
}

// After a load, the cache has the overviews of what was loaded: a list reads none of it.
func TestOverviewsAfterALoad(t *testing.T) {
	s := storetest.Create(t)
	g := s.Recall.NewIndexing()
	s.Conversation.Follow = g.Take
	for i := range 300 {
		storetest.AppendOne(t, s, "quay", conversation.Message{Role: "user", Text: fmt.Sprint(i)})
	}
	g.Finish(300)
	path := filepath.Join(s.Dir, "cache", cache.OverviewsName)
	kept := storetest.Must[[]byte](t)(os.ReadFile(path))
	if got := overviews(t, s); len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	if now := storetest.Must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(now, kept) {
		t.Error("the overviews were made anew")
	}
}

// What was rewound tells nothing any more.
func TestOverviewsAfterARewind(t *testing.T) {
	s := storetest.Create(t)
	at := time.Date(2026, 2, 3, 8, 0, 0, 0, time.UTC)
	say := func(text string) format.ID {
		t.Helper()
		at = at.Add(time.Minute)
		return storetest.AppendOne(t, s, "talk",
			conversation.Message{Role: "user", Text: text, Time: at}).ID
	}
	first := say("Which lamps are lit?")
	before := overviews(t, s)[0]
	second := say("And the buoys?")
	if o := overviews(t, s)[0]; o.Title != before.Title || !o.Last.After(before.Last) {
		t.Errorf("%+v", o)
	}
	rewind := func(id format.ID) {
		t.Helper()
		storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(t.Context(), "talk",
			history.MainBranch, id, conversation.RewindOptions{}))
	}
	rewind(second)
	if o := overviews(t, s)[0]; o.Title != before.Title || !o.Last.Equal(before.Last) {
		t.Errorf("%+v", o)
	}
	rewind(first)
	say("When is high water?")
	if o := overviews(t, s)[0]; o.Title != "When is high water?" {
		t.Errorf("%+v", o)
	}
}

func TestOverviewTitles(t *testing.T) {
	s := storetest.Create(t)
	say := func(role, text, kept string) {
		t.Helper()
		m := storetest.Sourced(role, text, text)
		m.Source.Agent = "claude-code"
		m.Text, m.Parts =
			"", json.RawMessage(`[{"text":"`+text+`"},{"thought":true,"claude-code":`+kept+`}]`)
		storetest.AppendOne(t, s, "talk", m)
	}
	check := func(title, git string, named bool) {
		t.Helper()
		for _, o := range overviews(t, s) {
			if o.Name == "talk" &&
				(o.Title != title || o.Git != git || o.Named != named || o.Agent != "claude-code") {
				t.Errorf("%q %q %v %q, not %q %q %v", o.Title, o.Git, o.Named, o.Agent,
					title, git, named)
			}
		}
	}
	say("user", "/clear", `{"gitBranch":"main"}`)
	check("", "main", false)
	say("user", "Implement the following plan:\\n\\n# Light the lamps\\nOne by one.",
		`{"gitBranch":"main"}`)
	check("Light the lamps One by one.", "main", false)
	say("model", "Done.", `{"gitBranch":"quay","before":[{"type":"ai-title","aiTitle":"Lamps"}]}`)
	check("Lamps", "quay", true)
	say("user", "Thanks.",
		`{"gitBranch":"quay","before":[{"type":"custom-title","customTitle":"My lamps"}]}`)
	check("My lamps", "quay", true)
	say("model", "More?", `{"before":[{"type":"ai-title","aiTitle":"Thanks"}]}`)
	check("My lamps", "quay", true)
}

// The title is the first prompt that says what a session is about.
func TestOverviewSlightPrompts(t *testing.T) {
	s := storetest.Create(t)
	for session, steps := range map[string][][2]string{
		"later": {{"commit this", "commit this"}, {"/review-pr", "commit this"},
			{"why does the lamp flicker?", "why does the lamp flicker?"},
			{"and what of the other lamp?", "why does the lamp flicker?"}},
		"an argument":  {{"/debug", "/debug"}, {"/debug - the lamp flickers", "/debug - the lamp flickers"}},
		"no spaces":    {{"修复登录错误", "修复登录错误"}, {"now commit and push it", "修复登录错误"}},
		"never":        {{"hello", "hello"}, {"go on", "hello"}},
		"instructions": {{"why does it flicker?", "why does it flicker?"}},
		"a plan typed": {{"Implement the following plan:\n\n# Plan: Mend the lamps\n\n## Context\n" +
			strings.Repeat("\n### Step\n\nFile: `lamp.go`\n\n- Gate the lamp\n- Save it\n", 9),
			"Plan: Mend the lamps"}},
		"a plan": {{"commit this", "Mend the lamps"}, {"why does it flicker?", "Mend the lamps"}},
	} {
		switch session {
		case "a plan":
			storetest.Say(t, s, session, "model", "# Mend the lamps\n\nOne by one.")
		case "instructions":
			storetest.Say(t, s, session, "system", "# How to talk\n\nIn short.")
		}
		for _, step := range steps {
			storetest.Say(t, s, session, "user", step[0])
			for _, o := range overviews(t, s) {
				if o.Name == session && o.Title != step[1] {
					t.Errorf("%s: %q after %q", session, o.Title, step[0])
				}
			}
		}
	}
}

// A session that works for another one of the list is no conversation of a person, and one whose
// other is not there is.
func TestPersons(t *testing.T) {
	var list []sessions.Overview
	for _, row := range [][2]string{{"main"}, {"agent", "main"}, {"below", "agent"},
		{"alone", "gone"}, {"itself", "itself"}} {
		var o sessions.Overview
		o.Name = row[0]
		if row[1] != "" {
			o.Parent = &history.Parent{Session: row[1]}
		}
		list = append(list, o)
	}
	got := ""
	for _, o := range sessions.Persons(list) {
		got += o.Name + " "
	}
	if got != "main alone itself " {
		t.Errorf("got %q", got)
	}
}
