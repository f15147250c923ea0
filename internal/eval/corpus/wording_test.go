package corpus

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The sentences that state facts are a yardstick only as long as no rule knows them: no phrase of
// two words or more that the summarizer names may stand in one.
func TestWorkingIsUnknownToTheSummarizer(t *testing.T) {
	phrases := phrasesIn(t, "../../../forest/summarize/*.go")
	messages, facts := Working()
	talks := Conversations(messages)
	for _, f := range facts {
		talk := talks[slices.IndexFunc(talks,
			func(m []Message) bool { return m[0].Conversation == f.Conversation })]
		for s := range strings.SplitSeq(talk[f.Evidence[0]].Text, ". ") {
			for _, phrase := range phrases {
				if strings.Contains(s, f.Answer) && strings.Contains(
					" "+strings.ToLower(strings.Trim(s, "."))+" ", " "+phrase+" ") {
					t.Errorf("the summarizer names %q, as in %q", phrase, s)
				}
			}
		}
	}
}

// phrasesIn are the runs of words in the strings of Go files, in lower case; the alternatives of an
// expression count one by one.
func phrasesIn(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	words := regexp.MustCompile(`^[a-z']+( [a-z']+)+$`)
	parts := regexp.MustCompile(`\\[a-zA-Z]|[|()\[\]?*+^$,;:.]`)
	var list []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			for _, part := range parts.Split(strings.ToLower(text), -1) {
				if part = strings.TrimSpace(part); words.MatchString(part) &&
					strings.Count(part, " ") < 4 {
					list = append(list, part)
				}
			}
			return true
		})
	}
	return list
}
