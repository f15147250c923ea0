package eval

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/recall"
)

// The kinds of artifacts.
const (
	paths       = "paths"
	commands    = "commands"
	failures    = "failed commands" // with their exit status or a line of what went wrong
	errorLines  = "error lines"
	identifiers = "identifiers" // that come up in more than one message
)

var (
	pathLike = regexp.MustCompile(
		`(?:[\w.@-]*/)+[\w.@-]*\w\.\w{1,8}\b|(?:\.{0,2}/)[\w.@-]+(?:/[\w.@-]+)+`)
	identifierLike = regexp.MustCompile(
		`\b(?:[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)\b`)
	errorLike = regexp.MustCompile(
		`(?i)\b(?:error|fail|failed|failure|panic|fatal|exception|denied|refused|not found|timed? ?out)\b`)
)

// mostSearched limits the artifacts of a conversation that are searched for.
const mostSearched = 1000

// artifact is a text from the traffic of tools, and a test whether a squeezed rendering has it.
type artifact struct {
	kind string
	text string
	in   func(squeezed string) bool
}

// trail adds up report.Artifacts, by kind.
type trail struct {
	rows map[string]*report.Artifacts
}

func (t *trail) report(s *report.Set) {
	for _, kind := range []string{paths, commands, failures, errorLines, identifiers} {
		if row := t.rows[kind]; row != nil {
			row.Share4, row.Share10 = stats.MilliShare(row.At4, row.N),
				stats.MilliShare(row.At10, row.N)
			s.Artifacts = append(s.Artifacts, *row)
		}
	}
}

func (t *trail) add(ctx context.Context, b *evalCase) error {
	list := artifacts(b.live, b.Said())
	if len(list) == 0 {
		return nil
	}
	printed, err := b.shortened()
	if err != nil {
		return err
	}
	reached, err := b.reached(ctx)
	if err != nil {
		return err
	}
	for i, a := range list {
		row := rowOf(&t.rows, a.kind)
		row.Kind = a.kind
		row.N++
		row.At4 += stats.One(a.in(printed[0]))
		row.At10 += stats.One(a.in(printed[1]))
		row.Recoverable += stats.One(holds(reached, a.text))
		if i >= mostSearched {
			continue
		}
		found, err := b.searched(a.text)
		if err != nil {
			return err
		}
		row.Searched++
		row.Found += stats.One(found)
	}
	return nil
}

// searched reports whether a search for a text finds it in one of the first five hits.
func (b *evalCase) searched(text string) (bool, error) {
	hits, err := b.Hits(text, 5, false)
	return slices.ContainsFunc(hits,
			func(h recall.Hit) bool { return holds(squeeze(h.Text), text) }),
		err
}

// reached returns the messages that the ids of a rendering and of all clusters lead to, squeezed.
func (b *evalCase) reached(ctx context.Context) (string, error) {
	e, err := b.expander(ctx)
	if err != nil {
		return "", err
	}
	ids, err := b.printedIDs(0)
	if err != nil {
		return "", err
	}
	list, err := b.Recall.Clusters(e.view)
	if err != nil {
		return "", err
	}
	for _, c := range list {
		ids = append(ids, c.ID.String())
	}
	found := map[format.ID]bool{}
	for _, id := range ids {
		e.exact(id, found)
	}
	var text []string
	for i, id := range b.IDs {
		if found[id] {
			text = append(text, squeeze(b.Texts[i]))
		}
	}
	return strings.Join(text, "\n"), nil
}

// artifacts lists the artifacts of a conversation in the order in which they come up. said has the
// sanitized texts of the messages: a command with a secret is not in them, and is no artifact.
func artifacts(m []corpus.Message, said []string) []artifact {
	var list []artifact
	seen := map[string]bool{}
	add := func(kind, text string, in func(string) bool) {
		if key := kind + "\x00" + squeeze(text); text != "" && !seen[key] {
			seen[key] = true
			list = append(list, artifact{kind, text, in})
		}
	}
	plain := func(kind, text string) {
		want := squeeze(text)
		add(kind, text, func(printed string) bool { return strings.Contains(printed, want) })
	}
	started := map[string]string{} // command by call
	again := map[string]int{}      // message that an identifier was last in
	for i := range m {
		if m[i].Role != "tool" && len(m[i].Calls)+len(m[i].Results) == 0 {
			continue
		}
		for _, p := range pathLike.FindAllString(said[i], -1) {
			plain(paths, p)
		}
		for _, c := range m[i].Calls {
			if command, ok := c.Args["command"].(string); ok && strings.Contains(said[i], command) {
				started[c.ID] = command
				plain(commands, command)
			}
		}
		wrong := errorsIn(m[i].Role, said[i])
		for _, line := range wrong {
			plain(errorLines, line)
		}
		for _, r := range m[i].Results {
			if command := started[r.ID]; command != "" && r.Exit != 0 {
				add(failures, command, failedIn(command, wrong))
			}
		}
		for _, name := range identifierLike.FindAllString(said[i], -1) {
			if last, ok := again[name]; ok && last != i {
				plain(identifiers, name)
			}
			again[name] = i
		}
	}
	return list
}

// errorsIn returns the lines of a tool's output that report an error.
func errorsIn(role, text string) []string {
	var list []string
	if role != "tool" {
		return nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); len(line) <= 240 && errorLike.MatchString(line) {
			list = append(list, line)
		}
	}
	return list
}

// exitStatus matches a status other than 0.
var exitStatus = regexp.MustCompile(`exit (?:code|status):? [1-9]`)

// failedIn returns a test whether a rendering has a command and, soon after it, that it failed.
func failedIn(command string, wrong []string) func(string) bool {
	want := squeeze(command)
	return func(printed string) bool {
		at := strings.Index(printed, want)
		if at < 0 {
			return false
		}
		rest := printed[at:min(len(printed), at+len(want)+1000)]
		for _, line := range wrong {
			if strings.Contains(rest, squeeze(line)) {
				return true
			}
		}
		return exitStatus.MatchString(rest)
	}
}
