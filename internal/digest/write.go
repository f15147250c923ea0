package digest

import (
	"path"
	"slices"

	"github.com/gemini-ctx/ctx/internal/blame/replay"
	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/script"
)

// writes adds an edit for each file that a script writes as its words say: by a here-document, a
// redirection, tee, sed -i, a patch. What a program prints into a file for itself, and what is
// temporary, is no work.
func (d *Digester) writes(text string) {
	if !prose.HasAny(text, []string{">", "tee ", "sed ", "perl ", "patch", "apply", "cp ",
		".write", "writeFile", " -w ", "--write"}) {
		return
	}
	for _, c := range replay.Script(text[:min(len(text), maxScript)], "") {
		if isTemporary(c.Path) || isScratch(c.Path) && c.Kind == replay.Touch {
			continue
		}
		f := Fact{Kind: Edit, Path: c.Path}
		old, now := "", c.Text
		switch c.Kind {
		case replay.Write:
			f.Added, f.Text = lines(now), "wrote "+c.Path
		case replay.Append:
			f.Added, f.Text = lines(now), "edited "+c.Path
		case replay.Touch:
			f.Text = "edited " + c.Path
		case replay.Replace:
			for _, e := range c.Edits {
				old, now = old+e.Old+"\n", now+e.New+"\n"
			}
			f.Added, f.Removed = changedLines(old, now)
			f.Was, f.Now = hashOf(old), hashOf(now)
			f.Text = "edited " + c.Path
		default: // what is removed or moved is read when it is known that it was
			continue
		}
		f.Text += named(c.Path, old, now)
		d.add(f)
		d.written(c.Path, old, now)
	}
}

// onlyWrites reports whether a script, which writes files, does no more.
func onlyWrites(text string) bool {
	return !slices.ContainsFunc(commandsOf(text), func(c script.Command) bool {
		return !slices.Contains([]string{"cat", "tee", "echo", "printf", "sed", "perl", "cp", "mkdir",
			"cd", "touch", "chmod", "patch"}, c.Words[0]) && !isGit(c.Words, "apply")
	})
}

// isScratch reports whether a file has the name of one that a program prints into.
func isScratch(file string) bool {
	return slices.Contains([]string{".log", ".out", ".txt", ".err", ".prof", ".tmp", ""},
		path.Ext(file))
}
