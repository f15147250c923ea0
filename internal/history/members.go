package history

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// members remembers what is below nodes: the first bytes of the ids of the members, sorted. A node
// never changes, so what is known of one holds for good.
type members struct {
	mu   sync.Mutex
	read bool // the file of the cache
	of   map[format.ID][]uint32
	used map[format.ID]bool // since the file was read
	new  int                // nodes that the file does not have
	held int                // members of all
}

const (
	membersVersion = 1

	// newMembers is how many nodes the file must lack before it is written anew, and mostMembers
	// after how many members, 3 bytes each, it loses the nodes that nobody asked for.
	newMembers  = 32
	mostMembers = 1 << 22
)

// Lacks implements forest.Sieve.
func (l loader) Lacks(node format.ID, entries map[format.ID]bool) bool {
	k := &l.s.members
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load(l.s.Cache)
	starts, known := k.of[node]
	if !known {
		return false
	}
	k.used[node] = true
	for id := range entries {
		if _, is := slices.BinarySearch(starts, startOf(id)); is {
			return false
		}
	}
	return true
}

func startOf(id format.ID) uint32 { return binary.BigEndian.Uint32(id[:]) }

// Remember implements forest.Sieve. What it cannot write is read again.
func (l loader) Remember(below map[format.ID][]format.ID) {
	k := &l.s.members
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(below) == 0 {
		return
	}
	k.load(l.s.Cache)
	for node, list := range below {
		starts := lists.Map(list, startOf)
		slices.Sort(starts)
		if _, known := k.of[node]; !known {
			k.new, k.held = k.new+1, k.held+len(list)
		}
		k.of[node], k.used[node] = starts, true
	}
	if k.new < newMembers {
		return
	}
	if k.held > mostMembers {
		for node, starts := range k.of {
			if !k.used[node] {
				delete(k.of, node)
				k.held -= len(starts)
			}
		}
	}
	if l.s.Cache.Put(cache.MembersName, cache.Stamp{}, membersVersion, k.code) == nil {
		k.new = 0
	}
}

// load reads the file, once.
func (k *members) load(c *cache.Cache) {
	if k.read {
		return
	}
	k.read, k.used = true, map[format.ID]bool{}
	if _, ok := c.Get(cache.MembersName, membersVersion, k.code); !ok {
		k.of = map[format.ID][]uint32{}
	}
	for _, starts := range k.of {
		k.held += len(starts)
	}
}

// code is the form of the file: the nodes by their ids, and the distances of the numbers.
func (k *members) code(c *varint.Code) {
	varint.MapBy(c, &k.of, format.ID.Compare, func(id *format.ID, starts *[]uint32) {
		c.Fixed(id[:])
		before := uint32(0)
		varint.List(c, starts, func(n *uint32, c *varint.Code) {
			far := uint64(*n - before)
			c.Uint(&far)
			before += uint32(far)
			*n = before
		})
	})
}
