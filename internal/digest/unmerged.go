package digest

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// maxUnmerged is the number of files with conflicts that a fact names.
const maxUnmerged = 6

// joins returns what is in progress when a command of git stops at a conflict, "" for one that
// never does.
func joins(command string) string {
	switch command {
	case "pull":
		return "merge"
	case "merge", "rebase", "cherry-pick", "revert", "am", "stash":
		return command
	}
	return ""
}

// unmerged notes what a script of git left half done, as its output says, or that it ended that.
func (d *Digester) unmerged(text, output string, failed bool) {
	what, ends := "", false
	for _, c := range commandsOf(text) {
		words, _ := gitDirectory(c, "", "")
		if words[0] != "git" || len(words) < 2 {
			continue
		}
		if in := joins(words[1]); in != "" {
			what = in
		}
		ends = ends || words[1] == "commit" || words[1] == "reset" ||
			slices.ContainsFunc(words[2:], func(w string) bool {
				return slices.Contains([]string{"--abort", "--continue", "--quit", "--skip"}, w)
			})
	}
	var files []string
	for line := range strings.SplitSeq(output, "\n") {
		if name, ok := conflictIn(line); ok {
			files = append(files, name)
		}
	}
	if prose.HasAny(output, []string{"could not apply", "rebase in progress"}) &&
		what != "cherry-pick" {
		what = "rebase"
	} else if prose.HasAny(output, []string{"You have unmerged paths", "still merging"}) {
		what = "merge"
	}
	files = lists.Unique(files)
	f := Fact{Kind: Unmerged, Key: "unmerged", State: Failed, Text: what + " in progress"}
	switch {
	case what != "" && len(files) > maxUnmerged:
		f.Text += ": conflicts in " + strings.Join(files[:maxUnmerged], ", ") + ", …"
	case what != "" && len(files) > 0:
		f.Text += ": conflicts in " + strings.Join(files, ", ")
	case strings.Contains(output, "All conflicts fixed but you are still"):
		f.Text += ": all conflicts are resolved"
	case ends && !failed || strings.Contains(output, "working tree clean"):
		if f.State = Dropped; !slices.ContainsFunc(d.Made, func(f Fact) bool {
			return f.Kind == Unmerged
		}) {
			return
		}
	default:
		return
	}
	d.add(f)
}

// conflictIn returns the file that a line of git names as one with a conflict.
func conflictIn(line string) (name string, ok bool) {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, "CONFLICT ("); ok {
		if _, name, ok := strings.Cut(rest, "Merge conflict in "); ok {
			return name, true
		}
		_, rest, _ = strings.Cut(rest, "): ")
		name, _, _ = strings.Cut(rest, " ")
		return name, name != ""
	}
	for _, lead := range [...]string{"both modified:", "both added:", "deleted by us:",
		"deleted by them:", "added by us:", "added by them:", "both deleted:"} {
		if name, ok := strings.CutPrefix(line, lead); ok {
			return strings.TrimSpace(name), true
		}
	}
	return "", false
}
