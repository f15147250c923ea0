package digest

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/script"
)

// Everything is the path of the fact that all files are again as they were committed.
const Everything = "."

// restored adds a fact for each file that a command of git has put back: what was edited since the
// newest commit is gone.
func (d *Digester) restored(f *Fact) {
	text, _, _ := strings.Cut(f.Text, " # ")
	if f.Kind != Command || f.Elsewhere || !strings.Contains(text, "git ") {
		return
	}
	for _, c := range script.Read(strings.TrimPrefix(text, "ran ")) {
		if len(c.Words) == 0 {
			continue
		}
		words, at := gitDirectory(c, "", "")
		if at != "" {
			continue
		}
		for _, file := range restores(words) {
			d.add(Fact{Kind: Edit, Path: file, State: Dropped, Text: "restored " + file})
		}
	}
}

// restores returns the files that a command of git puts back.
func restores(words []string) []string {
	isOption := func(w string) bool { return strings.HasPrefix(w, "-") }
	switch {
	case isGit(words, "checkout"):
		if i := slices.Index(words, "--"); i > 0 {
			return words[i+1:]
		}
		if len(words) == 3 && words[2] == Everything {
			return words[2:]
		}
	case isGit(words, "restore"):
		rest := words[2:]
		if slices.Contains(rest, "--staged") || slices.Contains(rest, "-S") {
			return nil // the files stay as they are
		}
		for i, w := range rest {
			if w == "-s" || w == "--source" {
				rest = slices.Delete(slices.Clone(rest), i, min(i+2, len(rest)))
				break
			}
		}
		return slices.DeleteFunc(slices.Clone(rest), isOption)
	case isGit(words, "reset") && slices.Contains(words, "--hard"):
		return []string{Everything}
	}
	return nil
}
