package storm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/faults"
)

// operation is an operation of the log, in the form of `ctx op log --json`.
type operation struct {
	Number  uint64
	Digest  string
	Before  string
	Verb    string
	Session string
	About   uint64
	Refs    []struct{ Name, Old, New string }
}

// entry is the content of an entry's header, and its text.
type entry struct {
	id, kind, left, session, text string
	parents, children             []string
}

// list is the content of a branch, as a chain from its newest message backwards, so that lists
// share their common part.
type list struct {
	id   string
	prev *list
	n    int
	hash uint64 // of the ids, oldest first
}

func (l *list) add(id string) *list {
	h := fnv.New64a()
	if l == nil {
		fmt.Fprintf(h, "%s", id)
		return &list{id: id, n: 1, hash: h.Sum64()}
	}
	fmt.Fprintf(h, "%016x%s", l.hash, id)
	return &list{id: id, prev: l, n: l.n + 1, hash: h.Sum64()}
}

func listOf(ids []string) (l *list) {
	for _, id := range ids {
		l = l.add(id)
	}
	return l
}

// ids returns the ids of the list, oldest first.
func (l *list) ids() []string {
	var ids []string
	for ; l != nil; l = l.prev {
		ids = append(ids, l.id)
	}
	slices.Reverse(ids)
	return ids
}

func (l *list) same(m *list) bool {
	if l == nil || m == nil {
		return l == m
	}
	return l.n == m.n && l.hash == m.hash
}

// move is the tip of a branch from an operation on; tip is empty if the branch is gone.
type move struct {
	number uint64
	tip    string
}

// history is the content of the store's log and entries, as a model that shares no code with the
// program.
type history struct {
	t       *testing.T
	program faults.Program
	ops     []operation // ops[i] has number i+1
	refs    map[string]string
	moves   map[string][]move // of each branch's ref, in order
	entries map[string]*entry
	lists   map[string]*list
	said    map[string]uint64 // of each message, the operation that added it
	texts   map[string]string // id by text

	events []*event // all commands, with their operations where these are found
	byEnd  []bound
	byFrom []bound
}

func readHistory(t *testing.T, p faults.Program) *history {
	h := &history{t: t, program: p, refs: map[string]string{}, moves: map[string][]move{},
		entries: map[string]*entry{}, lists: map[string]*list{},
		said: map[string]uint64{}, texts: map[string]string{}}
	err := eachLine(p.Must(t, "op", "log", "--json"), func(line []byte) error {
		var op operation
		err := json.Unmarshal(line, &op)
		h.ops = append(h.ops, op)
		return err
	})
	if err != nil {
		t.Error(err)
		return h
	}
	slices.Reverse(h.ops)
	var tips []string
	for _, op := range h.ops {
		for _, u := range op.Refs {
			if strings.HasPrefix(u.Name, "sessions/") {
				tips = append(tips, tipOf(u.Old), tipOf(u.New))
			}
		}
	}
	if err := h.readEntries(tips); err != nil {
		t.Error(err)
	}
	return h
}

// tipOf returns the tip in a branch's value of the form `session <tip> …`.
func tipOf(value string) string {
	words := strings.Fields(value)
	if len(words) < 2 {
		return ""
	}
	return words[1]
}

// readEntries reads entries and everything that they lead to, in one process.
func (h *history) readEntries(todo []string) error {
	c := h.program.Command("cat-file", "--batch")
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	r := bufio.NewReader(out)
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id == "" || h.entries[id] != nil {
			continue
		}
		fmt.Fprintln(in, id)
		e, err := readEntry(r)
		if err != nil {
			_ = c.Process.Kill()
			return fmt.Errorf("entry %s: %w", id, err)
		}
		h.entries[id] = e
		todo = append(append(todo, e.parents...), e.left)
	}
	if err := in.Close(); err != nil {
		return err
	}
	return c.Wait()
}

func readEntry(r *bufio.Reader) (*entry, error) {
	first, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	e := &entry{}
	var kind string
	var size int
	if _, err := fmt.Sscanf(first, "%s %s %d", &e.id, &kind, &size); err != nil || kind != "entry" {
		return nil, fmt.Errorf("it is %q", strings.TrimSpace(first))
	}
	content := make([]byte, size+1)
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, err
	}
	header, text, _ := strings.Cut(string(content[:size]), "\n\n")
	e.text = text
	for line := range strings.SplitSeq(header, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "parent":
			e.parents = append(e.parents, value)
		case "child":
			e.children = append(e.children, value)
		case "kind":
			e.kind = value
		case "left":
			e.left = value
		case "session":
			e.session = value
		}
	}
	return e, nil
}

// first returns the first parent, or "".
func (e *entry) first() string {
	if len(e.parents) == 0 {
		return ""
	}
	return e.parents[0]
}

// list returns the content of a branch with the tip id.
func (h *history) list(id string) *list {
	if id == "" {
		return nil
	}
	if l, ok := h.lists[id]; ok {
		return l
	}
	e := h.entries[id]
	l := h.list(e.first())
	switch e.kind {
	case "message":
		l = l.add(id)
	case "join":
		for i, tip := range e.parents[1:] {
			var said []string
			for at := h.entries[tip]; at.kind != "fork" ||
				!slices.Contains(at.children, e.children[i]); at = h.entries[at.first()] {
				if at.kind == "message" {
					said = append(said, at.id)
				}
			}
			slices.Reverse(said)
			for _, s := range said {
				l = l.add(s)
			}
		}
	}
	h.lists[id] = l
	return l
}

// at returns the tip of a branch's ref after operation n, or "" if the ref does not exist then.
func (h *history) at(ref string, n uint64) string {
	moves := h.moves[ref]
	i, exact := slices.BinarySearchFunc(moves, n, func(m move, n uint64) int {
		switch {
		case m.number < n:
			return -1
		case m.number > n:
			return 1
		}
		return 0
	})
	if !exact {
		i--
	}
	if i < 0 {
		return ""
	}
	return moves[i].tip
}

// ever reports whether want returns true for a tip of the branch at any time from operation lo to
// operation hi.
func (h *history) ever(ref string, lo, hi uint64, want func(tip string) bool) bool {
	if want(h.at(ref, lo)) {
		return true
	}
	for _, m := range h.moves[ref] {
		if m.number > lo && m.number <= hi && want(m.tip) {
			return true
		}
	}
	return false
}

func branchRef(session, branch string) string { return "sessions/" + session + "/" + branch }
