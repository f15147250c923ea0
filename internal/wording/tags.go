package wording

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tags are the tags that ctx and agents put around quoted history. A summary can contain them only
// to imitate them.
var tags = [...]string{"context_clusters", "cluster", "system-update", "system", "session_context",
	"hook_context", "state_snapshot"}

// disarm puts tags into square brackets: </context_clusters> becomes [/context_clusters]. Of an
// unclosed tag it changes only the opening bracket.
func disarm(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		n := tagAt(s)
		if n == 0 {
			b.WriteByte('<')
			s = s[1:]
			continue
		}
		b.WriteByte('[')
		s = s[1:]
		if end := strings.IndexAny(s[n-1:], "<>\n"); end >= 0 && s[n-1+end] == '>' {
			b.WriteString(s[:n-1+end])
			b.WriteByte(']')
			s = s[n+end:]
		}
	}
}

// tagAt returns the length of a tag's beginning at the start of s, including its bracket and slash,
// or 0. White space, zero-width characters and case do not hide a tag.
func tagAt(s string) int {
	rest := strings.TrimLeftFunc(s[1:], hidden)
	rest = strings.TrimLeftFunc(strings.TrimPrefix(rest, "/"), hidden)
	for _, tag := range tags {
		if len(rest) < len(tag) || !strings.EqualFold(rest[:len(tag)], tag) {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(rest[len(tag):]); !unicode.IsLetter(r) &&
			!unicode.IsDigit(r) && r != '_' && r != '-' {
			return len(s) - len(rest) + len(tag)
		}
	}
	return 0
}

func hidden(r rune) bool { return unicode.IsSpace(r) || r >= 0x200b && r <= 0x200d || r == 0x2060 }
