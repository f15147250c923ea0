package agent

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Each line of a session is in one message, once, in the order of the lines, but for those that
// SpecStory writes around the words. A call of a shell has its description behind its command.
func TestSpecStoryLosesNothing(t *testing.T) {
	for _, name := range []string{"specstory.md", "specstory-old.md"} {
		text := markdownFixture(t, name)
		kit := markdowns[name]
		steps, _, _ := kit.Steps(t, []byte(text))
		var got, want []string
		around := regexp.MustCompile("^```+[a-z]*$|^Tool use: \\*\\*\\w+\\*\\*|" +
			`</?(details|summary|think)>|Tool use: \*\*\w+\*\*`)
		add := func(list *[]string, text string) {
			for line := range strings.Lines(text) {
				line = around.ReplaceAllString(strings.TrimSpace(line), "")
				if line = strings.Trim(line, " `•"); line != "" {
					*list = append(*list, line)
				}
			}
		}
		for _, st := range steps {
			for _, p := range transcript.PartsOf(&st.Message) {
				said, _ := p.Said()
				o := jsonvalue.AsObject(p.Args)
				add(&got, strings.Join([]string{p.Text, o.Text("description"), o.Text("command"),
					o.Text("path"), o.Text("input"), said}, "\n"))
			}
		}
		ours := regexp.MustCompile(`^(<!-- |_\*\*.*\*\*_$|# 2026|<tool-use data|` +
			`</(details></)?tool-use>|</details></think>|<think><details><summary>)`)
		lines := slices.Collect(strings.Lines(text))
		for i, line := range lines {
			rule := line == "---\n" && (strings.HasPrefix(lines[i+2], "_**") ||
				strings.HasPrefix(lines[i-2], "_**"))
			printed := i > 0 && lines[i-1] == "north: on\n"
			if !rule && (printed || !ours.MatchString(strings.TrimSpace(line))) {
				add(&want, line)
			}
		}
		slices.Sort(got) // results of several calls come after all calls
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%q\nwant\n%q\n%s", name, got, want, Trace(steps))
		}
	}
}
