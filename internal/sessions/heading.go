package sessions

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// The least length of a short name, and of a name that is not shortened.
const (
	shortName = 8
	wholeName = 24
)

// ShortNames returns, for each session of a list, the beginning of its name by which commands find
// it. A name of moderate length is not shortened: a person gave it. Nor is the label of another
// store.
func ShortNames(sessions []string) map[string]string {
	names := make([]string, len(sessions))
	for i, session := range sessions {
		names[i], _ = splitLabel(session)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	short := make(map[string]string, len(sessions))
	for i, name := range names {
		n := shortName
		if i > 0 {
			n = max(n, common(name, names[i-1])+1)
		}
		for _, next := range names[i+1:] {
			if !strings.HasPrefix(next, name+".") { // see history.Named
				n = max(n, common(name, next)+1)
				break
			}
		}
		if up, rest, ok := parentName(short, name); ok {
			short[name] = up + rest
			continue
		}
		if len(name) < wholeName || n >= len(name) {
			n = len(name)
		}
		short[name] = name[:n]
	}
	for _, session := range sessions {
		if name, label := splitLabel(session); label != "" {
			short[session] = short[name] + label
		}
	}
	return short
}

// splitLabel splits the name of a session of another store into its name there and the label, with
// its mark.
func splitLabel(name string) (session, label string) {
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		return name[:at], name[at:]
	}
	return name, ""
}

// parentName splits the name of a subagent's session into the short name of the session that it is
// named for, and the rest. In a sorted list the other one comes first.
func parentName(short map[string]string, name string) (up, rest string, ok bool) {
	i := strings.IndexByte(name, '.')
	if i < 0 {
		return "", "", false
	}
	up, ok = short[name[:i]]
	return up, name[i:], ok
}

// common returns the length of the longest common beginning of two names.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// ShortName returns the short name of a session among all sessions.
func ShortName(v *refs.View, session string) string {
	if short, ok := ShortNames(history.SessionsOf(v))[session]; ok {
		return short
	}
	return session
}
