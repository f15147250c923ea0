package digest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/script"
)

// Everything is the path of the fact that all files are again as they were committed.
const Everything = "."

// mayRestore reports whether a script may put files back, remove or move them.
func mayRestore(text string) bool {
	return prose.HasAny(text, []string{"git ", "jj ", "rm ", "mv "})
}

// restored adds a fact for each file that a script, which passed, has put back, removed or moved:
// what was edited since the newest commit is gone, or has another name. made are the indexes of the
// commits that the script made. A name that git checked out is that of a file if git says so.
func (d *Digester) restored(text, output string, made []int) {
	place := script.From("", script.Join)
	for _, c := range script.Read(text[:min(len(text), maxScript)]) {
		if len(c.Words) == 0 {
			continue
		}
		words, at := gitDirectory(c, place.Dir, "")
		if c.Words[0] == "git" && at != place.Dir && d.elsewhere(at, text, false) {
			continue
		}
		own := -1 // the commit that the command made
		if _, commits := commitMessage(script.Command{Words: words, Input: c.Input}); commits &&
			len(made) > 0 {
			own, made = made[0], made[1:]
		}
		switch {
		case place.Go(words):
		case isGit(words, "commit") && slices.Contains(words, "--amend"):
			d.amended(own)
		case isGit(words, "stash"):
			d.stashed(at, words[2:])
		case words[0] == "rm", isGit(words, "rm"):
			d.removed(at, words)
		case words[0] == "mv", isGit(words, "mv"):
			d.moved(at, words)
		case isGit(words, "reset"):
			d.reset(words[2:])
		case isGit(words, "revert"):
			d.reverted(words[2:], own)
		default:
			files := restores(words)
			if len(files) == 0 && isGit(words, "checkout") && len(words) > 2 &&
				strings.HasPrefix(output, "Updated ") && strings.Contains(output, " path") {
				files = operands(words[1:])
			}
			for _, file := range files {
				if below, isTop := strings.CutPrefix(file, ":/"); isTop {
					d.gone(cmp.Or(below, Everything))
				} else {
					d.gone(script.Join(at, file))
				}
			}
		}
	}
}

// gone adds the facts that the edited files at a path or below are as they were committed, or not
// there.
func (d *Digester) gone(file string) {
	whole := func(path string) {
		d.add(Fact{Kind: Edit, Path: path, State: Dropped, Text: "restored " + path})
	}
	place := d.place(file)
	if file == Everything || isBelow(d.place(""), place) {
		whole(Everything)
		return
	}
	seen := map[string]bool{}
	for _, f := range d.Made {
		if f.Kind == Edit && !f.Undone() && isBelow(d.place(f.Path), place) && !seen[f.Path] {
			seen[f.Path] = true
			whole(f.Path)
		}
	}
	if len(seen) == 0 {
		whole(file)
	}
}

// stashed reads what git stash does in a directory: it puts all files back, or those that are
// named, and later brings what was changed.
func (d *Digester) stashed(dir string, words []string) {
	if len(words) == 0 || words[0] == "push" || words[0] == "save" ||
		strings.HasPrefix(words[0], "-") {
		if files := stashes(words); len(files) > 0 {
			for _, file := range files {
				d.gone(script.Join(dir, file))
			}
			return
		}
		d.add(Fact{Kind: Edit, Key: stash, Path: Everything, State: Dropped, Text: "stashed all"})
		return
	}
	if words[0] != "pop" && words[0] != "apply" {
		return
	}
	end := len(d.Made) - 1
	for end >= 0 && d.Made[end].Key != stash {
		end--
	}
	begin := end
	for begin > 0 && d.Made[begin-1].Kind != Commit && d.Made[begin-1].Key != stash {
		begin--
	}
	for _, f := range slices.Clone(d.Made[max(begin, 0):max(end, 0)]) {
		if f.Kind == Edit && !f.Undone() {
			d.add(f)
		}
	}
}

