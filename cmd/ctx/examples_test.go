package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestDocsExamples holds every line with ctx in a page, and in the examples of the help, to the
// command line as it is: the command exists, takes these flags, and as many arguments. The pages
// whose examples begin with `sh` are run as well, by the scripts that say `page`.
func TestDocsExamples(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, page := range pagesWithExamples(t) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks(string(b)) {
			if block.kind != "" && block.kind != "sh" {
				continue
			}
			for line := range strings.Lines(block.text) {
				for _, args := range ctxCommands(line) {
					checked++
					if err := understood(args); err != nil {
						t.Errorf("%s: %s: %v", page, strings.TrimSpace(line), err)
					}
				}
			}
		}
	}
	eachCommand(docTree(), func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			for _, args := range ctxCommands(line) {
				checked++
				if err := understood(args); err != nil {
					t.Errorf("ctx help %s: %s: %v", cmd.Name(), strings.TrimSpace(line), err)
				}
			}
		}
	})
	if checked < 300 {
		t.Errorf("only %d command lines were found", checked)
	}
}

// pagesWithExamples are the pages of the project, but for those that are made of the help.
func pagesWithExamples(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	list := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")}
	for _, pattern := range []string{"*.md", "agents/*.md", "format/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, "docs", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pages...)
	}
	return list
}

// understood reports why a command line is not understood; it is not run.
func understood(args []string) error {
	root := docTree()
	cmd, rest, err := root.Find(args)
	if len(args) > 0 && cmd == root && isShipped(args[0]) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if help, _ := cmd.Flags().GetBool("help"); help || cmd.Args == nil {
		return nil
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// ctxCommands returns the arguments of each call of ctx in a line of shell, as far as the line says
// them: one with a gap (…) says too little.
func ctxCommands(line string) (list [][]string) {
	var args []string
	inCtx := false
	end := func() {
		if inCtx && !strings.Contains(strings.Join(args, " "), "…") {
			list = append(list, args)
		}
		args, inCtx = nil, false
	}
	first := true
	for _, word := range shellWords(line) {
		switch {
		case word.operator:
			end()
			first = true
		case first && (word.text == "ctx" || word.text == "$"):
			inCtx, first = word.text == "ctx", word.text == "$"
		case first && strings.Contains(word.text, "="): // a variable for the command
		case first &&
			(word.text == "exec" || word.text == "{" || word.text == "!" || word.text == "sudo"):
		default:
			first = false
			if inCtx {
				args = append(args, word.text)
			}
		}
	}
	end()
	return list
}

type lineWord struct {
	text     string
	operator bool
}

// shellWords splits a line of shell into words and operators. What follows a redirection is left
// out.
func shellWords(line string) (words []lineWord) {
	var b strings.Builder
	open, redirected := false, false
	quote := byte(0)
	flush := func() {
		if open && !redirected {
			words = append(words, lineWord{text: b.String()})
		}
		redirected = redirected && !open
		b.Reset()
		open = false
	}
	line = strings.TrimRight(line, "\n")
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t':
			flush()
		case c == '#' && !open:
			flush()
			return words
		case c == '>' || c == '<':
			if text := b.String(); text == "1" || text == "2" {
				b.Reset()
				open = false
			}
			flush()
			redirected = true
		case strings.IndexByte("|&;()`", c) >= 0:
			flush()
			words = append(words, lineWord{operator: true})
		default:
			b.WriteByte(c)
			open = true
		}
	}
	flush()
	return words
}

// The lines of shell that the pages have are taken apart as a shell would.
func TestShellWords(t *testing.T) {
	for line, want := range map[string]string{
		"ctx log -s work -n 5 # the newest":                     "log -s work -n 5",
		"  cd x && ctx init":                                    "init",
		"ctx append -s a -m 'one # two' >/dev/null; ctx status": "append -s a -m one # two|status",
		"X=1 ctx log | grep ctx":                                "log",
		"ctx render --budget 4000 > context.txt":                "render --budget 4000",
		"id=$(ctx rev-parse @) 2>&1":                            "rev-parse @",
		"ctx append -s S -m \"…\"":                              "",
		"go install ./cmd/ctx":                                  "",
	} {
		var got []string
		for _, args := range ctxCommands(line) {
			got = append(got, strings.Join(args, " "))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// A command line that is not understood is found out.
func TestUnderstood(t *testing.T) {
	for line, ok := range map[string]bool{
		"ctx log -s work": true, "ctx mcp": true, "ctx log --nope": false, "ctx nope": false,
	} {
		for _, args := range ctxCommands(line) {
			if err := understood(args); (err == nil) != ok {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}
