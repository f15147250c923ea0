package session

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
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// The most of a state: bytes of a key without its prefix and of a value, keys of a scope and bytes of all of it.
const (
	MaxStateKey   = 200
	MaxStateValue = 1 << 20
	maxStateKeys  = 10_000
	maxStateBlob  = 4 << 20
)

// stateRefs begins the names of refs that hold state: state/session/S, state/app/A, state/user/A/U, and state/parent/S for who called a session.
const stateRefs = "state/"

// StateNames say whose state is meant. A session has keys of its own, and shares those with the prefix app: with every session of the app, and those
// with user: with every session of the app's user. App and User are "" where these are not asked for.
type StateNames struct{ Session, App, User string }

// StateValue is a key, with its prefix, and its value: JSON without white space between tokens.
type StateValue struct {
	Key   string
	Value json.RawMessage
}

// StateChange sets a key, or takes it away. null is a value like any other.
type StateChange struct {
	StateValue
	Remove bool
}

// StateDone is what SetState did.
type StateDone struct {
	Set, Removed int // keys that have another value, or none, since
	Same         int // keys that were so before
	Temp         int // keys with the prefix temp:, which are never kept
	Found        []sanitize.Finding
}

// State returns the keys that a session sees, by key. What is shared has its prefix, and one value for everybody. ErrNotFound says that there is no such
// session; with an app, the session may be left out.
func (s *Store) State(v *refs.View, n StateNames) ([]StateValue, error) {
	if err := n.check(v); err != nil {
		return nil, err
	}
	var out []StateValue
	for _, scope := range n.scopes() {
		m, err := s.readState(v, scope.ref)
		if err != nil {
			return nil, err
		}
		for key, value := range m {
			out = append(out, StateValue{scope.prefix + key, value})
		}
	}
	slices.SortFunc(out, func(a, b StateValue) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// SetState makes changes to the state that a session sees, in their order, in one operation; of the same key twice the later holds. Values are
// cleaned as messages are. Undo of the session takes the operation back, if nobody has changed the same scopes since; a rewind leaves state alone.
func (s *Store) SetState(ctx context.Context, n StateNames, changes []StateChange) (StateDone, error) {
	var done StateDone
	byRef := map[string][]StateChange{} // without prefix
	for _, c := range changes {
		ref, err := n.refOf(&c.Key)
		if err != nil {
			return done, err
		}
		if ref == "" {
			done.Temp++
			continue
		}
		if !c.Remove {
			found, err := c.clean()
			if err != nil {
				return done, err
			}
			done.Found = addFindings(done.Found, found)
		}
		byRef[ref] = append(byRef[ref], c)
	}
	err := s.locked(ctx, func(t *tx) error {
		if err := n.check(t.view); err != nil {
			return err
		}
		for _, c := range changes {
			if err := t.CheckForgotten(c.Value); err != nil && !c.Remove {
				return fmt.Errorf("%q: %w", clip(c.Key), err)
			}
		}
		op := &format.Operation{Verb: refs.VerbState, Session: n.Session}
		for _, ref := range slices.Sorted(maps.Keys(byRef)) {
			if err := t.changeState(op, ref, byRef[ref], &done); err != nil {
				return err
			}
		}
		if len(op.Refs) == 0 {
			return nil
		}
		return t.commit(op)
	})
	return done, err
}

// changeState adds to op what makes changes to a scope.
func (t *tx) changeState(op *format.Operation, ref string, changes []StateChange, done *StateDone) error {
	m, err := t.readState(t.view, ref)
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
	u := format.RefUpdate{Name: ref, Old: t.view.Get(ref)}
	if u.New, err = t.stateValue(m); err != nil {
		return fmt.Errorf("%s: %w", ref, err)
	}
	if u.New != u.Old {
		op.Refs = append(op.Refs, u)
	}
	return nil
}

// stateValue has a blob put with a scope's keys, sorted, and returns what the ref is to hold: nothing where there are none.
func (t *tx) stateValue(m map[string]json.RawMessage) (format.Value, error) {
	if len(m) == 0 {
		return format.Value{}, nil
	}
	if len(m) > maxStateKeys {
		return format.Value{}, fmt.Errorf("%w: %d keys, %d is the most", ErrInput, len(m), maxStateKeys)
	}
	var list []StateValue
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, StateValue{key, m[key]})
	}
	b, err := EncodeState(list)
	if err != nil {
		return format.Value{}, err
	}
	if len(b) > maxStateBlob {
		return format.Value{}, fmt.Errorf("%w: state of %d bytes, %d is the most", ErrInput, len(b), maxStateBlob)
	}
	return t.blob(b)
}

