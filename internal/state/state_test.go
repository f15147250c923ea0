package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/refs"
)

func set(key, value string) state.Change {
	return state.Change{Pair: state.Pair{Key: key,
		Value: json.RawMessage(value)}}
}

// stateText is what a session sees, as one JSON object.
func stateText(t testing.TB, s *session.Store, n state.Names) string {
	t.Helper()
	b, err := state.Encode(
		storetest.Must[[]state.Pair](t)(s.State.Get(storetest.View(t, s), n)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestStateBounds(t *testing.T) {
	s := storetest.Create(t)
	storetest.Say(t, s, "talk", "user", "hello")
	n := state.Names{Session: "talk", App: "shop", User: "ada"}
	many := func(count int) (list []state.Change) {
		for i := range count {
			list = append(list, set(fmt.Sprintf("k%d", i), "1"))
		}
		return list
	}
	for name, c := range map[string]struct {
		changes []state.Change
		ok      bool
	}{
		"longest key": {[]state.Change{set(
			strings.Repeat("k", state.MaxKey), "1")}, true},
		"longest shared": {[]state.Change{set(
			"app:"+strings.Repeat("k", state.MaxKey), "1")}, true},
		"longer key": {[]state.Change{set(
			strings.Repeat("k", state.MaxKey+1), "1")}, false},
		"no key":       {[]state.Change{set("", "1")}, false},
		"prefix alone": {[]state.Change{set("user:", "1")}, false},
		"control":      {[]state.Change{set("a\nb", "1")}, false},
		"not UTF-8":    {[]state.Change{set("a\xff", "1")}, false},
		"not JSON":     {[]state.Change{set("a", "{")}, false},
		"no value":     {[]state.Change{set("a", "")}, false},
		"two values":   {[]state.Change{set("a", "1 2")}, false},
		"largest value": {[]state.Change{set("a",
			`"`+strings.Repeat("x", state.MaxValue-2)+`"`)}, true},
		"larger value": {[]state.Change{set("a",
			`"`+strings.Repeat("x", state.MaxValue-1)+`"`)}, false},
		"too deep": {[]state.Change{set("a",
			strings.Repeat("[", 300)+strings.Repeat("]", 300))}, false},
		"most keys":     {many(state.MaxKeys), true},
		"too many keys": {many(state.MaxKeys + 1), false},
		"too much": {[]state.Change{
			set("a", `"`+strings.Repeat("x", state.MaxValue-2)+`"`),
			set("b", `"`+strings.Repeat("y", state.MaxValue-2)+`"`),
			set("c", `"`+strings.Repeat("z", state.MaxValue-2)+`"`),
			set("d", `"`+strings.Repeat("w", state.MaxValue-2)+`"`),
		}, false},
		"good and bad":     {[]state.Change{set("good", "1"), set("bad", "")}, false},
		"temp is not read": {[]state.Change{set("temp:x", "nope")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := stateText(t, s, n)
			view := storetest.View(t, s)
			_, err := s.State.Set(context.Background(), n, c.changes)
			if c.ok {
				if err != nil {
					t.Fatal(err)
				}
				for _, ch := range c.changes {
					ch.Remove = true
					if _, err := s.State.Set(context.Background(), n,
						[]state.Change{ch}); err != nil {
						t.Fatal(err)
					}
					if len(c.changes) > 10 {
						break // the others are taken away at once
					}
				}
				if len(c.changes) > 10 {
					for i := range c.changes {
						c.changes[i].Remove = true
					}
					storetest.Must[state.Done](t)(
						s.State.Set(context.Background(), n, c.changes))
				}
				if after := stateText(t, s, n); after != before {
					t.Errorf("not taken away: %.200s", after)
				}
				return
			}
			if !errors.Is(err, history.ErrInput) {
				t.Errorf("error %v", err)
			}
			if stateText(t, s, n) != before || storetest.View(t, s).Number != view.Number {
				t.Error("something was written")
			}
		})
	}
	long := strings.Repeat("n", 200)
	if _, err := s.State.Set(context.Background(),
		state.Names{App: long, User: long},
		[]state.Change{set("app:a", "1")}); !errors.Is(err, history.ErrInput) {
		t.Errorf("a ref's name that is too long: %v", err)
	}
	if left := storetest.View(t, s).Names(history.StateRefs); len(left) != 0 {
		t.Errorf("scopes without keys have refs: %v", left)
	}
}

// TestStateHistories holds random histories of state, appends, undos, redos and removals against
// maps.
func TestStateHistories(t *testing.T) {
	bg := context.Background()
	type world struct {
		own    map[string]map[string]string // by session; nil: there is no such session
		shared map[string]map[string]string // by ref
	}
	clone := func(w world) world {
		c := world{map[string]map[string]string{}, map[string]map[string]string{}}
		for k, m := range w.own {
			c.own[k] = maps.Clone(m)
		}
		for k, m := range w.shared {
			c.shared[k] = maps.Clone(m)
		}
		return c
	}
	steps, taken := 0, 0
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := storetest.Create(t, storetest.Small...)
		now := clone(world{})
		// Of a session, what undo of its last operation goes back to; gone once something else
		// happens
		past := map[string]world{}
		for _, name := range []string{"a", "b"} {
			storetest.Say(t, s, name, "user", "hello")
			now.own[name] = map[string]string{}
		}
		for range 60 {
			steps++
			name := []string{"a", "b"}[r.IntN(2)]
			n := state.Names{Session: name, App: "shop",
				User: []string{"ada", "bob"}[r.IntN(2)]}
			refs := map[string]string{"app:": "app/shop", "user:": "user/shop/" + n.User}
			switch k := r.IntN(10); {
			case k < 6:
				before := clone(now)
				var changes []state.Change
				moved := false
				for range 1 + r.IntN(3) {
					prefix := []string{"", "app:", "user:", "temp:"}[r.IntN(4)]
					key, value := fmt.Sprintf("k%d", r.IntN(3)), fmt.Sprint(r.IntN(3))
					c := set(prefix+key, value)
					c.Remove = r.IntN(4) == 0
					changes = append(changes, c)
					m := now.own[name]
					if prefix != "" {
						if m = now.shared[refs[prefix]]; m == nil {
							m = map[string]string{}
							now.shared[refs[prefix]] = m
						}
					}
					switch {
					case prefix == "temp:":
					case c.Remove:
						delete(m, key)
					default:
						m[key] = value
					}
				}
				was := storetest.View(t, s).Number
				storetest.Must[state.Done](t)(s.State.Set(bg, n, changes))
				if moved = storetest.View(t, s).Number != was; moved {
					// Shared keys may have moved: the other session's undo is not foretold here
					clear(past)
					past[name] = before
				}
			case k < 8:
				before, known := past[name]
				if !known {
					continue
				}
				storetest.Must[conversation.Undone](t)(s.Conversation.Undo(bg, name))
				after := now
				now = clone(before)
				taken++
				if r.IntN(2) == 0 {
					storetest.Must[conversation.Undone](t)(s.Conversation.Redo(bg, name))
					now = after
				} else {
					delete(past, name)
				}
			case k == 8:
				storetest.Say(t, s, name, "model", "more")
				delete(past, name)
			default:
				storetest.Must[int](t)(s.Conversation.RemoveSession(bg, name))
				storetest.Say(t, s, name, "user", "hello again")
				now.own[name] = map[string]string{}
				clear(past) // what another session would go back to has the old keys of this one
			}
			for _, user := range []string{"ada", "bob"} {
				n := state.Names{Session: name, App: "shop", User: user}
				want := map[string]string{}
				maps.Copy(want, now.own[name])
				for prefix, ref := range map[string]string{"app:": "app/shop",
					"user:": "user/shop/" + user} {
					for k, v := range now.shared[ref] {
						want[prefix+k] = v
					}
				}
				got := map[string]string{}
				for _, v := range storetest.Must[[]state.Pair](t)(
					s.State.Get(storetest.View(t, s), n)) {
					got[v.Key] = string(v.Value)
				}
				if !maps.Equal(got, want) {
					t.Fatalf("seed %d: %s, %s: %v, want %v", seed, name, user, got, want)
				}
			}
		}
	}
	if taken < 20 {
		t.Errorf("%d of %d steps were taken back", taken, steps)
	}
	t.Logf("%d steps, %d taken back", steps, taken)
}

// TestC6_07_DeleteThenCreate: a session that was removed and made again under its name has no
// events; what is its app's and its user's is there.
func TestC6_07_DeleteThenCreate(t *testing.T) {
	s := storetest.Create(t)
	bg := context.Background()
	storetest.Say(t, s, "talk", "user", "hello")
	n := state.Names{Session: "talk", App: "shop", User: "ada"}
	storetest.Must[state.Done](t)(
		s.State.Set(bg, n,
			[]state.Change{set("app:a", "1"), set("user:b", "2"), set("c", "3"),
				set("temp:d", "4")}))
	if got := stateText(t, s, n); got != `{"app:a":1,"c":3,"user:b":2}` {
		t.Fatal(got)
	}
	storetest.Must[int](t)(s.Conversation.RemoveSession(bg, "talk"))
	if _, err := s.State.Get(storetest.View(t, s), n); !errors.Is(err,
		history.ErrNotFound) {
		t.Errorf("the state of a session that was removed: %v", err)
	}
	storetest.Say(t, s, "talk", "user", "once more")
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch))
	if log := storetest.Must[[]*history.Shown](t)(
		s.Recall.Log(tip.ID, recall.LogOptions{All: true})); len(log) != 1 {
		t.Errorf("%d events", len(log))
	}
	if got := stateText(t, s, n); got != `{"app:a":1,"user:b":2}` {
		t.Errorf("state %s", got)
	}
}

// Each of the names is checked, whether or not those before it are given: a name with a slash would
// be another scope.
func TestStateNamesAreChecked(t *testing.T) {
	s := storetest.Create(t)
	bad := strings.Repeat("x", format.MaxName+1)
	for _, n := range []state.Names{{Session: bad}, {App: bad},
		{App: "shop", User: bad}, {User: "ada"}, {App: "shop/ada"},
		{App: "shop", User: "a/b"}, {}} {
		if list, err := s.State.Get(storetest.Must[*refs.View](t)(s.Refs.Read()),
			n); !errors.Is(err, history.ErrInput) {
			t.Errorf("%.20s, %.20s, %.20s: read as %v, %v", n.Session, n.App, n.User, list, err)
		}
		if _, err := s.State.Set(context.Background(), n,
			[]state.Change{set("app:a", "1")}); !errors.Is(err, history.ErrInput) {
			t.Errorf("%.20s, %.20s, %.20s: %v", n.Session, n.App, n.User, err)
		}
	}
}
