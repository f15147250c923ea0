package geminicli

import (
	"crypto/sha256"
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// version is a message as it was last emitted under its key.
type version struct {
	note  bool
	from  transcript.Origin
	role  string
	parts []part
	sum   [sha256.Size]byte // of its normalParts
	prev  *version          // the version before it in the chain; nil for the first
}

// chain mirrors the conversation that the steps emitted so far add up to: each message and each
// newer version of one, in the order they were emitted, less what a rewind took off the end.
type chain struct {
	keys    []string
	current map[string]*version
	first   map[string]int // index in keys of the first version
	left    map[string]int // how many versions under a key rewinds took off
}

func newChain() chain {
	return chain{current: map[string]*version{}, first: map[string]int{}, left: map[string]int{}}
}

func (c *chain) push(key string, v *version) {
	v.prev = c.current[key]
	if v.prev == nil {
		c.first[key] = len(c.keys)
	}
	c.current[key] = v
	c.keys = append(c.keys, key)
}

// cut takes off everything from index n on.
func (c *chain) cut(n int) {
	for i := len(c.keys) - 1; i >= n; i-- {
		key := c.keys[i]
		c.left[key]++
		if v := c.current[key]; v.prev != nil {
			c.current[key] = v.prev
			continue
		}
		delete(c.current, key)
		delete(c.first, key)
	}
	c.keys = c.keys[:n]
}

// earliest returns the lowest index of keys in the chain; ok is false if none is in it.
func (c *chain) earliest(keys []string) (n int, ok bool) {
	for _, key := range keys {
		if i, live := c.first[key]; live && (!ok || i < n) {
			n, ok = i, true
		}
	}
	return n, ok
}

// view is the agent's own list of messages: physical ids in order. An id may stand for several
// keys, and a key may have several ids: a tool's result has the ids of the call, of its answer, and
// of the copies that a resume makes.
type view struct {
	ids      []string
	position map[string]int
	keys     map[string][]string // by id; kept when the id leaves the list
}

func newView() view {
	return view{position: map[string]int{}, keys: map[string][]string{}}
}

// add puts id at the end, unless it is in the list: then it stays where it is.
func (v *view) add(id string) {
	if _, ok := v.position[id]; ok {
		return
	}
	v.position[id] = len(v.ids)
	v.ids = append(v.ids, id)
}

// bind records that id stands for key too.
func (v *view) bind(id, key string) {
	if !slices.Contains(v.keys[id], key) {
		v.keys[id] = append(v.keys[id], key)
	}
}

// cut takes off the ids from index n on and returns the keys they stood for.
func (v *view) cut(n int) (keys []string) {
	for _, id := range v.ids[n:] {
		keys = append(keys, v.keys[id]...)
		delete(v.position, id)
	}
	v.ids = v.ids[:n]
	return keys
}

// keep leaves only the ids for which live says yes.
func (v *view) keep(live func(id string) bool) {
	ids := v.ids
	v.ids, v.position = nil, map[string]int{}
	for _, id := range ids {
		if live(id) {
			v.add(id)
		}
	}
}
