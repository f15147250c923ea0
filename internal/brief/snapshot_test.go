package brief

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// TestSnapshot holds what Gemini CLI holds of its state, in packages/core/src/context/utils:
// snapshotGenerator.test.ts. Four arrays are always there; tasks are open ones, with ids that stay;
// the arc has the newest five turns, the oldest first; what is too long loses facts first, then
// constraints, the arc, and tasks.
func TestSnapshot(t *testing.T) {
	line := func(section Section, turn int, text string) Line {
		return Line{Section: section, Turn: turn, Text: text, Entry: format.Sum([]byte(text))}
	}
	var arc []Line
	for turn := range 7 {
		arc = append(arc, line(Wanted, turn, "> "+strings.Repeat("i", turn+1)),
			line(Concluded, turn, strings.Repeat("o", turn+1)))
	}
	all := []Line{line(Heed, 0, "> Never push."), line(Wanted, 0, "> Go on."),
		line(Todos, 0, "active: Ship it"), line(Todos, 0, "done: Test it"),
		line(Story, 1, "The port is 5433."), line(Failing, 1, "go vet: 1 failed")}
	for name, v := range map[string]struct {
		lines                     []Line
		most                      int
		tasks, facts, rules, arcs []string
	}{
		"an empty state": {},
		"everything has its place": {lines: all, tasks: []string{"Ship it"},
			facts: []string{"The port is 5433.", "failing: go vet: 1 failed"},
			rules: []string{"Never push."}, arcs: []string{"Go on."}},
		"a prompt is a task": {lines: all[1:2], tasks: []string{"Go on."},
			arcs: []string{"Go on."}},
		"what is done is closed": {lines: all[3:4]},
		"the arc is a window": {lines: arc, tasks: []string{"i"},
			arcs: []string{"iiiii → ooooo", "iiii → oooo", "iii → ooo", "ii → oo", "i → o"}},
		"facts go first": {lines: all, most: 200, tasks: []string{"Ship it"},
			rules: []string{"Never push."}, arcs: []string{"Go on."}},
		"then constraints": {lines: all, most: 170, tasks: []string{"Ship it"},
			arcs: []string{"Go on."}},
		"then the arc":                {lines: all, most: 150, tasks: []string{"Ship it"}},
		"then tasks":                  {lines: all, most: 100},
		"an empty state that is long": {lines: all, most: 1},
	} {
		most := v.most
		if most == 0 {
			most = 10_000
		}
		text := Snapshot(v.lines, most, func(s string) int { return len(s) })
		var got struct {
			Tasks []struct{ ID, Description string } `json:"active_tasks"`
			Facts []string                           `json:"discovered_facts"`
			Rules []string                           `json:"constraints_and_preferences"`
			Arc   []string                           `json:"recent_arc"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Tasks == nil ||
			got.Facts == nil || got.Rules == nil || got.Arc == nil {
			t.Errorf("%s: %v: %s", name, err, text)
		}
		var tasks []string
		for _, task := range got.Tasks {
			if tasks = append(tasks, task.Description); !strings.HasPrefix(task.ID, "task_") ||
				len(task.ID) != len("task_")+8 {
				t.Errorf("%s: a task has the id %q", name, task.ID)
			}
		}
		for _, of := range []struct {
			what      string
			got, want []string
		}{{"tasks", tasks, v.tasks}, {"facts", got.Facts, v.facts},
			{"constraints", got.Rules, v.rules}, {"arc", got.Arc, v.arcs}} {
			for i := range of.got {
				of.got[i] = withoutIDs(of.got[i])
			}
			if !slices.Equal(of.got, of.want) {
				t.Errorf("%s: %s are %q, not %q", name, of.what, of.got, of.want)
			}
		}
		if again := Snapshot(v.lines, most,
			func(s string) int { return len(s) }); again != text {
			t.Errorf("%s: the second time it is %s", name, again)
		}
	}
}

// withoutIDs takes the ids of messages out of a text.
func withoutIDs(text string) string {
	for {
		before, after, ok := strings.Cut(text, " [")
		if !ok {
			return text
		}
		_, after, _ = strings.Cut(after, "]")
		text = before + after
	}
}
