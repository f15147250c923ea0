package dag

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Tokens is the numbers, ascending, of the children of forks that an entry came through. Some
// agents identify branches by such sets: within one invocation a reader sees an entry if the set of
// the entry is a subset of the reader's. ctx decides by ancestry, and computes the sets for export.
type Tokens []uint64

// Tokens returns the set of an entry: the children of forks of its own invocation among its
// ancestors. Children are numbered from 1 in the order in which their forks were made. Rewound
// forks do not count.
func (d *DAG) Tokens(id format.ID) (Tokens, error) {
	at, err := d.find(id)
	if err != nil {
		return nil, err
	}
	return d.tokens(at), nil
}

// BranchTokens returns the set of a reader at the tip of a branch. It includes the token of the
// branch itself, even if the branch has no entry yet.
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
	for n, on := range d.ancestors(at) {
		if !on {
			continue
		}
		for _, b := range d.nodes[n].begins {
			if d.nodes[b.fork].invocation == invocation {
				set = append(set, d.first[b.fork]+uint64(b.child))
			}
		}
	}
	return canonical(set)
}

func canonical(set Tokens) Tokens {
	slices.Sort(set)
	return slices.Compact(set)
}

// String returns a text such as {1,3,4}. Equal sets have equal texts, so the text can be a map key.
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

// UnmarshalJSON reads the output of MarshalJSON, with the numbers in any order. Anything else is an
// error: an empty set in its place would make the entry visible to everybody.
func (t *Tokens) UnmarshalJSON(b []byte) error {
	var in tokensJSON
	if err := jsonvalue.Exact(b, &in); err != nil {
		return fmt.Errorf("token set: %w", err)
	}
	if in.Tokens == nil || slices.Contains(in.Tokens, 0) {
		return fmt.Errorf(`token set: no "tokens" from 1 on: %.80q`, b)
	}
	*t = canonical(in.Tokens)
	return nil
}
