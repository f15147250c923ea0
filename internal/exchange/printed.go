package exchange

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/script"
	"github.com/gemini-ctx/ctx/sanitize"
)

// This file finds secrets of which only the call says that they are ones: what `pass show` prints
// is in another message, with nothing beside it.

// printed tells the secrets that calls of a transcript have printed.
type printed struct {
	calls  map[string]transcript.Part // without a result, by their ids
	values []string
	// past returns a call that was read before; nil if everything is read.
	past func(id string) (call transcript.Part, ok bool)
}

// Calls that wait, values that are known, and the least length of a value that is looked for in
// later messages.
const (
	mostPrinters = 1000
	mostPrinted  = 64
	leastPrinted = 8
)

// see has a message say which values in its words are secrets.
func (p *printed) see(m *transcript.Message) {
	if len(m.Calls)+len(m.Results) > 0 {
		for _, part := range transcript.PartsOf(m) {
			switch part.Kind {
			case transcript.PartCall:
				if p.calls == nil || len(p.calls) == mostPrinters {
					p.calls = map[string]transcript.Part{}
				}
				p.calls[part.ID] = part
			case transcript.PartResult:
				p.result(m, &part)
			}
		}
	}
	for _, v := range p.values {
		if len(v) >= leastPrinted && !slices.Contains(m.Secrets, v) &&
			(strings.Contains(m.Text, v) || strings.Contains(string(m.Parts), v)) {
			m.Secrets = append(m.Secrets, v)
		}
	}
}

func (p *printed) result(m *transcript.Message, part *transcript.Part) {
	call, ok := p.calls[part.ID]
	if delete(p.calls, part.ID); !ok && p.past != nil {
		call, ok = p.past(part.ID)
	}
	if !ok {
		return
	}
	said, failed := part.Said()
	values := printedBy(call, (&digest.Result{Output: said, Failed: failed}).Printed())
	m.Secrets = append(m.Secrets, values...)
	for _, v := range values {
		if len(p.values) < mostPrinted && !slices.Contains(p.values, v) {
			p.values = append(p.values, v)
		}
	}
}

// printedBy returns the secrets in the output of a call.
func printedBy(call transcript.Part, output string) []string {
	c := digest.Call{Name: call.Tool, Args: call.Args}
	if text := c.Script(); text != "" {
		return printedByScript(text, output, 0)
	}
	args := jsonvalue.AsObject(call.Args)
	for _, name := range [...]string{"file_path", "filePath", "absolute_path", "path", "target_file"} {
		if file := args.Text(name); file != "" {
			return sanitize.Printed([]string{"cat", path.Base(file)}, withoutNumbers(output))
		}
	}
	return nil
}

// printedByScript is printedBy for a script, in a number of others.
func printedByScript(text, output string, depth int) (values []string) {
	list := script.Read(text)
	for i, c := range list {
		after := i + 1
		for after < len(list) && list[after].Piped && passesOn(list[after].Words) {
			after++
		}
		if after < len(list) && list[after].Piped || c.To != "" || list[after-1].To != "" {
			continue // somebody else reads it
		}
		values = append(values, sanitize.Printed(c.Words, output)...)
		for _, w := range c.Words {
			if inner, ok := substituted(c.Words[0], w); ok && depth < 3 {
				values = append(values, printedByScript(inner, output, depth+1)...)
			}
		}
	}
	return values
}

// passesOn reports whether a program prints lines of what it reads, or another form of them.
func passesOn(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch path.Base(words[0]) {
	case "base64", "head", "tail", "tr", "cut", "sed", "awk", "jq", "yq", "cat", "tee", "xargs", "grep",
		"rg", "sort", "uniq", "fold", "rev", "python", "python3":
		return true
	}
	return false
}

// substituted returns the script in a word of which a command prints the output, or that it runs.
func substituted(program, word string) (inner string, ok bool) {
	if program == "echo" || program == "printf" {
		if _, inner, ok = strings.Cut(word, "$("); ok {
			return strings.TrimSuffix(strings.TrimSpace(inner), ")"), true
		}
		return "", false
	}
	return word, strings.Contains(word, " ") &&
		slices.Contains([]string{"ssh", "sh", "bash", "zsh", "su", "docker", "kubectl"}, program)
}

// withoutNumbers removes the numbers that a tool prints before the lines of a file.
func withoutNumbers(output string) string {
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(strings.TrimLeft(line, " "), "0123456789")
		for _, sign := range [...]string{"→", "\t", "|", ":"} {
			if after, ok := strings.CutPrefix(rest, sign); ok && len(rest) < len(line) {
				lines[i] = after
			}
		}
	}
	return strings.Join(lines, "\n")
}

// pastCall looks for a call among the newest entries of a session.
func (s *Reader) pastCall(session, id string) (call transcript.Part, ok bool) {
	const most = 100
	view, err := s.Refs.Read()
	if err != nil {
		return call, false
	}
	tip := view.Get(history.RefName(session, history.MainBranch)).ID
	for n := 0; n < most && !tip.IsZero(); n++ {
		e, err := s.Header(tip)
		if err != nil {
			return call, false
		}
		if slices.ContainsFunc(e.Calls, func(c format.Call) bool { return c.ID == id }) {
			shown, err := s.Entry(tip)
			if err != nil {
				return call, false
			}
			m := messageOf(shown)
			for _, part := range transcript.PartsOf(&m) {
				if part.Kind == transcript.PartCall && part.ID == id {
					return part, true
				}
			}
		}
		tip = history.FirstParent(e)
	}
	return call, false
}
