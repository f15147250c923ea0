package state

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// The limits of state: bytes of a key without its prefix, bytes of a value, keys of a scope, and
// bytes of a scope.
const (
	MaxKey   = 200
	MaxValue = 1 << 20
	MaxKeys  = 10_000
	maxBlob  = 4 << 20
)

// Names name the state of a session. A session has keys of its own. It shares keys with the
// prefix app: with every session of the app, and keys with the prefix user: with every session of
// the app's user. App and User are "" if they are not wanted.
type Names struct{ Session, App, User string }

// Pair is a key with its prefix and its value, compact JSON.
type Pair struct {
	Key   string
	Value json.RawMessage
}

// Change sets or removes a key. null is a value like any other.
type Change struct {
	Pair
	Remove bool
}

// Done is the result of Set.
type Done struct {
	Set, Removed int // keys that have another value, or none, since
	Same         int // keys that were so before
	Temp         int // keys with the prefix temp:, which are never kept
	Found        []sanitize.Finding
}

// Get returns the keys that a session sees, sorted. ErrNotFound says that there is no such
// session; with an app, the session may be left out.
func (s *Reader) Get(v *refs.View, n Names) ([]Pair, error) {
	if err := n.check(v); err != nil {
		return nil, err
	}
	var out []Pair
	for _, scope := range n.scopes() {
		m, err := s.read(v, scope.ref)
		if err != nil {
			return nil, err
		}
		for key, value := range m {
			out = append(out, Pair{scope.prefix + key, value})
		}
	}
	slices.SortFunc(out, func(a, b Pair) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// Set changes the state that a session sees, in one operation and in order; of one key the
// last change wins. It sanitizes values as Append sanitizes messages. An undo of the session takes
// the operation back if the scopes have not changed since; a rewind leaves state alone.
func (s *Writer) Set(
	ctx context.Context, n Names, changes []Change,
) (Done, error) {
	var done Done
	byRef := map[string][]Change{} // without prefix
	for _, c := range changes {
		ref, err := n.RefOf(&c.Key)
		if err != nil {
			return done, err
		}
		if ref == "" {
			done.Temp++
			continue
		}
		if !c.Remove {
			found, err := c.Clean()
			if err != nil {
				return done, err
			}
			done.Found = sanitize.AddFindings(done.Found, found)
		}
		byRef[ref] = append(byRef[ref], c)
	}
	err := s.Locked(ctx, func(t *Tx) error {
		if err := n.check(t.store.View); err != nil {
			return err
		}
		for _, c := range changes {
			if err := t.CheckForgotten(c.Value); err != nil && !c.Remove {
				return fmt.Errorf("%q: %w", history.Clip(c.Key), err)
			}
		}
		op := &format.Operation{Verb: refs.VerbState, Session: n.Session}
		for _, ref := range slices.Sorted(maps.Keys(byRef)) {
			if err := t.change(op, ref, byRef[ref], &done); err != nil {
				return err
			}
		}
		if len(op.Refs) == 0 {
			return nil
		}
		return t.store.Commit(op)
	})
	return done, err
}

// change adds to op what changes the state of one scope.
func (t *Tx) change(
	op *format.Operation, ref string, changes []Change, done *Done,
) error {
	m, err := t.read(t.store.View, ref)
	if err != nil {
		return err
	}
	was := maps.Clone(m)
	touched := map[string]bool{}
	for _, c := range changes {
		touched[c.Key] = true
		if c.Remove {
			delete(m, c.Key)
		} else {
			m[c.Key] = c.Value
		}
	}
	for key := range touched {
		before, had := was[key]
		after, has := m[key]
		switch {
		case had == has && bytes.Equal(before, after):
			done.Same++
		case has:
			done.Set++
		default:
			done.Removed++
		}
	}
	u := format.RefUpdate{Name: ref, Old: t.store.View.Get(ref)}
	if u.New, err = t.valueOf(m); err != nil {
		return fmt.Errorf("%s: %w", ref, err)
	}
	if u.New != u.Old {
		op.Refs = append(op.Refs, u)
	}
	return nil
}

// valueOf stores the keys of a scope, sorted, and returns the value of its ref; no value if
// there are none.
func (t *Tx) valueOf(m map[string]json.RawMessage) (format.Value, error) {
	if len(m) == 0 {
		return format.Value{}, nil
	}
	if len(m) > MaxKeys {
		return format.Value{},
			fmt.Errorf("%w: %d keys, %d is the most", history.ErrInput, len(m), MaxKeys)
	}
	list := lists.Map(slices.Sorted(maps.Keys(m)), func(key string) Pair {
		return Pair{key, m[key]}
	})
	b, err := Encode(list)
	if err != nil {
		return format.Value{}, err
	}
	if len(b) > maxBlob {
		return format.Value{},
			fmt.Errorf("%w: state of %d bytes, %d is the most", history.ErrInput,
				len(b), maxBlob)
	}
	return t.store.AddBlob(b, format.MediaJSON)
}

// Encode returns keys and values as one JSON object, in their order.
func Encode(list []Pair) ([]byte, error) {
	b := []byte{'{'}
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(v.Key)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), v.Value...)
	}
	return append(b, '}'), nil
}

