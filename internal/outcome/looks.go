package outcome

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/script"
)

// lookers are programs that print what is there: with what they were asked to show they say nothing
// of how work is done, and what they print is no failure of theirs. quoters are verbs of git that
// print what somebody wrote; how to look at a history is worth asking.
const (
	lookers = " cat head tail nl bat less sed grep egrep fgrep rg ag find fd ls tree wc sort uniq " +
		"cut awk jq stat file du pwd which echo printf true cd sleep "
	quoters = " diff show log grep blame cat-file "
)

// Looks reports whether a command only prints what is there.
func Looks(command string) bool { return looks(command, false) }

// looks reports whether a command only prints what is there, and with git what somebody wrote.
func looks(command string, git bool) bool {
	for _, c := range script.Read(command) {
		if len(c.Words) == 0 {
			continue
		}
		name, words := path.Base(c.Words[0]), c.Words[1:]
		verb := slices.IndexFunc(words, func(w string) bool { return w[:min(1, len(w))] != "-" })
		quotes := git && name == "git" && verb >= 0 &&
			strings.Contains(quoters, " "+words[verb]+" ")
		edits := name == "sed" && slices.ContainsFunc(words,
			func(w string) bool { return strings.HasPrefix(w, "-i") })
		if !quotes && (edits || !strings.Contains(lookers, " "+name+" ")) {
			return false
		}
	}
	return command != ""
}

// Quotes reports whether the act at a place printed what other files or histories hold, and did not
// fail itself: an error in it is one that somebody wrote about.
func (s *Session) Quotes(at int) bool {
	f := &s.Facts[at]
	return f.Kind == digest.Command && f.State != digest.Failed && looks(f.Command(), true)
}
