package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/refs"
)

// MainBranch is the first branch of every session, and MainForest the forest that all sessions of a
// store share. FlatForest holds the same entries in one cluster; it is there from the first
// compaction by the strategy flat on.
const (
	MainBranch = "main"
	MainForest = "main"
	FlatForest = "flat"
)

// ForestRef is the ref of the main forest.
const ForestRef = "forests/" + MainForest

// ForestRefOf returns the name of the ref of a forest.
func ForestRefOf(name string) string { return "forests/" + name }

// StateRefs begins the names of refs that hold state: state/session/S, state/app/A, state/user/A/U,
// state/parent/S for who called a session, state/about/S for what is said of one, and
// state/removed/S for one that was removed.
const StateRefs = "state/"

// RemovedRefs begins the names of the refs that mark sessions which were removed. A mark stays when
// its session comes back, and counts while the session is not there.
const RemovedRefs = StateRefs + "removed/"

// WasRemoved reports whether a session was removed, and is not there again.
func WasRemoved(view *refs.View, session string) bool {
	return view.Get(RemovedRefs+session).Exists() && len(BranchesIn(view, session)) == 0
}

// RefName is the name of the ref of a session's branch.
func RefName(session, branch string) string { return "sessions/" + session + "/" + branch }

// RecoveredPrefix begins the names of the sessions that a repair makes of history that no branch
// has any more. Such a session may have entries of any other one.
const RecoveredPrefix = "recovered-"

// BranchOfRef splits the name of a branch's ref; ok is false for the name of another ref.
func BranchOfRef(name string) (session, branch string, ok bool) {
	rest, ok := strings.CutPrefix(name, "sessions/")
	session, branch, cut := strings.Cut(rest, "/")
	return session, branch, ok && cut
}

