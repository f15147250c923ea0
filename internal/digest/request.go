package digest

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/script"
)

// requestKey is the key of the fact that a pull request was opened. Its kind is Commit: its title
// says of a piece of work what that of a commit says of a step.
const requestKey = "pull request"

// IsRequest reports whether a fact is that a pull request was opened.
func (f *Fact) IsRequest() bool { return f.Kind == Commit && f.Key == requestKey }

// requesting begins the text of a pull request until its result says that it was opened.
const requesting = Tried + "open a pull request"

// pullRequest returns the title of the pull request that a script opens by the program of a forge,
// "" if it is not given. ok is false if the script opens none.
func pullRequest(work []script.Command) (title string, ok bool) {
	for _, c := range work {
		w := c.Words
		if len(w) < 3 || w[2] != "create" ||
			!(w[0] == "gh" && w[1] == "pr") && !(w[0] == "glab" && w[1] == "mr") {
			continue
		}
		for i, word := range w {
			if value, ok := strings.CutPrefix(word, "--title="); ok {
				return value, true
			}
			if (word == "--title" || word == "-t") && i+1 < len(w) {
				return w[i+1], true
			}
		}
		return "", !slices.Contains(w, "--help")
	}
	return "", false
}

// opened returns the text of a pull request that was opened. Of the output it has the number alone:
// what a tool printed is nobody's word.
func opened(title, output string) string {
	text := "opened a pull request"
	if n := requestNumber(output); n != "" {
		text = "opened PR #" + n
	}
	return titled(text, title)
}

// titled returns what was done with the title that it was given, if any.
func titled(done, title string) string { return strings.TrimSuffix(done+": "+title, ": ") }

// titleOf returns the title of a text that titled made.
func titleOf(text, done string) string {
	return strings.TrimPrefix(strings.TrimPrefix(text, done), ": ")
}

// requestNumber returns the number of the first pull request of GitHub, Forgejo or GitLab
// whose address an output has; "" for none.
func requestNumber(output string) string {
	for word := range strings.FieldsSeq(output) {
		if !strings.HasPrefix(word, "https://") {
			continue
		}
		for _, lead := range [...]string{"/pull/", "/pulls/", "/merge_requests/"} {
			_, n, _ := strings.Cut(word, lead)
			n = n[:len(n)-len(strings.TrimLeft(n, "0123456789"))]
			if n != "" && len(n) < 10 {
				return n
			}
		}
	}
	return ""
}