// read returns what the ref of a scope holds; an absent ref holds nothing.
func (s *Reader) read(v *refs.View, ref string) (map[string]json.RawMessage, error) {
	m := map[string]json.RawMessage{}
	id := v.Get(ref).ID
	if id.IsZero() {
		return m, nil
	}
	raw, err := s.Objects.Get(id)
	if err != nil && history.ButGone(err) == nil {
		return m, nil // what was there was forgotten: it is as if nothing had been set
	}
	if err == nil {
		_, err = format.DecodeBlob(raw.Header)
	}
	if err == nil {
		err = json.Unmarshal(raw.Body, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	return m, nil
}

// check refuses names that no ref can have, and a session that does not exist.
func (n Names) check(v *refs.View) error {
	for _, name := range []struct{ what, name string }{{"session", n.Session}, {"app", n.App},
		{"user", n.User}} {
		if name.name == "" {
			continue
		}
		if err := format.CheckName(name.name); err != nil {
			return fmt.Errorf("%w: %s %q: %w", history.ErrInput, name.what,
				history.Clip(name.name), err)
		}
	}
	switch {
	case n.App == "" && n.User != "":
		return fmt.Errorf("%w: a user without an app", history.ErrInput)
	case n.App == "" && n.Session == "":
		return fmt.Errorf("%w: no session and no app", history.ErrInput)
	case n.Session != "" && len(v.Names("sessions/"+n.Session+"/")) == 0:
		return history.UnknownSession(n.Session, history.MainBranch)
	}
	for _, scope := range n.scopes() {
		if err := format.CheckRefName(scope.ref); err != nil {
			return fmt.Errorf("%w: %w", history.ErrInput, err)
		}
	}
	return nil
}

type scope struct{ prefix, ref string }

func (n Names) scopes() (list []scope) {
	if n.Session != "" {
		list = append(list, scope{"", history.StateRefs + "session/" + n.Session})
	}
	if n.App != "" {
		list = append(list, scope{"app:", history.StateRefs + "app/" + n.App})
		if n.User != "" {
			list = append(list,
				scope{"user:", history.StateRefs + "user/" + n.App + "/" + n.User})
		}
	}
	return list
}

// RefOf removes the prefix from a key and returns the ref that it belongs to; "" for a key that is
// never kept.
func (n Names) RefOf(key *string) (ref string, err error) {
	full, prefix := *key, ""
	for _, p := range []string{"app:", "user:", "temp:"} {
		if rest, ok := strings.CutPrefix(full, p); ok {
			*key, prefix = rest, p
		}
	}
	if err := checkKey(*key); err != nil {
		return "", fmt.Errorf("%w: key %q: %w", history.ErrInput, history.Clip(full), err)
	}
	if prefix == "temp:" {
		return "", nil
	}
	for _, scope := range n.scopes() {
		if scope.prefix == prefix {
			return scope.ref, nil
		}
	}
	need := map[string]string{"": "a session", "app:": "an app",
		"user:": "an app and a user"}[prefix]
	return "", fmt.Errorf("%w: key %q needs %s", history.ErrInput, history.Clip(full), need)
}

func checkKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("it is empty")
	case len(key) > MaxKey:
		return fmt.Errorf("it has %d bytes, %d is the most", len(key), MaxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("it is not UTF-8")
	case strings.ContainsFunc(key, unicode.IsControl):
		return fmt.Errorf("it holds a control character")
	}
	if b, _, err := sanitize.Text([]byte(key)); err != nil || string(b) != key {
		return fmt.Errorf("it looks like a secret")
	}
	return nil
}

// Clean compacts and sanitizes a value as the member of an object, since a key may tell that its
// value is a secret.
func (c *Change) Clean() ([]sanitize.Finding, error) {
	bad := func(err error) error {
		return fmt.Errorf("%w: value of %q: %w", history.ErrInput, history.Clip(c.Key), err)
	}
	var value bytes.Buffer
	if err := json.Compact(&value, c.Value); err != nil {
		return nil, bad(err)
	}
	member, err := Encode([]Pair{{c.Key, value.Bytes()}})
	if err != nil {
		return nil, bad(err)
	}
	clean, found, err := sanitize.JSON(member)
	if err != nil {
		return nil, bad(err)
	}
	front := len(member) - value.Len() - 1
	if !bytes.HasPrefix(clean, member[:front]) {
		return nil, bad(fmt.Errorf("the key looks like a secret"))
	}
	c.Value = bytes.Clone(clean[front : len(clean)-1])
	if len(c.Value) > MaxValue {
		return nil, bad(fmt.Errorf("it has %d bytes, %d is the most", len(c.Value), MaxValue))
	}
	return found, nil
}
