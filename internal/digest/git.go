package digest

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/script"
)

// gitWork reads what a script does with git. messages are those of its commits in the project's
// repository, and of none for trying things out or beside the project. Without one, elsewhere
// reports whether there are commands of git, and all work in another repository. dir is where the
// script begins, if that is beside the project. A clone is another repository, wherever it begins.
func (d *Digester) gitWork(text, dir string) (messages []string, elsewhere bool) {
	repository, made := "", false // repository is what an exported GIT_DIR names
	here := false                 // a command of git works in the project's repository
	place := script.From(dir, script.Join)
	for _, c := range script.Read(text[:min(len(text), maxScript)]) {
		if len(c.Words) == 0 {
			continue
		}
		words, at := gitDirectory(c, place.Dir, repository)
		switch {
		case place.Go(words):
		case words[0] == "export" && len(words) > 1:
			if value, is := strings.CutPrefix(words[1], gitDir); is {
				repository = value
			}
		case isGit(words, "init"), isGit(words, "clone"):
			made = true
		}
		if words[0] != "git" || isGit(words, "clone") || d.elsewhere(at, text, made) {
			elsewhere = elsewhere || words[0] == "git"
			continue
		}
		here, c.Words = true, words
		if message, ok := commitMessage(c); ok && len(messages) < maxCommits {
			messages = append(messages, message)
		}
	}
	return messages, elsewhere && !here
}

// maxCommits is the largest number of commits of one script that become facts.
const maxCommits = 8

// gitDir begins the assignment of the variable that names the repository.
const gitDir = "GIT_DIR="

// elsewhere reports whether a directory that a script works in is of another repository than the
// project's: a temporary one, one in which the script makes a repository, or one beside the
// project. A directory where a file was edited belongs to the work.
func (d *Digester) elsewhere(dir, script string, made bool) bool {
	if dir == "" {
		return false
	}
	place := d.place(dir)
	variable := strings.HasPrefix(dir, "$") && strings.Contains(script, "mktemp")
	if !made && !variable && !isTemporary(dir) && !d.isBeside(place) {
		return false
	}
	return !slices.ContainsFunc(d.Made, func(f Fact) bool {
		return f.Kind == Edit && (isBelow(f.Path, place) || isBelow(f.Path, dir))
	})
}

// place returns a directory as a path from the root, as far as that is known: one of the home
// directory is found by the names that it shares with where the session began.
func (d *Digester) place(dir string) string {
	for _, home := range [...]string{"$HOME", "${HOME}", "~"} {
		rest, ok := strings.CutPrefix(dir, home)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		for names := path.Clean("/" + rest); names != "/"; names = path.Dir(names) {
			if i := strings.Index(d.Began+"/", names+"/"); i >= 0 {
				return path.Clean(d.Began[:i] + rest)
			}
		}
		return "~" + rest
	}
	return path.Clean(script.Join(d.Began, dir))
}

// isBeside reports whether a directory is neither the one where the session began, nor below or
// above it.
func (d *Digester) isBeside(place string) bool {
	if !path.IsAbs(d.Began) {
		return place == ".." || strings.HasPrefix(place, "../")
	}
	return !isBelow(place, d.Began) && !isBelow(d.Began, place)
}

func isBelow(file, dir string) bool {
	return file == dir || strings.HasPrefix(file, strings.TrimSuffix(dir, "/")+"/")
}

// isGit reports whether words are of a command of git.
func isGit(words []string, command string) bool {
	return len(words) > 1 && words[0] == "git" && words[1] == command
}

// gitDirectory returns the words of a command, and the directory where it works. Of git they are
// without the options before the name of its command, and -C, --git-dir, --work-tree and GIT_DIR,
// also an exported one, say where it works.
func gitDirectory(c script.Command, dir, exported string) (words []string, at string) {
	if c.Words[0] != "git" {
		return c.Words, dir
	}
	for _, v := range c.Vars {
		if value, ok := strings.CutPrefix(v, gitDir); ok {
			exported = value
		}
	}
	rest, repository, tree := c.Words[1:], exported, ""
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		name, value, joined := strings.Cut(rest[0], "=")
		rest = rest[1:]
		switch name {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace":
			if !joined && len(rest) > 0 {
				value, rest = rest[0], rest[1:]
			}
		}
		switch name {
		case "-C":
			dir = script.Join(dir, value)
		case "--work-tree":
			tree = value
		case "--git-dir":
			repository = value
		}
	}
	words = append([]string{"git"}, rest...)
	switch {
	case repository != "":
		at := strings.TrimSuffix(strings.TrimSuffix(repository, "/"), ".git")
		return words, script.Join(dir, strings.TrimSuffix(at, "/"))
	case tree != "":
		return words, script.Join(dir, tree)
	}
	return words, dir
}

