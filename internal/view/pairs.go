package view

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

const (
	shortID = 12 // digits of an id for people
	// Where room is scarce; unique among some 10,000 objects, and commands report an ambiguous id
	briefID = 8
	idBytes = 64 // longest id of a call that providers accept
)

// pair gives every call a unique key, and the same key to the result that answers it: the newest
// call with the id of the result or, if neither has an id, the oldest with its name. A key is the
// id of the call if providers accept it and no other call has it. pair also sets start, so that no
// message is printed without the calls that it answers, nor with a call whose result is cut.
func pair(all []messageItems) {
	p := pairing{open: map[string][]open{}, used: map[string]bool{}}
	up := make([]int, len(all)) // union-find over messages; the oldest of a group is its root
	for i := range all {
		up[i] = i
		if all[i].Role == "system" {
			continue // it has no calls and no results
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

// slot returns the key under which calls wait that the same result could answer. No id has a zero
// byte.
func slot(it *item) string {
	if it.id != "" {
		return it.id
	}
	return "\x00" + it.name
}

// named gives a tool without a name one, because every provider requires it.
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

// result returns the index of the message whose call the result answers, or -1.
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

// plainName reports whether s has 1 to n bytes, all of which every provider accepts in ids and
// names of tools.
func plainName(s string, n int) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			c != '_' && c != '-' {
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

// CallGroups returns, for each message, the number of its group: messages that call and answer each
// other are one group and cannot be printed apart. open says which messages make a call without an
// answer.
func CallGroups(messages []Message) (groups []int, open []bool) {
	all := readAll(messages)
	answered := map[string]bool{}
	for _, m := range all {
		for _, it := range m.items {
			if it.kind == resultItem {
				answered[it.key] = true
			}
		}
	}
	groups, open = make([]int, len(all)), make([]bool, len(all))
	for i, m := range all {
		groups[i] = m.start
		for _, it := range m.items {
			open[i] = open[i] || it.kind == callItem && m.Role != "system" && !answered[it.key]
		}
	}
	return groups, open
}