// SessionsOf returns the names of all sessions, in order.
func SessionsOf(v *refs.View) []string {
	list := lists.Map(v.Names("sessions/"), func(ref string) string {
		session, _, _ := BranchOfRef(ref)
		return session
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// BranchName names a branch of a session.
type BranchName struct{ Session, Branch string }

// BranchesIn returns the names of a session's branches, in order.
func BranchesIn(view *refs.View, session string) []string {
	prefix := RefName(session, "")
	names := view.Names(prefix)
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, prefix)
	}
	return names
}

// MinPrefix is how many bytes of a session's name have to be given at least.
const MinPrefix = 4

// AmbiguousNameError says that the names of several sessions begin with Prefix.
type AmbiguousNameError struct {
	Prefix string
	Names  []string
}

func (e *AmbiguousNameError) Error() string {
	list := e.Names[:min(len(e.Names), 8)]
	text := fmt.Sprintf("session name %q is ambiguous: %s", Clip(e.Prefix),
		strings.Join(list, ", "))
	if more := len(e.Names) - len(list); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Named returns the session that a name means: the session of that name, else the one session whose
// name begins with it, in 4 bytes or more. Sessions of subagents are named for the session that
// they work for, with a dot, and those of other stores end with their label, PREFIX@STORE: neither
// is taken for the session before the dot or the label, and that part may be a beginning, too. The
// name of a session that was removed means no other one.
// Errors: ErrNotFound, *AmbiguousNameError.
func Named(view *refs.View, name string) (string, error) {
	if len(view.Names("sessions/"+name+"/")) > 0 {
		return name, nil
	}
	if WasRemoved(view, name) {
		return "", UnknownSession(name, MainBranch)
	}
	found := namedFrom(view, name, "")
	if at := strings.LastIndexByte(name, '@'); len(found) == 0 && at >= 0 {
		found = namedFrom(view, name[:at], name[at:])
	}
	if up, rest, ok := strings.Cut(name, "."); ok && len(found) == 0 {
		if parent, err := Named(view, up); err == nil &&
			len(view.Names("sessions/"+parent+"."+rest+"/")) > 0 {
			return parent + "." + rest, nil
		}
	}
	switch len(found) {
	case 0:
		return "", UnknownSession(name, MainBranch)
	case 1:
		return found[0], nil
	}
	return "", &AmbiguousNameError{Prefix: name, Names: found}
}

// namedFrom returns the sessions that a beginning of a name, and its end, may mean.
func namedFrom(view *refs.View, begin, end string) (found []string) {
	if len(begin) < MinPrefix {
		return nil
	}
	for _, ref := range view.Names("sessions/" + begin) {
		one, _, _ := strings.Cut(strings.TrimPrefix(ref, "sessions/"), "/")
		if strings.HasSuffix(one, end) && (len(found) == 0 || found[len(found)-1] != one) {
			found = append(found, one)
		}
	}
	if len(found) < 2 {
		return found
	}
	least := slices.MinFunc(found, func(a, b string) int { return len(a) - len(b) })
	base := strings.TrimSuffix(least, end)
	if slices.ContainsFunc(found, func(name string) bool {
		return name != least && !strings.HasPrefix(name, base+".") &&
			!strings.HasPrefix(name, base+"@")
	}) {
		return found
	}
	return []string{least}
}

// NamedOr is Named, but returns name itself where there is no such session: the caller has an
// answer of its own for that.
func NamedOr(view *refs.View, name string) (string, error) {
	found, err := Named(view, name)
	if errors.Is(err, ErrNotFound) {
		return name, nil
	}
	return found, err
}

// Clip cuts a text from outside to 80 bytes, for an error message.
func Clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// FitSession makes a valid session name out of an agent's id.
func FitSession(s string) string {
	if s == "" || format.CheckName(s) == nil {
		return s
	}
	sum := format.Sum([]byte(s))
	return "sha256:" + sum.Short(32)
}

// OrNothing is an id in a sentence.
func OrNothing(id format.ID) string {
	if id.IsZero() {
		return "nothing"
	}
	return id.String()
}

// OriginRefs begins the names of the refs of sessions that go on with another one. The rest is the
// first session of the line and the session, with a slash between. The object is the entry that the
// session goes on from.
const OriginRefs = StateRefs + "origin/"

// OriginRef returns the name of the ref of a session that goes on with another one, which is origin
// or itself goes on with it.
func OriginRef(origin, session string) string { return OriginRefs + origin + "/" + session }

// OriginOf returns the first session of the line that a session goes on with: itself, if it goes on
// with none.
func OriginOf(view *refs.View, session string) string {
	for _, name := range view.Names(OriginRefs) {
		if origin, one, _ := strings.Cut(name[len(OriginRefs):], "/"); one == session {
			return origin
		}
	}
	return session
}

// Relatives returns the other sessions of this store that may share entries with a session, in
// order. Two sessions share what was said before one went on with the other, or before both went on
// with a third one. more are refs that move: those of an origin count like those in view.
func Relatives(view *refs.View, session string, more ...string) (list []string) {
	origins := map[string]bool{OriginOf(view, session): true}
	for _, name := range more {
		if rest, ok := strings.CutPrefix(name, OriginRefs); ok {
			origin, _, _ := strings.Cut(rest, "/")
			origins[origin] = true
		}
	}
	add := func(other string) {
		_, shared := Owner(view, other)
		if !shared && other != session && len(BranchesIn(view, other)) > 0 {
			list = append(list, other)
		}
	}
	for origin := range origins {
		add(origin)
		for _, name := range view.Names(OriginRef(origin, "")) {
			add(name[len(OriginRef(origin, "")):])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// LabelRefs begins the names of the refs of the other stores that this one knows: the rest is the
// label of the store. The blob has its id and its public key, and never changes.
const LabelRefs = StateRefs + "label/"

// StoreRefs begins the names of the refs of other stores as this one last saw them on a remote: the
// rest is the label of the store and the name of the remote. The blob is the head of the store
// there, docs/format/remote.md.
const StoreRefs = StateRefs + "store/"

// StoreRef returns the name of the ref of a store on a remote.
func StoreRef(label, remote string) string { return StoreRefs + label + "/" + remote }

// RemoteRefs begins the names of the refs of what this store has put on remotes: the rest is the
// name of the remote. The blob is the head of this store there.
const RemoteRefs = StateRefs + "remote/"

// KeyRef is the ref of a blob that only the store's key gives. It is there from the first pull on:
// entries that another store made do not tell which key is this one's.
const KeyRef = StateRefs + "key"

// SharedName returns the name that a session of another store has in this one.
func SharedName(session, label string) string { return session + "@" + label }

// SharedForestRef returns the name of the ref of what the store of a label shares of its main
// forest. It comes with a pull. No decision of this store is about it, so no replay makes it.
func SharedForestRef(label string) string { return ForestRef + "@" + label }

// SharedForests returns the labels of the stores whose forests this one has, in order.
func SharedForests(view *refs.View) []string {
	return lists.Map(view.Names(SharedForestRef("")), func(ref string) string {
		return strings.TrimPrefix(ref, SharedForestRef(""))
	})
}

// SharedForest returns the forest that another store shares; nil for none.
func (s *Reader) SharedForest(view *refs.View, label string) (*forest.State, error) {
	id := view.Get(SharedForestRef(label)).ID
	if id.IsZero() {
		return nil, nil
	}
	return s.ReadForest(id)
}

// CheckOwn returns ErrRefused for a session of another store.
func CheckOwn(view *refs.View, session string) error {
	if label, shared := Owner(view, session); shared {
		return fmt.Errorf("%w: session %q is %s's, and only a pull changes it", ErrRefused,
			Clip(session), label)
	}
	return nil
}

// Owner returns the label of the store that a session belongs to; shared is false for a session of
// this store. Only a pull changes a session of another store.
func Owner(view *refs.View, session string) (label string, shared bool) {
	at := strings.LastIndexByte(session, '@')
	if at < 0 {
		return "", false
	}
	label = session[at+1:]
	return label, label != "" && view.Get(LabelRefs+label).Exists()
}
