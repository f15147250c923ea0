package clusters

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
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

// Resolve finds the object that a revision names: a full id, which need not exist, a unique
// prefix of at least 4 digits, `@` or `HEAD` (the tip of HEAD's session), `<session>`,
// `<session>/<branch>` or the name of a ref, each with `~n` (n steps along first parents) and
// `@{n}` (the value n moves ago). If a prefix fits objects of several kinds, an entry comes
// first, then a cluster. If nothing else has the name, it may be the beginning of the name of a
// session (see history.Named).
func (s *Reader) Resolve(view *refs.View, rev string) (format.ID, error) {
	base, steps, err := CutSteps(rev)
	if err != nil {
		return format.ID{}, err
	}
	id, err := s.resolveBase(view, base)
	if err != nil || steps == 0 {
		return id, err
	}
	for n := steps; n > 0; n-- {
		e, err := s.Header(id)
		if err != nil {
			return format.ID{}, err
		}
		if len(e.Parents) == 0 {
			return format.ID{},
				fmt.Errorf("%w: %q goes back before the first entry", history.NoStep,
					history.Clip(rev))
		}
		id = e.Parents[0]
	}
	return id, nil
}

// CutSteps splits `rev~3`, `rev~` and `rev^`; several add up.
func CutSteps(rev string) (base string, steps int, err error) {
	base = rev
	for {
		i := strings.LastIndexAny(base, "~^")
		if i < 0 || base[i] == '^' && i+1 < len(base) {
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

func (s *Reader) resolveBase(view *refs.View, rev string) (format.ID, error) {
	if name, n, ok := cutReflog(rev); ok {
		return s.ago(view, name, n)
	}
	if name, v := s.ResolveRef(view, rev); name != "" {
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
func (s *Reader) resolveNamed(view *refs.View, rev string) (format.ID, error) {
	unknown := fmt.Errorf("%w: no session, ref or object %q", history.ErrNotFound,
		history.Clip(rev))
	prefix, branch, inBranch := strings.Cut(rev, "/")
	if !inBranch {
		branch = history.MainBranch
	}
	name, err := history.Named(view, prefix)
	if errors.Is(err, history.ErrNotFound) {
		return format.ID{}, unknown
	}
	if err != nil {
		return format.ID{}, err
	}
	v := view.Get(history.RefName(name, branch))
	if !v.Exists() {
		return format.ID{}, unknown
	}
	return v.ID, nil
}

// ResolveRef returns the ref that a revision names, and its value.
func (s *Reader) ResolveRef(view *refs.View, rev string) (string, format.Value) {
	if rev == "@" || rev == "HEAD" || rev == "" {
		rev = view.Get("HEAD").Name
		if rev == "" {
			return "", format.Value{}
		}
	}
	for _, name := range []string{rev, strings.TrimPrefix(rev, "refs/"), "sessions/" + rev,
		"sessions/" + rev + "/" + history.MainBranch, "user/" + rev} {
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

// ago returns the value of a ref n moves ago.
func (s *Reader) ago(view *refs.View, rev string, n int) (format.ID, error) {
	name, v := s.ResolveRef(view, rev)
	if name == "" {
		return format.ID{}, fmt.Errorf("%w: no ref %q", history.ErrNotFound, history.Clip(rev))
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
		return format.ID{},
			fmt.Errorf("%w: the log of %s reaches back %d moves", history.NoStep, name, n-left)
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

func (s *Reader) resolvePrefix(view *refs.View, prefix string) (format.ID, error) {
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
	for k := range format.AnyKind {
		kind := k.String()
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
		return format.ID{}, s.noObject(view, prefix)
	}
	return id, nil
}

// noObject returns the error for an id, or the first digits of one, that the store does not have. A
// damaged object may have been it.
func (s *Reader) noObject(view *refs.View, id string) error {
	if err := s.Refs.Unsound(view); err != nil {
		return err
	}
	return fmt.Errorf("%w: no object %s", history.NoID, id)
}

// IsMissing reports whether err says that something named does not exist.
func IsMissing(err error) bool {
	return errors.Is(err, history.ErrNotFound) || errors.Is(err, objects.ErrNotFound)
}

// ResolveObject is Resolve for input of a user: a full id that names nothing is ErrNotFound,
// which tells it from an object that is missing in a damaged store. A cluster whose node is not
// written yet is found.
func (s *Reader) ResolveObject(view *refs.View, rev string) (format.ID, error) {
	if rev == "" {
		return format.ID{}, fmt.Errorf("%w: an empty name", history.ErrNotFound)
	}
	id, err := s.Resolve(view, rev)
	if err != nil || id.String() != rev {
		return id, err
	}
	if ok, err := s.Objects.Has(id); ok || err != nil {
		return id, err
	}
	// A prefix is looked for among unwritten nodes, too.
	if near, err := s.Resolve(view, rev[:len(rev)-1]); err == nil && near == id {
		return id, nil
	}
	return id, s.noObject(view, rev)
}

// ResolveEntry is ResolveObject for an entry. It returns ErrNotFound for another kind of object.
func (s *Reader) ResolveEntry(view *refs.View, rev string) (format.ID, error) {
	id, err := s.ResolveObject(view, rev)
	if err != nil {
		return id, err
	}
	header, err := s.Objects.Header(id)
	if err != nil {
		return id, err
	}
	kind, _, err := format.HeaderKind(header)
	if err == nil && kind != "entry" {
		err = fmt.Errorf("%w: %q is a %s, not an entry", history.NoID, rev, kind)
	}
	return id, err
}

// InBranch returns a revision that begins with `@` as a revision of a branch, because the user
// has named the session.
func InBranch(rev, name, branch string) string {
	rest, found := strings.CutPrefix(rev, "@")
	if found && (rest == "" || rest[0] == '~' || rest[0] == '{') {
		if rest != "" && rest[0] == '{' {
			rest = "@" + rest
		}
		return fmt.Sprintf("%s/%s%s", name, branch, rest)
	}
	return rev
}
