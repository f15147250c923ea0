package history

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/refs"
)

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
