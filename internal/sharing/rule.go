package sharing

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// Rule says which sessions are shared.
type Rule struct {
	patterns []string // with ! in front for those that take sessions out
}

// ParseRule reads a rule: "all", "none" or "", or patterns with commas between them, as path.Match
// has them; eight or more digits of a session that is named by a UUID match it, too. A pattern with
// ! in front takes sessions out again; the last one that matches counts. "all" may be among
// patterns and matches every session.
func ParseRule(text string) (Rule, error) {
	var r Rule
	if text == "" || text == "none" {
		return r, nil
	}
	for p := range strings.SplitSeq(text, ",") {
		p = strings.TrimSpace(p)
		plain, _ := strings.CutPrefix(p, "!")
		if plain == "all" {
			p = strings.Replace(p, "all", "*", 1)
		}
		if plain == "" || plain == "none" {
			return Rule{},
				fmt.Errorf("bad rule %.80q: it is all, none, or patterns with commas between them",
					text)
		}
		if _, err := path.Match(plain, "x"); err != nil {
			return Rule{}, fmt.Errorf("bad pattern %.80q in the rule", plain)
		}
		r.patterns = append(r.patterns, p)
	}
	return r, nil
}

// Shares reports whether the rule shares a session. Sessions of subagents, which are named for the
// session that they work for, with a dot, go with that one.
func (r Rule) Shares(session string) bool {
	shares := false
	for _, p := range r.patterns {
		plain, not := strings.CutPrefix(p, "!")
		if matches(plain, session) {
			shares = !not
		}
	}
	return shares
}

// shownDigits is the number of digits by which lists show a session whose name is a UUID.
const shownDigits = 8

// matches reports whether a pattern matches a session, or one that the session works for.
func matches(pattern, session string) bool {
	for {
		ok, _ := path.Match(pattern, session)
		isID := len(pattern) >= shownDigits && format.IsUUID(session)
		if ok || pattern == "*" || isID && strings.HasPrefix(session, pattern) {
			return true
		}
		dot := strings.LastIndexByte(session, '.')
		if dot < 0 {
			return false
		}
		session = session[:dot]
	}
}

// Allow says which findings may leave: by the class of the secret or by the id of the object.
type Allow []string

func (a Allow) allows(class string, id format.ID) bool {
	return slices.Contains(a, class) || slices.Contains(a, id.String())
}
