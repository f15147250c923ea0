package digest

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestUnmerged checks what git left half done after each of some scripts with their outputs.
func TestUnmerged(t *testing.T) {
	type step struct {
		script, output string
		failed         bool
	}
	conflict := step{"git fetch && git merge main", "Auto-merging a.go\n" +
		"CONFLICT (content): Merge conflict in a.go\n" +
		"CONFLICT (modify/delete): b.go deleted in main and modified in HEAD.\n" +
		"Automatic merge failed; fix conflicts and then commit the result.", true}
	const merging = "merge in progress: conflicts in a.go, b.go"
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"a merge", []step{conflict}, merging},
		{"committed", []step{conflict, {"git add -A && git commit --no-edit", "[topic 1a2b3c4] Merge",
			false}}, ""},
		{"not committed", []step{conflict, {"git commit --no-edit", "error: unmerged files", true}},
			merging},
		{"given up", []step{conflict, {"git merge --abort", "", false}}, ""},
		{"looked at", []step{conflict, {"git diff", "diff --cc a.go", false}}, merging},
		{"one is left", []step{conflict, {"git status", "On branch topic\nYou have unmerged paths.\n" +
			"Unmerged paths:\n\tboth modified:   a.go\n", false}},
			"merge in progress: conflicts in a.go"},
		{"all are resolved", []step{conflict, {"git status", "On branch topic\nAll conflicts fixed " +
			"but you are still merging.\n", false}}, "merge in progress: all conflicts are resolved"},
		{"a pull", []step{{"git pull", "CONFLICT (content): Merge conflict in a b.go\n", true}},
			"merge in progress: conflicts in a b.go"},
		{"a pull that rebases", []step{{"git pull --rebase", "CONFLICT (content): Merge conflict in " +
			"a.go\nerror: could not apply 1a2b3c4... x\n", true}},
			"rebase in progress: conflicts in a.go"},
		{"a rebase that goes on", []step{{"git rebase main", "CONFLICT (content): Merge conflict in " +
			"a.go\n", true}, {"git rebase --continue", "CONFLICT (content): Merge conflict in c.go\n" +
			"error: could not apply 2a2b3c4... y\n", true}}, "rebase in progress: conflicts in c.go"},
		{"in another repository", []step{{"cd /tmp/try && git merge x",
			"CONFLICT (content): Merge conflict in a.go\n", true}}, ""},
		{"words of a program", []step{{"./server", "CONFLICT (content): Merge conflict in a.go\n",
			false}}, ""},
	} {
		list := []Message{asked("Bring it up to date.")}
		for _, s := range c.steps {
			args, err := json.Marshal(map[string]string{"command": s.script})
			if err != nil {
				t.Fatal(err)
			}
			result := answered("a", s.output)
			result.Results[0].Failed = s.failed
			list = append(list, called("a", "Bash", string(args)), result)
		}
		got := ""
		for _, f := range Of(numbered(list...)) {
			if f.Kind == Unmerged {
				if got = f.Text; f.State == Dropped {
					got = ""
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, strings.TrimSpace(c.want))
		}
	}
}