// blob has JSON put as a blob, and returns the value of a ref that names it.
func (t *tx) blob(b []byte) (format.Value, error) {
	header, err := format.EncodeBlob(format.SumBody(b, "application/json"))
	if err != nil {
		return format.Value{}, err
	}
	return format.Value{Kind: format.ObjectValue, ID: t.add(format.Raw{Header: header, Body: b})}, nil
}

// EncodeState returns keys and values as one JSON object, in their order.
func EncodeState(list []StateValue) ([]byte, error) {
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

// readState reads what the ref of a scope holds; a ref that is not there holds nothing.
func (s *Store) readState(v *refs.View, ref string) (map[string]json.RawMessage, error) {
	m := map[string]json.RawMessage{}
	id := v.Get(ref).ID
	if id.IsZero() {
		return m, nil
	}
	raw, err := s.Objects.Get(id)
	if err != nil && butGone(err) == nil {
		return m, nil // what was there was forgotten: it is as if nothing had been set
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	if _, err := format.DecodeBlob(raw.Header); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	if err := json.Unmarshal(raw.Body, &m); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	return m, nil
}

// check refuses names that no ref can have, and a session that is not there.
func (n StateNames) check(v *refs.View) error {
	for _, name := range []struct{ what, name string }{{"session", n.Session}, {"app", n.App}, {"user", n.User}} {
		if name.name == "" {
			continue
		}
		if err := format.CheckName(name.name); err != nil {
			return fmt.Errorf("%w: %s %q: %w", ErrInput, name.what, clip(name.name), err)
		}
	}
	switch {
	case n.App == "" && n.User != "":
		return fmt.Errorf("%w: a user without an app", ErrInput)
	case n.App == "" && n.Session == "":
		return fmt.Errorf("%w: no session and no app", ErrInput)
	case n.Session != "" && len(v.Names("sessions/"+n.Session+"/")) == 0:
		return unknownSession(n.Session, MainBranch)
	}
	for _, scope := range n.scopes() {
		if err := format.CheckRefName(scope.ref); err != nil {
			return fmt.Errorf("%w: %w", ErrInput, err)
		}
	}
	return nil
}

type stateScope struct{ prefix, ref string }

func (n StateNames) scopes() (list []stateScope) {
	if n.Session != "" {
		list = append(list, stateScope{"", stateRefs + "session/" + n.Session})
	}
	if n.App != "" {
		list = append(list, stateScope{"app:", stateRefs + "app/" + n.App})
		if n.User != "" {
			list = append(list, stateScope{"user:", stateRefs + "user/" + n.App + "/" + n.User})
		}
	}
	return list
}

// refOf takes the prefix off a key and returns the ref that it belongs to; "" for a key that is never kept.
func (n StateNames) refOf(key *string) (ref string, err error) {
	full, prefix := *key, ""
	for _, p := range []string{"app:", "user:", "temp:"} {
		if rest, ok := strings.CutPrefix(full, p); ok {
			*key, prefix = rest, p
		}
	}
	if err := checkStateKey(*key); err != nil {
		return "", fmt.Errorf("%w: key %q: %w", ErrInput, clip(full), err)
	}
	if prefix == "temp:" {
		return "", nil
	}
	for _, scope := range n.scopes() {
		if scope.prefix == prefix {
			return scope.ref, nil
		}
	}
	need := map[string]string{"": "a session", "app:": "an app", "user:": "an app and a user"}[prefix]
	return "", fmt.Errorf("%w: key %q needs %s", ErrInput, clip(full), need)
}

func checkStateKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("it is empty")
	case len(key) > MaxStateKey:
		return fmt.Errorf("it has %d bytes, %d is the most", len(key), MaxStateKey)
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

// clean sanitises a value as the member of an object that it is: a key that names a secret tells what its value is.
func (c *StateChange) clean() ([]sanitize.Finding, error) {
	bad := func(err error) error { return fmt.Errorf("%w: value of %q: %w", ErrInput, clip(c.Key), err) }
	var value bytes.Buffer
	if err := json.Compact(&value, c.Value); err != nil {
		return nil, bad(err)
	}
	member, err := EncodeState([]StateValue{{c.Key, value.Bytes()}})
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
	if len(c.Value) > MaxStateValue {
		return nil, bad(fmt.Errorf("it has %d bytes, %d is the most", len(c.Value), MaxStateValue))
	}
	return found, nil
}
