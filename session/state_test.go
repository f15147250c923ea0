package session

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
)

func set(key, value string) StateChange {
	return StateChange{StateValue: StateValue{Key: key, Value: json.RawMessage(value)}}
}

// stateText is what a session sees, as one JSON object.
func stateText(t testing.TB, s *Store, n StateNames) string {
	t.Helper()
	b, err := EncodeState(must[[]StateValue](t)(s.State(s.mustView(t), n)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestStateBounds(t *testing.T) {
	s := create(t)
	say(t, s, "talk", "user", "hello")
	n := StateNames{Session: "talk", App: "shop", User: "ada"}
	many := func(count int) (list []StateChange) {
		for i := range count {
			list = append(list, set(fmt.Sprintf("k%d", i), "1"))
		}
		return list
	}
	for name, c := range map[string]struct {
		changes []StateChange
		ok      bool
	}{
		"longest key":      {[]StateChange{set(strings.Repeat("k", MaxStateKey), "1")}, true},
		"longest shared":   {[]StateChange{set("app:"+strings.Repeat("k", MaxStateKey), "1")}, true},
		"longer key":       {[]StateChange{set(strings.Repeat("k", MaxStateKey+1), "1")}, false},
		"no key":           {[]StateChange{set("", "1")}, false},
		"prefix alone":     {[]StateChange{set("user:", "1")}, false},
		"control":          {[]StateChange{set("a\nb", "1")}, false},
		"not UTF-8":        {[]StateChange{set("a\xff", "1")}, false},
		"not JSON":         {[]StateChange{set("a", "{")}, false},
		"no value":         {[]StateChange{set("a", "")}, false},
		"two values":       {[]StateChange{set("a", "1 2")}, false},
		"largest value":    {[]StateChange{set("a", `"`+strings.Repeat("x", MaxStateValue-2)+`"`)}, true},
		"larger value":     {[]StateChange{set("a", `"`+strings.Repeat("x", MaxStateValue-1)+`"`)}, false},
		"too deep":         {[]StateChange{set("a", strings.Repeat("[", 300)+strings.Repeat("]", 300))}, false},
		"most keys":        {many(maxStateKeys), true},
		"too many keys":    {many(maxStateKeys + 1), false},
		"too much":         {[]StateChange{set("a", `"`+strings.Repeat("x", MaxStateValue-2)+`"`), set("b", `"`+strings.Repeat("y", MaxStateValue-2)+`"`), set("c", `"`+strings.Repeat("z", MaxStateValue-2)+`"`), set("d", `"`+strings.Repeat("w", MaxStateValue-2)+`"`)}, false},
		"good and bad":     {[]StateChange{set("good", "1"), set("bad", "")}, false},
		"temp is not read": {[]StateChange{set("temp:x", "nope")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := stateText(t, s, n)
			view := s.mustView(t)
			_, err := s.SetState(context.Background(), n, c.changes)
			if c.ok {
				if err != nil {
					t.Fatal(err)
				}
				for _, ch := range c.changes {
					ch.Remove = true
					if _, err := s.SetState(context.Background(), n, []StateChange{ch}); err != nil {
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
					must[StateDone](t)(s.SetState(context.Background(), n, c.changes))
				}
				if after := stateText(t, s, n); after != before {
					t.Errorf("not taken away: %.200s", after)
				}
				return
			}
			if !errors.Is(err, ErrInput) {
				t.Errorf("error %v", err)
			}
			if stateText(t, s, n) != before || s.mustView(t).Number != view.Number {
				t.Error("something was written")
			}
		})
	}
	long := strings.Repeat("n", 200)
	if _, err := s.SetState(context.Background(), StateNames{App: long, User: long}, []StateChange{set("app:a", "1")}); !errors.Is(err, ErrInput) {
		t.Errorf("a ref's name that is too long: %v", err)
	}
	if left := s.mustView(t).Names(stateRefs); len(left) != 0 {
		t.Errorf("scopes without keys have refs: %v", left)
	}
}

// TestStateHistories holds random histories of state, appends, undos, redos and removals against maps.
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
		s := create(t, small...)
		now := clone(world{})
		past := map[string]world{} // of a session, what undo of its last operation goes back to; gone once something else happens
		for _, name := range []string{"a", "b"} {
			say(t, s, name, "user", "hello")
			now.own[name] = map[string]string{}
		}
		for range 60 {
			steps++
			name := []string{"a", "b"}[r.IntN(2)]
			n := StateNames{Session: name, App: "shop", User: []string{"ada", "bob"}[r.IntN(2)]}
			refs := map[string]string{"app:": "app/shop", "user:": "user/shop/" + n.User}
			switch k := r.IntN(10); {
			case k < 6:
				before := clone(now)
				var changes []StateChange
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
				was := s.mustView(t).Number
				must[StateDone](t)(s.SetState(bg, n, changes))
				if moved = s.mustView(t).Number != was; moved {
					clear(past) // shared keys may have moved: the other session's undo is not foretold here
					past[name] = before
				}
			case k < 8:
				before, known := past[name]
				if !known {
					continue
				}
				must[Undone](t)(s.Undo(bg, name))
				after := now
				now = clone(before)
				taken++
				if r.IntN(2) == 0 {
					must[Undone](t)(s.Redo(bg, name))
					now = after
				} else {
					delete(past, name)
				}
			case k == 8:
				say(t, s, name, "model", "more")
				delete(past, name)
			default:
				must[int](t)(s.RemoveSession(bg, name))
				say(t, s, name, "user", "hello again")
				now.own[name] = map[string]string{}
				clear(past) // what another session would go back to has the old keys of this one
			}
			for _, user := range []string{"ada", "bob"} {
				n := StateNames{Session: name, App: "shop", User: user}
				want := map[string]string{}
				maps.Copy(want, now.own[name])
				for prefix, ref := range map[string]string{"app:": "app/shop", "user:": "user/shop/" + user} {
					for k, v := range now.shared[ref] {
						want[prefix+k] = v
					}
				}
				got := map[string]string{}
				for _, v := range must[[]StateValue](t)(s.State(s.mustView(t), n)) {
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

// TestC6_07_DeleteThenCreate: a session that was removed and made again under its name has no events; what is its app's and its user's is there.
func TestC6_07_DeleteThenCreate(t *testing.T) {
	s := create(t)
	bg := context.Background()
	say(t, s, "talk", "user", "hello")
	n := StateNames{Session: "talk", App: "shop", User: "ada"}
	must[StateDone](t)(s.SetState(bg, n, []StateChange{set("app:a", "1"), set("user:b", "2"), set("c", "3"), set("temp:d", "4")}))
	if got := stateText(t, s, n); got != `{"app:a":1,"c":3,"user:b":2}` {
		t.Fatal(got)
	}
	must[int](t)(s.RemoveSession(bg, "talk"))
	if _, err := s.State(s.mustView(t), n); !errors.Is(err, ErrNotFound) {
		t.Errorf("the state of a session that was removed: %v", err)
	}
	say(t, s, "talk", "user", "once more")
	tip := must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch))
	if log := must[[]*Shown](t)(s.Log(tip.ID, LogOptions{All: true})); len(log) != 1 {
		t.Errorf("%d events", len(log))
	}
	if got := stateText(t, s, n); got != `{"app:a":1,"user:b":2}` {
		t.Errorf("state %s", got)
	}
}
