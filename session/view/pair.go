package view

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

const (
	shortID = 12 // digits of an id that people read
	briefID = 8  // where every character counts; still unique among some 10,000 objects, and what is not is told to be so
	idBytes = 64 // longest id of a call that providers take
)

// pair gives every call a key of its own, and the same to the result that answers it: by id the newest call with that id, and
// where neither has one the oldest by name. A key is the call's id where providers take it and no other call has it. Then it
// ties messages together: none is printed without the calls it answers, nor with a call whose result is cut.
func pair(all []said) {
	p := pairing{open: map[string][]open{}, used: map[string]bool{}}
	up := make([]int, len(all)) // union-find over messages, the oldest of a group on top
	for i := range all {
		up[i] = i
		if all[i].Role == "system" {
			continue // has no calls or results, whatever it says
		}
		for n := range all[i].items {
			switch it := &all[i].items[n]; it.kind {
			case callItem:
				p.call(it, i, all[i].ID, n)
			case resultItem:
				if at := p.result(it); at >= 0 {
					join(up, at, i)
				}
			}
		}
	}
	for i := range all {
		all[i].start = top(up, i)
	}
}

// open is a call that waits for its result.
type open struct {
	key, wire, name string
	message         int
}

type pairing struct {
	open map[string][]open // by id, or by name where there is none
	used map[string]bool   // keys
}

// slot is where calls that the same result could answer are kept. No id holds a zero byte.
func slot(it *item) string {
	if it.id != "" {
		return it.id
	}
	return "\x00" + it.name
}

// named gives a tool a name where it has none, since no provider does without.
func named(it *item) {
	if it.name == "" {
		it.name, it.raw = "tool", nil
	}
}

func (p *pairing) call(it *item, message int, entry format.ID, n int) {
	named(it)
	it.key = it.id
	for k := n; !plainName(it.key, idBytes) || p.used[it.key]; k += idBytes {
		it.key = fmt.Sprintf("call_%s_%d", entry.Short(shortID), k)
	}
	p.used[it.key] = true
	p.open[slot(it)] = append(p.open[slot(it)], open{it.key, it.wire, it.name, message})
}

// result finds the call that it answers and returns the index of its message, or -1.
func (p *pairing) result(it *item) int {
	named(it)
	waiting := p.open[slot(it)]
	if len(waiting) == 0 {
		return -1
	}
	n := len(waiting) - 1
	if it.id == "" {
		n = 0
	}
	c := waiting[n]
	p.open[slot(it)] = append(waiting[:n:n], waiting[n+1:]...)
	if it.name != c.name || it.wire != c.wire {
		it.name, it.wire, it.raw = c.name, c.wire, nil // Gemini wants the call's name and id
	}
	it.key = c.key
	return c.message
}

// plainName reports whether s is made of what every provider takes in ids and names of tools, at most n bytes of it.
func plainName(s string, n int) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= n
}

func top(up []int, i int) int {
	for up[i] != i {
		up[i] = up[up[i]]
		i = up[i]
	}
	return i
}

func join(up []int, a, b int) {
	a, b = top(up, a), top(up, b)
	up[max(a, b)] = min(a, b)
}
