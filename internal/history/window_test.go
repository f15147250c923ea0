package history_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/history"
)

// windowItems reads one letter a message: u user, m model, s system; c and r a call and the result
// that answers the oldest open one.
func windowItems(s string) []history.Item {
	var list []history.Item
	made, answered := 0, 0
	for _, c := range s {
		switch c {
		case 'u':
			list = append(list, history.Item{Role: "user"})
		case 'm':
			list = append(list, history.Item{Role: "model"})
		case 's':
			list = append(list, history.Item{Role: "system"})
		case 'c':
			list = append(list, history.Item{Role: "model", Calls: []string{fmt.Sprint(made)}})
			made++
		case 'r':
			list = append(list, history.Item{Role: "tool", Results: []string{fmt.Sprint(answered)}})
			answered++
		}
	}
	return list
}

func TestDue(t *testing.T) {
	p := history.Window{GraduateAt: 4, EvictAt: 6}
	for _, tt := range []struct {
		name, in string
		exchange bool
		want     string
	}{
		{"nothing is old", "umum", true, ""},
		{"one message, no model", "uuuuu", false, "0-1"},
		{"two messages, no model", "uuuuuu", false, "0-1 1-2"},
		{"an exchange waits until all of it is old", "umumu", true, ""},
		{"an exchange", "umumum", true, "0-2"},
		{"an exchange that goes on", "mumumu", true, "0-1+"},
		{"a call and its result together", "crmmmmm", false, "0-2 2-3"},
		{"a result past the border holds its call back", "ucmumrm", true, ""},
		{"an open call waits", "cuuuuu", false, ""},
		{"an open call goes alone past evict_at", "cuuuuuu", false, "0-1 1-2 2-3"},
		{"a long exchange goes in pieces", "u" + strings.Repeat("m", 13), true, "0-8"},
		{"and its pieces go on", "u" + strings.Repeat("m", 20), true, "0-8 8-16+"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, u := range history.Due(len(tt.in), windowItems(tt.in), tt.exchange, p) {
				s := fmt.Sprintf("%d-%d", u.Start, u.End)
				if u.Continues {
					s += "+"
				}
				got = append(got, s)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("Due(%q) = %q, want %q", tt.in, strings.Join(got, " "), tt.want)
			}
		})
	}
}

// Whatever comes in, units follow each other from the first item without gaps, leave GraduateAt
// messages alone, and never part a call from a result that is there.
func TestDueHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		p := history.Window{GraduateAt: r.IntN(8), EvictAt: 8 + r.IntN(8)}
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteByte("umscr"[r.IntN(5)])
		}
		list := windowItems(b.String())
		end := 0
		for _, u := range history.Due(len(list), list, r.IntN(2) == 0, p) {
			if u.Start != end || u.End <= u.Start {
				t.Fatalf("unit %v after %d", u, end)
			}
			end = u.End
			for _, item := range list[u.Start:u.End] {
				for _, call := range item.Calls {
					at := slices.IndexFunc(list,
						func(i history.Item) bool { return slices.Contains(i.Results, call) })
					if at >= u.End {
						t.Fatalf("call %s in %v, its result at %d: %q", call, u, at, b.String())
					}
				}
			}
		}
		if end > max(0, len(list)-p.GraduateAt) {
			t.Fatalf("%d of %d graduate, the newest %d stay", end, len(list), p.GraduateAt)
		}
	}
}

func TestAdopt(t *testing.T) {
	p := history.Window{GraduateAt: 26, EvictAt: 30}
	for _, tt := range []struct{ frontier, tip, want uint64 }{
		{0, 0, 0}, {0, 40, 0}, {5, 31, 5}, {74, 100, 74}, {60, 70, 44}, {20, 20, 0}, {30, 30, 4},
	} {
		if got := history.Adopt(tt.frontier, tt.tip, p); got != tt.want {
			t.Errorf("Adopt(%d, %d) = %d, want %d", tt.frontier, tt.tip, got, tt.want)
		}
	}
	for _, tt := range []struct {
		tip, through uint64
		want         bool
	}{
		{0, 0, false}, {3, 0, false}, {40, 21, true}, {40, 20, false}, {40, 40, true},
		{40, 45, true},
	} {
		if got := p.Cold(tt.tip, tt.through); got != tt.want {
			t.Errorf("Cold(%d, %d) = %t, want %t", tt.tip, tt.through, got, tt.want)
		}
	}
	if p.Crosses(30, 0) || !p.Crosses(31, 0) {
		t.Error("a tail of 31 crosses, one of 30 does not")
	}
}

// A limit leaves the first units of all, as many as reach to a number of messages and one more.
func TestDueUpToSomeItems(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 300 {
		var items []history.Item
		for i := range 1 + r.IntN(60) {
			it := history.Item{Role: []string{"user", "model", "tool"}[r.IntN(3)]}
			if r.IntN(4) == 0 {
				it.Calls = []string{fmt.Sprint(i)}
			}
			if r.IntN(4) == 0 {
				it.Results = []string{fmt.Sprint(r.IntN(i + 1))}
			}
			items = append(items, it)
		}
		p := history.Window{GraduateAt: r.IntN(8), EvictAt: 8 + r.IntN(20)}
		all := history.Due(len(items), items, true, p)
		for _, most := range []int{0, 1, 7, 20, 100} {
			some := history.Due(most, items, true, p)
			if !slices.Equal(some, all[:len(some)]) {
				t.Fatalf("up to %d: %v, of %v", most, some, all)
			}
			if n := len(some); n < len(all) && (n == 0 || some[n-1].End <= most) {
				t.Fatalf("up to %d: %v ends too early, of %v", most, some, all)
			}
		}
	}
}
