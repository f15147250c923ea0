package digest

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/script"
)

// The keys of the facts that something was opened at a forge or a tracker. A pull request is of
// kind Commit: its title says of a piece of work what that of a commit says of a step.
const (
	requestKey = "pull request"
	IssueKey   = "issue"
)

// IsRequest reports whether a fact is that a pull request was opened.
func (f *Fact) IsRequest() bool { return f.Kind == Commit && f.Key == requestKey }

// Text of what is opened until its result says that it was.
const (
	requesting = Tried + "open a pull request"
	reporting  = Tried + "open an issue"
)

// open adds the fact that something is opened at a forge or a tracker.
func (d *Digester) open(key, title string) {
	if title = prose.FirstLine(title, maxTitle); key == requestKey {
		d.add(Fact{Kind: Commit, Key: key, Text: titled(requesting, title)})
		return
	}
	d.add(Fact{Kind: Act, Key: key, Text: titled(reporting, title)})
}

// opens returns what a script opens by the program of a forge: the key of the fact, "" for nothing,
// and the title, "" if it is not given.
func opens(work []script.Command) (key, title string) {
	for _, c := range work {
		w := c.Words
		if len(w) < 3 || w[2] != "create" || slices.Contains(w, "--help") {
			continue
		}
		switch w[0] + " " + w[1] {
		case "gh pr", "glab mr":
			key = requestKey
		case "gh issue", "glab issue", "jira issue", "linear issue":
			key = IssueKey
		default:
			continue
		}
		for i, word := range w {
			if value, ok := strings.CutPrefix(word, "--title="); ok {
				return key, value
			}
			if (word == "--title" || word == "--summary" || word == "-t" || word == "-s") &&
				i+1 < len(w) {
				return key, w[i+1]
			}
		}
		return key, ""
	}
	return "", ""
}

// opensBy returns the key of what the tool of a server opens, "" for nothing.
func opensBy(tool string) string {
	switch plainName(tool) {
	case "createpullrequest", "createmergerequest", "pullrequestcreate":
		return requestKey
	case "createissue", "issuecreate", "createjiraissue", "createlinearissue":
		return IssueKey
	}
	return ""
}

// opened returns the text of what was opened. Of the output it has the number alone: what a tool
// printed is nobody's word.
func (f *Fact) opened(output string) string {
	if f.Key == IssueKey {
		text := "opened an issue"
		if name := issueName(output); name != "" {
			text = "opened issue " + name
		}
		return titled(text, titleOf(f.Text, reporting))
	}
	text := "opened a pull request"
	if n := numberIn(output, []string{"/pull/", "/pulls/", "/merge_requests/"}); n != "" {
		text = "opened PR #" + n
	}
	return titled(text, titleOf(f.Text, requesting))
}

// mergedRequest notes of a pull request that a command of a forge merged it. Without a number it is
// the newest.
func (d *Digester) mergedRequest(text, output string) {
	later := []string{"--auto", "--help"}
	for _, c := range commandsOf(strings.TrimPrefix(text, "ran ")) {
		w := c.Words
		if len(w) < 3 || w[2] != "merge" ||
			w[0]+" "+w[1] != "gh pr" && w[0]+" "+w[1] != "glab mr" ||
			slices.ContainsFunc(w, func(w string) bool { return slices.Contains(later, w) }) ||
			strings.Contains(output, "automatically merged") {
			continue
		}
		named := ""
		for _, word := range w[3:] {
			n := word[strings.LastIndexByte(word, '/')+1:] // of an address
			if named == "" && n != "" && strings.Trim(n, "0123456789") == "" {
				named = " #" + n
			}
		}
		for _, f := range slices.Backward(d.Made) {
			if f.IsRequest() && f.State == Passed && strings.Contains(f.Text+":", named+":") {
				named = strings.TrimPrefix(f.Text, "opened PR")
				break
			}
		}
		if named != "" {
			d.add(Fact{Kind: Commit, Key: requestKey, State: Passed, Text: "merged PR" + named})
		}
	}
}

// titled returns what was done with the title that it was given, if any.
func titled(done, title string) string { return strings.TrimSuffix(done+": "+title, ": ") }

// titleOf returns the title of a text that titled made.
func titleOf(text, done string) string {
	return strings.TrimPrefix(strings.TrimPrefix(text, done), ": ")
}

// numberIn returns the number behind the first of some paths in an address of an output; "" for
// none.
func numberIn(output string, paths []string) string {
	for word := range strings.FieldsFuncSeq(output, func(r rune) bool {
		return r == '"' || r == ' ' || r == '\n' || r == '\t' || r == '\r'
	}) {
		if !strings.HasPrefix(word, "https://") {
			continue
		}
		for _, lead := range paths {
			_, n, _ := strings.Cut(word, lead)
			n = n[:len(n)-len(strings.TrimLeft(n, "0123456789"))]
			if n != "" && len(n) < 10 {
				return n
			}
		}
	}
	return ""
}

// issueName returns the number of an issue of a forge, or the name of a tracker, as in ENT-241, in
// what was printed when it was opened; "" for none.
func issueName(output string) string {
	if n := numberIn(output, []string{"/issues/"}); n != "" {
		return "#" + n
	}
	for _, lead := range [...]string{`"identifier":"`, `"key":"`, "/browse/", "/issue/"} {
		_, rest, ok := strings.Cut(strings.ReplaceAll(output, `": "`, `":"`), lead)
		end := strings.IndexFunc(rest, func(r rune) bool {
			return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z')
		})
		team, number, dashed := strings.Cut(rest[:max(end, 0)], "-")
		if ok && dashed && team != "" && number != "" && len(rest[:end]) < 20 {
			return rest[:end]
		}
	}
	return ""
}
