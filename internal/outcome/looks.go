package outcome

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/script"
)

// lookers are programs that print what is there: with what they were asked to show they say nothing
// of how work is done, and what they print is no failure of theirs. quoters are verbs of git, and
// readers of gh, that print what somebody wrote; how to look at a history is worth asking.
const (
	readers = " view list diff status checks "
	lookers = " cat head tail nl bat less sed grep egrep fgrep rg ag find fd ls tree wc sort uniq " +
		"cut awk jq stat file du pwd which echo printf true cd sleep "
	quoters = " diff show log grep blame cat-file status reflog rev-parse ls-files ls-remote ls-tree "
)

// Looks reports whether a command only prints what is there.
func Looks(command string) bool { return looks(command, false) }

// looks reports whether a command only prints what is there, and with git what somebody wrote.
func looks(command string, git bool) bool {
	for _, c := range script.Read(command) {
		if len(c.Words) == 0 || c.Words[0] == "for" {
			continue
		}
		name, words := path.Base(c.Words[0]), c.Words[1:]
		if name == "git" && len(words) > 2 && words[0] == "-C" {
			words = words[2:]
		}
		verb := slices.IndexFunc(words, func(w string) bool { return w[:min(1, len(w))] != "-" })
		quotes := git && verb >= 0 && (name == "git" && onlyLists(words[verb:]) ||
			name == "gh" && asks(words[verb:]) || name == "curl" && !sends(words))
		edits := name == "sed" && slices.ContainsFunc(words,
			func(w string) bool { return strings.HasPrefix(w, "-i") })
		if !quotes && (edits || !has(lookers, name)) {
			return false
		}
	}
	return command != ""
}

func has(list, word string) bool { return strings.Contains(list, " "+word+" ") }

// onlyLists reports whether words behind git print what is there, or what somebody wrote.
func onlyLists(words []string) bool {
	return has(quoters, words[0]) || has(" branch tag remote stash worktree config ", words[0]) &&
		len(words) > 1 && has(" -a -r -v -vv -l --list --show-current --get list show ", words[1])
}

// asks reports whether words behind gh only ask what is there.
func asks(words []string) bool {
	if words[0] != "api" {
		return len(words) > 1 && has(readers, words[1])
	}
	return !sends(words)
}

// sends reports whether options of gh api or curl send something.
func sends(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "-X") || has(" -f -F --field --raw-field --input --method "+
			"-d --data --data-raw --data-binary --json --form -T --upload-file --request ", w)
	})
}

// Quotes reports whether the act at a place printed what other files or histories hold, and did not
// fail itself: an error in it is one that somebody wrote about.
func (s *Session) Quotes(at int) bool {
	f := &s.Facts[at]
	return f.Kind == digest.Command && f.State != digest.Failed && looks(f.Command(), true)
}