// commitMessage returns the message of the commit that a command makes, whose words gitDirectory
// has returned; "" where only git knows it.
func commitMessage(c script.Command) (string, bool) {
	if isGit(c.Words, "cherry-pick") || isGit(c.Words, "revert") {
		return "", !slices.ContainsFunc(c.Words[2:], func(w string) bool {
			return slices.Contains([]string{"-n", "--no-commit", "--abort", "--quit", "--skip"}, w)
		})
	}
	merges := isGit(c.Words, "merge")
	if !merges && !isGit(c.Words, "commit") || slices.Contains(c.Words, "--dry-run") {
		return "", false
	}
	amends, fromFile := false, false
	for i := 2; i < len(c.Words); i++ {
		w := c.Words[i]
		if text, ok := strings.CutPrefix(w, "--message="); ok {
			return text, prose.Squeeze(text) != ""
		}
		isText := w == "--message" || len(w) > 1 && w[0] == '-' && w[1] != '-' && w[len(w)-1] == 'm'
		if isText && i+1 < len(c.Words) {
			return c.Words[i+1], prose.Squeeze(c.Words[i+1]) != ""
		}
		amends = amends || w == "--amend"
		fromFile = fromFile || prose.HasLead(w, []string{"-F", "--file", "-C", "--reuse-message",
			"--no-edit", "--continue"})
	}
	if merges && !slices.Contains(c.Words, "--continue") {
		return "", false // it may only move the branch, or say what it would commit
	}
	if c.Input != nil && prose.Squeeze(*c.Input) != "" {
		return *c.Input, true
	}
	if amends {
		return amending, true
	}
	return "", fromFile
}

// amending stands for the message of a commit that is made anew, until git prints it.
const amending = "amended the last commit"

// branchMade returns the branch that a script makes and is on then, as its words say: git may have
// been told to print nothing.
func branchMade(text string) (name string) {
	for _, c := range script.Read(text) {
		if len(c.Words) == 0 {
			continue
		}
		words, at := gitDirectory(c, "", "")
		if at != "" || !isGit(words, "checkout") && !isGit(words, "switch") &&
			!isGit(words, "branch") {
			continue
		}
		for i, w := range words[2:] {
			switch w {
			case "-m", "-M", "--move": // the one that is checked out gets another name
				if words[1] == "branch" && i+4 == len(words) {
					name = words[i+3]
				}
			case "-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan":
				if words[1] != "branch" && i+3 < len(words) {
					name = words[i+3]
				}
			}
		}
	}
	return name
}

// commitMade returns the abbreviated hash and the title of a commit in what git printed when it
// made the commit, as in "[main 1a2b3c4] Title", or "". Of several it is the one with the title
// wanted, or else the first.
func commitMade(output, wanted string) (hash, title string) {
	for line := range strings.Lines(output) {
		rest, ok := strings.CutPrefix(line, "[")
		head, subject, closed := strings.Cut(rest, "] ")
		at := strings.LastIndexByte(head, ' ') + 1
		if !ok || !closed || at <= 1 || len(head[at:]) < minHash || !isHex(head[at:]) {
			continue
		}
		if subject = prose.Squeeze(subject); hash == "" || subject == wanted {
			hash, title = head[at:], subject
		}
		if title == wanted {
			break
		}
	}
	return hash, title
}

// isItsTitle reports whether git printed the title that a script gives to a commit, as far as its
// words tell that.
func isItsTitle(printed, given string) bool {
	return given == "" || given == amending || strings.Contains(given, "$") ||
		strings.HasPrefix(printed, strings.TrimRight(given, " …"))
}

// Committed splits the text of a commit that was made from its hash, "" if that is not known.
func (f *Fact) Committed() (text, hash string) {
	i := strings.LastIndex(f.Text, " (")
	hash, _, _ = strings.Cut(strings.TrimSuffix(f.Text[i+2:], ")"), ", ")
	if i > 0 && (len(hash) >= minHash && isHex(hash) || hash == onRemote) {
		return f.Text[:i], strings.TrimPrefix(hash, onRemote)
	}
	return f.Text, ""
}

// onRemote stands behind the hash of a commit that was pushed.
const onRemote = "pushed"

// pushed notes of the newest commit that git pushed it, and the hash that it has there: a rebase
// may have made it anew since.
func (d *Digester) pushed(output string) {
	list := d.commits(-1)
	if len(list) == 0 {
		return
	}
	f := &d.Made[list[len(list)-1]]
	for line := range strings.Lines(output) {
		before, name, _ := strings.Cut(prose.Squeeze(line), " -> ")
		name, _, _ = strings.Cut(name, " ")
		before, same := strings.CutSuffix(before, " "+name)
		if name == "" || !same || d.Branch != "" && d.Branch != name {
			continue
		}
		text, hash := f.Committed()
		if tip := before[strings.LastIndexByte(before, '.')+1:]; len(tip) >= minHash && isHex(tip) {
			hash = tip
		} else if !strings.HasSuffix(before, "[new branch]") {
			continue
		}
		f.Text = text + " (" + strings.TrimPrefix(hash+", "+onRemote, ", ") + ")"
	}
}

// minHash is the number of digits of the shortest hash that git prints.
const minHash = 7

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
