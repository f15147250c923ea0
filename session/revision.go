package session

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// AmbiguousError says that a short id could be several objects.
type AmbiguousError struct {
	Prefix string
	Kinds  []string // of the objects, as IDs
	IDs    []format.ID
}

func (e *AmbiguousError) Error() string {
	var list []string
	for i, id := range e.IDs[:min(len(e.IDs), 8)] {
		list = append(list, id.Short(16)+" "+e.Kinds[i])
	}
	if len(e.IDs) > 8 {
		list = append(list, fmt.Sprintf("and %d more", len(e.IDs)-8))
	}
	return fmt.Sprintf("short id %q is ambiguous: %s", e.Prefix, strings.Join(list, ", "))
}

// Resolve finds the object that a revision names: a full id, which nobody looks for, or a unique prefix of at least 4 digits, `@` or `HEAD` (the tip of HEAD's session), `<session>`,
// `<session>/<branch>`, the name of a ref, each with `~n` (n steps along first parents) and `@{n}` (the value n moves ago). Where a
// prefix fits objects of several kinds, an entry is preferred, then a cluster. A session is also named by the beginning of its name (see Named), where
// nothing else has that name.
func (s *Store) Resolve(view *refs.View, rev string) (format.ID, error) {
	base, steps, err := cutSteps(rev)
	if err != nil {
		return format.ID{}, err
	}
	id, err := s.resolveBase(view, base)
	if err != nil || steps == 0 {
		return id, err
	}
	for n := steps; n > 0; n-- {
		e, err := s.entry(id)
		if err != nil {
			return format.ID{}, err
		}
		if len(e.Parents) == 0 {
			return format.ID{}, fmt.Errorf("%w: %q goes back before the first entry", ErrNotFound, clip(rev))
		}
		id = e.Parents[0]
	}
	return id, nil
}

// cutSteps splits `rev~3` and `rev~`; several add up.
func cutSteps(rev string) (base string, steps int, err error) {
	base = rev
	for {
		i := strings.LastIndexByte(base, '~')
		if i < 0 {
			return base, steps, nil
		}
		n := 1
		if digits := base[i+1:]; digits != "" {
			if n, err = strconv.Atoi(digits); err != nil || n < 0 || n > 1<<30 {
				return base, steps, nil // a session's name may hold a tilde
			}
		}
		base, steps = base[:i], steps+n
	}
}

func (s *Store) resolveBase(view *refs.View, rev string) (format.ID, error) {
	if name, n, ok := cutReflog(rev); ok {
		return s.ago(view, name, n)
	}
	if name, v := s.refOf(view, rev); name != "" {
		return v.ID, nil
	}
	if id, err := format.ParseID(rev); err == nil {
		return id, nil
	}
	if len(rev) >= 4 && len(rev) < format.IDLen && isHex(rev) {
		id, err := s.resolvePrefix(view, rev)
		if IsMissing(err) {
			if tip, notNamed := s.resolveNamed(view, rev); !IsMissing(notNamed) {
				return tip, notNamed
			}
		}
		return id, err
	}
	return s.resolveNamed(view, rev)
}

// resolveNamed finds the tip of a branch by the beginning of its session's name.
func (s *Store) resolveNamed(view *refs.View, rev string) (format.ID, error) {
	unknown := fmt.Errorf("%w: no session, ref or object %q", ErrNotFound, clip(rev))
	prefix, branch, inBranch := strings.Cut(rev, "/")
	if !inBranch {
		branch = MainBranch
	}
	name, err := Named(view, prefix)
	if errors.Is(err, ErrNotFound) {
		return format.ID{}, unknown
	}
	if err != nil {
		return format.ID{}, err
	}
	v := view.Get(RefName(name, branch))
	if !v.Exists() {
		return format.ID{}, unknown
	}
	return v.ID, nil
}

// refOf returns the ref that a revision names, and its value.
func (s *Store) refOf(view *refs.View, rev string) (string, format.Value) {
	if rev == "@" || rev == "HEAD" || rev == "" {
		rev = view.Get("HEAD").Name
		if rev == "" {
			return "", format.Value{}
		}
	}
	for _, name := range []string{rev, strings.TrimPrefix(rev, "refs/"), "sessions/" + rev, "sessions/" + rev + "/" + MainBranch, "user/" + rev} {
		if v := view.Get(name); v.Exists() && v.Kind != format.NameValue {
			return name, v
		}
	}
	return "", format.Value{}
}

func cutReflog(rev string) (name string, n int, ok bool) {
	rest, found := strings.CutSuffix(rev, "}")
	if !found {
		return "", 0, false
	}
	name, digits, found := strings.Cut(rest, "@{")
	if !found {
		return "", 0, false
	}
	n, err := strconv.Atoi(digits)
	return name, n, err == nil && n >= 0
}

// ago returns what a ref held n moves ago.
func (s *Store) ago(view *refs.View, rev string, n int) (format.ID, error) {
	name, v := s.refOf(view, rev)
	if name == "" {
		return format.ID{}, fmt.Errorf("%w: no ref %q", ErrNotFound, clip(rev))
	}
	left := n
	err := s.Refs.Backward(view, func(r refs.Record) bool {
		for _, u := range r.Op.Refs {
			if u.Name == name && left > 0 {
				v = u.Old
				left--
			}
		}
		return left > 0
	})
	if err != nil {
		return format.ID{}, err
	}
	if left > 0 || !v.Exists() {
		return format.ID{}, fmt.Errorf("%w: the log of %s reaches back %d moves", ErrNotFound, name, n-left)
	}
	return v.ID, nil
}

func isHex(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// kindOrder is what a short id means first.
var kindOrder = []string{"entry", "node", "tombstone", "summary", "forest", "epoch", "blob", "page"}

func (s *Store) resolvePrefix(view *refs.View, prefix string) (format.ID, error) {
	ids, err := s.Objects.Prefix(prefix)
	if err != nil {
		return format.ID{}, err
	}
	byKind := map[string][]format.ID{}
	for _, id := range ids {
		header, err := s.Objects.Header(id)
		if err != nil {
			return format.ID{}, err
		}
		kind, _, err := format.HeaderKind(header)
		if err != nil {
			return format.ID{}, fmt.Errorf("object %v: %w", id, err)
		}
		byKind[kind] = append(byKind[kind], id)
	}
	for _, kind := range kindOrder {
		switch list := byKind[kind]; {
		case len(list) == 1:
			return list[0], nil
		case len(list) > 1:
			kinds := make([]string, len(list))
			for i := range kinds {
				kinds[i] = kind
			}
			return format.ID{}, &AmbiguousError{Prefix: prefix, IDs: list, Kinds: kinds}
		}
	}
	id, ok, err := s.resolveUnwritten(view, prefix)
	if err != nil {
		return format.ID{}, err
	}
	if !ok {
		return format.ID{}, fmt.Errorf("%w: no object %s", ErrNotFound, prefix)
	}
	return id, nil
}

// IsMissing reports whether err says that something named does not exist.
func IsMissing(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, objects.ErrNotFound)
}
