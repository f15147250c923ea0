package digest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/script"
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
	held := Holds{}
	for i := range d.Made {
		held.Add(&d.Made[i], prose.Valid)
	}
	for _, file := range slices.Sorted(maps.Keys(held)) {
		place, kept := d.place(file), held[file].By != ""
		changed := slices.ContainsFunc(tree.paths, func(p string) bool { return isNamed(p, place) })
		switch {
		case changed != kept, d.isBeside(place), !changed && tree.known && held[file].whole:
		case changed:
			d.add(Fact{Kind: Edit, Key: Unkept, Path: file, State: Dropped, Text: file})
		default:
			d.add(Fact{Kind: Edit, Key: Kept, Path: file, State: Dropped, Text: file})
		}
	}
}

// Held is what commits have of a file that was edited.
type Held struct {
	By    string // the commit that has all of it, or Kept, if git shows so; "" for none
	Some  bool   // a commit has some of it
	whole bool   // it was written whole: git may not know it
}

// Holds has each edited file by its name. It lacks those that are again as they were before the
// edits.
type Holds map[string]Held

// Add adds what a fact tells, which comes after all facts before. name returns that of a path.
func (h Holds) Add(f *Fact, name func(path string) string) {
	commits := f.Kind == Commit && !f.IsRequest() && (f.State == Passed || f.State == Dropped)
	if f.Kind != Edit && !commits || f.State == Failed || f.State == Barred {
		return
	}
	own := name(f.Path)
	was, known := h[own]
	switch {
	case commits:
		for file, was := range h {
			if f.State == Passed {
				was.By, was.Some = cmp.Or(was.By, f.Text), true
			} else if was.By == f.Text {
				was.By = ""
			}
			h[file] = was
		}
	case f.Key == Kept || f.Key == Unkept:
		if was.By = strings.TrimPrefix(f.Key, Unkept); known {
			h[own] = was
		}
	case f.State != Dropped:
		was.By, was.whole = "", was.whole || strings.HasPrefix(f.Text, "wrote ")
		h[own] = was
	default:
		for file, was := range h {
			if file != own && f.Path != Everything {
				continue
			}
			if was.By = cmp.Or(was.By, Kept); was.Some && f.Key != TakenBack {
				h[file] = was
			} else {
				delete(h, file)
			}
		}
	}
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
	place, all := script.From("", script.Join), commandsOf(text)
	var shows []string // the newest command whose output counts
	first, whole, silent := false, false, true
	for i, c := range all {
		words, at := gitDirectory(c, place.Dir, "")
		if place.Go(words) {
			continue
		}
		switch {
		case words[0] != "git" || len(words) < 2 || d.elsewhere(at, text, false):
		case words[1] == "status" || words[1] == "checkout" || words[1] == "switch":
			shows, first, whole = words, silent, i+1 == len(all) || !all[i+1].Piped
		case !slices.Contains(keepsChanges[:], words[1]):
			shows = nil
		}
		silent = silent && isGit(words, "add")
	}
	switch {
	case shows == nil:
		return tree, false
	case shows[1] != "status":
		tree.known = true
		return tree.read(output, carried), strings.Contains("\n"+output, "\nSwitched to branch '")
	case strings.Contains(output, "nothing to commit, working tree clean"):
		return tree, true
	case slices.ContainsFunc(shows[2:], isShortStatus):
		return tree.read(output, shortStatus), first && whole
	}
	ends := strings.Contains(output, "\nno changes added to commit") ||
		strings.Contains(output, "\nnothing added to commit") || whole
	return tree.read(output, longStatus), ends && strings.Contains(output, "On branch ")
}

// keepsChanges are commands of git after which the changes that no commit has are the same.
var keepsChanges = [...]string{"status", "log", "diff", "show", "branch", "rev-parse", "remote", "add",
	"fetch", "pull", "push", "ls-files", "describe", "config"}

func isShortStatus(w string) bool {
	return w == "--short" || prose.HasLead(w, []string{"--porcelain"}) ||
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
