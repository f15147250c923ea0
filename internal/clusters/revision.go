package clusters

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
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
		if id, ok, err := s.resolvePrefix(rev); ok || err != nil {
			return id, err
		}
		if tip, err := s.resolveNamed(view, rev); !IsMissing(err) {
			return tip, err
		}
		// Last, because it reads all clusters
		if run, id, err := s.runOf(view, rev); run != nil || err != nil {
			return id, err
		}
		return format.ID{}, s.noObject(view, rev)
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

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// resolvePrefix finds the object whose id begins with a prefix; of several, the one of the first
// kind.
func (s *Reader) resolvePrefix(prefix string) (id format.ID, ok bool, err error) {
	ids, err := s.Objects.Prefix(prefix)
	if err != nil {
		return format.ID{}, false, err
	}
	byKind := map[string][]format.ID{}
	for _, id := range ids {
		header, err := s.Objects.Header(id)
		if err != nil {
			return format.ID{}, false, err
		}
		kind, _, err := format.HeaderKind(header)
		if err != nil {
			return format.ID{}, false, fmt.Errorf("object %v: %w", id, err)
		}
		byKind[kind] = append(byKind[kind], id)
	}
	for k := range format.AnyKind {
		kind := k.String()
		switch list := byKind[kind]; {
		case len(list) == 1:
			return list[0], true, nil
		case len(list) > 1:
			kinds := slices.Repeat([]string{kind}, len(list))
			return id, false, &AmbiguousError{Prefix: prefix, IDs: list, Kinds: kinds}
		}
	}
	return id, false, nil
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

// NewestOperation is the name of the newest operation.
const NewestOperation = "@"

// Operation returns the number of an operation. name is NewestOperation, a decimal number, or a
// digest or a prefix of one with at least 4 digits. It returns ErrNotFound if there is no such
// operation yet, and ErrGone if the operation is older than the log.
func (s *Reader) Operation(view *refs.View, name string) (uint64, error) {
	if name == NewestOperation {
		if view.Number == 0 {
			return 0, fmt.Errorf("%w: no operation yet", history.NoStep)
		}
		return view.Number, nil
	}
	if n, err := strconv.ParseUint(name, 10, 64); err == nil {
		return n, s.inLog(view, n)
	}
	if len(name) < 4 || len(name) > format.IDLen || !isHex(name) {
		return 0, fmt.Errorf("%w: %q is neither the number of an operation nor the digest of one",
			history.ErrInput, history.Clip(name))
	}
	var found []uint64
	err := s.Refs.Backward(view, func(r refs.Record) bool {
		if strings.HasPrefix(r.Digest.String(), name) {
			found = append(found, r.Op.Number)
		}
		return len(found) < 2
	})
	switch {
	case err != nil:
		return 0, err
	case len(found) == 0:
		return 0, fmt.Errorf("%w: no operation with the digest %s in the log", history.NoStep, name)
	case len(found) > 1:
		return 0, fmt.Errorf("%w: digest %s is ambiguous: operations %d and %d", history.NoStep,
			name, found[1], found[0])
	}
	return found[0], nil
}

// inLog reports whether the refs after an operation can be had from the kept log.
func (s *Reader) inLog(view *refs.View, number uint64) error {
	base, err := s.Refs.Base()
	switch {
	case err != nil:
		return err
	case number == 0:
		return fmt.Errorf("%w: operations are numbered from 1", history.ErrInput)
	case number > view.Number:
		return fmt.Errorf("%w: no operation %d yet: the newest is %d", history.NoStep,
			number, view.Number)
	case number < base.Number:
		return fmt.Errorf("%w: operation %d is older than the log, which begins after operation %d",
			history.ErrGone, number, base.Number)
	}
	return nil
}

// ForestAt returns the main forest as it was after an operation. It reads the newest complete
// forest before the operation, or the forest at the beginning of the log if gc has removed the
// others, and applies the later decisions. Errors are those of Operation.
func (s *Reader) ForestAt(view *refs.View, number uint64) (*forest.State, error) {
	return s.ForestOfAt(view, history.MainForest, number)
}

// ForestOfAt is ForestAt for the forest of a name.
func (s *Reader) ForestOfAt(view *refs.View, name string, number uint64) (*forest.State, error) {
	if err := s.inLog(view, number); err != nil {
		return nil, err
	}
	start, decisions, err := s.forestBefore(view, name, number)
	if err != nil {
		return nil, err
	}
	st, err := s.ReadForest(start)
	if err != nil {
		return nil, err
	}
	st.Name = name // an empty forest has no name
	return st, st.ApplyAll(decisions)
}

// forestBefore returns the newest complete forest of a name up to an operation, the zero ID for
// an empty forest, and the decisions between the two.
func (s *Reader) forestBefore(
	view *refs.View, name string, number uint64,
) (start format.ID, decisions []format.Decision, err error) {
	var since [][]format.Decision // newest first
	found := false
	var failed error
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		if r.Op.Number > number {
			return true
		}
		for _, u := range r.Op.Refs {
			if u.Name == history.ForestRefOf(name) {
				if found, failed = s.isWhole(u.New.ID); found {
					start = u.New.ID
				}
			}
		}
		if found || failed != nil {
			return false
		}
		for _, f := range r.Op.Forests {
			if f.Name == name {
				since = append(since, f.Decisions)
			}
		}
		return true
	})
	if err := errors.Join(failed, err); err != nil {
		return start, nil, err
	}
	if !found {
		base, err := s.Refs.Base()
		if err != nil {
			return start, nil, err
		}
		for _, r := range base.Refs {
			if r.Name == history.ForestRefOf(name) {
				start = r.Value.ID // it is truth, and there
			}
		}
	}
	for _, list := range slices.Backward(since) {
		decisions = append(decisions, list...)
	}
	return start, decisions, nil
}

// isWhole reports whether a forest is complete: whether the nodes of its live clusters and the
// pages of its tombstones exist. The log keeps everything that decisions name.
func (s *Reader) isWhole(id format.ID) (bool, error) {
	if id.IsZero() {
		return true, nil
	}
	st, err := s.ReadForest(id)
	if err == nil {
		_, err = st.Evicted()
	}
	if err == nil {
		for _, c := range st.Live() {
			if _, err = st.Members(c); err != nil {
				break
			}
		}
	}
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
