package dag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/gemini-ctx/ctx/format"
)

// Tokens is the set of forks' children that an entry has come through, as agents that know branches
// by token sets have it: the numbers, ascending. In one invocation an entry is visible to a reader
// if its set is part of the reader's. Nothing is decided by it here; it is derived from ancestry,
// for who asks.
type Tokens []uint64

// Tokens returns the set of an entry: its own invocation's forks' children among what it stands on,
// numbered from 1 in the order in which the forks were made. The numbers are those of the branches
// that were read: what was rewound has none.
func (d *DAG) Tokens(id format.ID) (Tokens, error) {
	at, err := d.find(id)
	if err != nil {
		return nil, err
	}
	return d.tokens(at), nil
}

// BranchTokens returns the set of who reads in a branch: that of its tip, and the branch's own
// token where it has said nothing yet.
func (d *DAG) BranchTokens(branch string) (Tokens, error) {
	tip, ok := d.tips[branch]
	if !ok {
		return nil, fmt.Errorf("branch %q: %w", branch, ErrNotFound)
	}
	set, n := d.tokens(tip), &d.nodes[tip]
	if n.kind == format.KindFork {
		if i := slices.Index(n.children, branch); i >= 0 {
			set = append(set, d.first[tip]+uint64(i))
		}
	}
	return canonical(set), nil
}

func (d *DAG) tokens(at int32) Tokens {
	set := Tokens{}
	invocation := d.nodes[at].invocation
	d.ancestors(at, func(n int32) bool {
		for _, b := range d.nodes[n].begins {
			if d.nodes[b.fork].invocation == invocation {
				set = append(set, d.first[b.fork]+uint64(b.child))
			}
		}
		return true
	})
	return canonical(set)
}

func canonical(set Tokens) Tokens {
	slices.Sort(set)
	return slices.Compact(set)
}

// Sees reports whether who has the set t sees what has the set of: whether that is part of it.
func (t Tokens) Sees(of Tokens) bool {
	for _, n := range of {
		if _, ok := slices.BinarySearch(t, n); !ok {
			return false
		}
	}
	return true
}

// String is the one text of a set, such as {1,3,4}: equal sets have equal texts, so that it serves
// as a key.
func (t Tokens) String() string {
	b := []byte{'{'}
	for i, n := range t {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, n, 10)
	}
	return string(append(b, '}'))
}

// tokensJSON is a set as JSON.
type tokensJSON struct {
	Tokens []uint64 `json:"tokens"`
}

// MarshalJSON writes {"tokens":[1,3,4]}.
func (t Tokens) MarshalJSON() ([]byte, error) {
	return json.Marshal(tokensJSON{append([]uint64{}, t...)})
}

// UnmarshalJSON reads what MarshalJSON writes, in any order. What is no set is an error: a reader
// that took it for an empty one would show it to everybody.
func (t *Tokens) UnmarshalJSON(b []byte) error {
	var in tokensJSON
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return fmt.Errorf("token set: %w", err)
	}
	if in.Tokens == nil || slices.Contains(in.Tokens, 0) {
		return fmt.Errorf(`token set: no "tokens" from 1 on: %.80q`, b)
	}
	*t = canonical(in.Tokens)
	return nil
}