// stashes returns the files that git stash push names.
func stashes(words []string) (files []string) {
	named := false // all that follows are files
	for i := 1; i < len(words) && words[0] == "push"; i++ {
		switch w := words[i]; {
		case w == "--":
			named = true
		case !named && (w == "-m" || w == "--message"):
			i++
		case named || !strings.HasPrefix(w, "-"):
			files = append(files, w)
		}
	}
	return files
}

// stash is the key of the fact that git put all changes away.
const stash = "stash"

// operands returns the files that a command names.
func operands(words []string) (files []string) {
	for i, w := range words {
		if i > 0 && w != "" && w[0] != '-' && (i > 1 || words[0] != "git") {
			files = append(files, w)
		}
	}
	return files
}

// removed adds what a command removes: nothing is left of a file that this session wrote.
func (d *Digester) removed(dir string, words []string) {
	if slices.Contains(words, "--cached") {
		return // the files stay
	}
	for _, file := range operands(words) {
		file = script.Join(dir, file)
		switch first := d.firstEdit(file); {
		case first != nil && strings.HasPrefix(first.Text, "wrote "):
			d.gone(first.Path)
		case first != nil:
			d.add(Fact{Kind: Edit, Path: first.Path, Text: "deleted " + first.Path})
		case words[0] == "git":
			d.add(Fact{Kind: Edit, Path: file, Text: "deleted " + file})
		}
	}
}

// moved adds the new names of files that this session changed, that git moves, or that look like
// those of the project.
func (d *Digester) moved(dir string, words []string) {
	for _, m := range script.Moves(operands(words)) {
		from, to := script.Join(dir, m.From), script.Join(dir, m.To)
		first := d.firstEdit(from)
		if first == nil && words[0] != "git" && !(isFileBelow(m.From) && isFileBelow(m.To)) {
			continue
		}
		if first != nil {
			from = first.Path
			d.gone(from)
		}
		d.add(Fact{Kind: Edit, Key: "moved " + from + " to", Path: to,
			Text: "moved " + from + " to " + to})
	}
}

// isFileBelow reports whether a name looks like that of a file of the project, as cmd/main.go.
func isFileBelow(name string) bool {
	return path.Ext(name) != "" && !path.IsAbs(name) && !strings.HasPrefix(name, "..") &&
		!strings.ContainsAny(name, "*?$~")
}

// firstEdit returns the first edit of a file, nil without one.
func (d *Digester) firstEdit(file string) *Fact {
	place := d.place(file)
	for i := range d.Made {
		f := &d.Made[i]
		if f.Kind != Edit || f.Undone() {
			continue
		}
		// Where the session began may not be known
		if d.place(f.Path) == place ||
			d.Began == "" && !path.IsAbs(file) && strings.HasSuffix(f.Path, "/"+file) {
			edit := *f
			return &edit
		}
	}
	return nil
}

// restores returns the files that a command of git puts back.
func restores(words []string) []string {
	isOption := func(w string) bool { return strings.HasPrefix(w, "-") }
	switch {
	case isGit(words, "checkout"):
		if i := slices.Index(words, "--"); i > 0 {
			return words[i+1:]
		}
		if last := words[len(words)-1]; last == Everything || prose.HasLead(last, []string{":/"}) {
			return words[len(words)-1:]
		}
	case isGit(words, "restore"):
		rest := words[2:]
		has := func(w string) bool { return slices.Contains(rest, w) }
		if (has("--staged") || has("-S")) && !has("--worktree") && !has("-W") {
			return nil // the files stay as they are
		}
		for i, w := range rest {
			if w == "-s" || w == "--source" {
				rest = slices.Delete(slices.Clone(rest), i, min(i+2, len(rest)))
				break
			}
		}
		return slices.DeleteFunc(slices.Clone(rest), isOption)
	case words[0] == "jj" && len(words) > 1 && (words[1] == "restore" || words[1] == "abandon"):
		if files := slices.DeleteFunc(slices.Clone(words[2:]), isOption); len(files) > 0 &&
			words[1] == "restore" {
			return files
		}
		return []string{Everything}
	}
	return nil
}
