package digest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The keys of facts of what git showed of the work tree. Their state is Dropped: no file changed.
const (
	// Kept is the key of the fact that git shows no change of a file that was edited.
	Kept = "kept"
	// Unkept is the key of the fact that a file has changes after all that no commit has.
	Unkept = "not kept"
)

// workTree has the files of which git showed that no commit has their changes.
type workTree struct {
	paths []string // from where git ran or from the root; a folder ends with a slash
	known bool     // only files that git knows are among them
}

// shownTree compares what git showed, in the output of a script that passed, with the edits: so a
// commit by somebody else, or one of some of the files, is seen.
func (d *Digester) shownTree(text, output string) {
	tree, ok := d.workTree(text, output)
	if !ok {
		return
	}
	keptBy, written := d.keptFiles()
	for _, file := range slices.Sorted(maps.Keys(keptBy)) {
		place, kept := d.place(file), keptBy[file] != ""
		changed := slices.ContainsFunc(tree.paths, func(p string) bool { return isNamed(p, place) })
		switch {
		case changed != kept, d.isBeside(place), !changed && tree.known && written[file]:
		case changed:
			d.add(Fact{Kind: Edit, Key: Unkept, Path: file, State: Dropped, Text: file})
		default:
			d.add(Fact{Kind: Edit, Key: Kept, Path: file, State: Dropped, Text: file})
		}
	}
}

// keptFiles returns for each edited file the commit that has all of it, Kept if git shows so, or
// ""; and the files that were written whole, which git may not know.
func (d *Digester) keptFiles() (keptBy map[string]string, written map[string]bool) {
	keptBy, written = map[string]string{}, map[string]bool{}
	for i := range d.Made {
		switch f := &d.Made[i]; {
		case f.Kind == Commit && f.State == Passed && !f.IsRequest():
			for file, by := range keptBy {
				keptBy[file] = cmp.Or(by, f.Text)
			}
		case f.Kind == Commit && f.State == Dropped:
			for file, by := range keptBy {
				if by == f.Text {
					keptBy[file] = ""
				}
			}
		case f.Kind != Edit || f.State == Failed || f.State == Barred:
		case f.Key == Kept || f.Key == Unkept:
			keptBy[f.Path] = strings.TrimPrefix(f.Key, Unkept)
		case f.State != Dropped:
			keptBy[f.Path] = ""
			written[f.Path] = written[f.Path] || strings.HasPrefix(f.Text, "wrote ")
		case f.Path == Everything:
			clear(keptBy)
		default:
			delete(keptBy, f.Path)
		}
	}
	return keptBy, written
}

// isNamed reports whether a path that git printed is that of a file, or of a folder that has it.
func isNamed(printed, file string) bool {
	for strings.HasPrefix(printed, "../") {
		printed = printed[len("../"):]
	}
	if strings.HasSuffix(printed, "/") {
		return strings.Contains("/"+file, "/"+printed)
	}
	return strings.HasSuffix("/"+file, "/"+printed)
}

// workTree returns what the output of a script shows of the project's work tree: what git status
// printed, or else what came along to the branch that git checked out.
func (d *Digester) workTree(text, output string) (tree workTree, ok bool) {
	dir, asked, printed, switched := "", false, false, false
	all := commandsOf(text)
	isShort, isCut, isFirst := false, false, false
	for i, c := range all {
		words, at := gitDirectory(c, dir, "")
		if words[0] == "cd" && len(words) > 1 {
			dir = inDirectory(dir, words[1])
			continue
		}
		switch {
		case words[0] != "git" || len(words) < 2:
		case d.elsewhere(at, text, false):
			printed = true
		case words[1] == "status":
			asked, isFirst = true, !printed
			isShort = slices.ContainsFunc(words[2:], isShortStatus)
			isCut = i+1 < len(all) && all[i+1].Piped
		case words[1] == "checkout" || words[1] == "switch":
			asked, switched = false, true
		case !slices.Contains(keepsChanges[:], words[1]):
			asked, switched = false, false
		}
		printed = printed || !isGit(words, "add")
	}
	switch {
	case asked && strings.Contains(output, "nothing to commit, working tree clean"):
		return tree, true
	case asked && isShort:
		return tree.read(output, shortStatus), isFirst && !isCut
	case asked:
		ends := strings.Contains(output, "\nno changes added to commit") ||
			strings.Contains(output, "\nnothing added to commit") || !isCut
		return tree.read(output, longStatus), ends && strings.Contains(output, "On branch ")
	case switched:
		tree.known = true
		return tree.read(output, carried), strings.Contains("\n"+output, "\nSwitched to branch '")
	}
	return tree, false
}

// keepsChanges are commands of git after which the changes that no commit has are the same.
var keepsChanges = [...]string{"status", "log", "diff", "show", "branch", "rev-parse", "remote", "add",
	"fetch", "pull", "push", "ls-files", "describe", "config"}

func isShortStatus(w string) bool {
	return w == "--short" || hasLead(w, []string{"--porcelain"}) ||
		len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, "s")
}

// read adds the files that the lines of an output name, up to the first line that is none of them.
func (t workTree) read(output string, file func(line string) (name string, ok bool)) workTree {
	for line := range strings.SplitSeq(output, "\n") {
		name, ok := file(strings.TrimSuffix(line, "\r"))
		if !ok {
			break
		}
		if _, to, is := strings.Cut(name, " -> "); is {
			name = to
		}
		if plain, err := strconv.Unquote(name); err == nil && name[0] == '"' {
			name = plain
		}
		if name != "" {
			t.paths = append(t.paths, name)
		}
	}
	return t
}

// shortStatus reads " M file" and "## branch".
func shortStatus(line string) (name string, ok bool) {
	if strings.HasPrefix(line, "## ") {
		return "", true
	}
	if len(line) < 4 || line[2] != ' ' || strings.Trim(line[:2], " MADRCUT?!") != "" {
		return "", false
	}
	return line[3:], true
}

// longStatus reads "\tmodified:   file" and "\tfile", and passes over other lines.
func longStatus(line string) (name string, ok bool) {
	rest, isFile := strings.CutPrefix(line, "\t")
	if !isFile {
		return "", true
	}
	if how, file, is := strings.Cut(rest, ":   "); is && !strings.Contains(how, "/") {
		rest = strings.TrimLeft(file, " ")
	}
	return rest, true
}

// carried reads "M\tfile", and passes over other lines.
func carried(line string) (name string, ok bool) {
	if len(line) > 2 && line[1] == '\t' && strings.Trim(line[:1], "MADRCUT") == "" {
		return line[2:], true
	}
	return "", true
}
