package conversation

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/script"
	"github.com/gemini-ctx/ctx/sanitize"
)

// This file finds secrets of which only the call says that they are ones: what `pass show` prints
// is in another message, with nothing beside it.

// Printed tells the secrets that calls have printed, in messages that come in their order. The zero
// value has seen none.
type Printed struct {
	calls  map[string]sanitize.Prints // of those that print secrets, without a result, by their ids
	values []string
	// past returns the parts of a message with a call that was read before; nil if everything is
	// read.
	past func(id string) []message.Part
	met  map[string]bool // calls that print no secrets, by their ids, if there is a past
}

// Calls that wait, values that are known, and the least length of a value that is looked for in
// later messages.
const (
	mostPrinters = 1000
	mostPrinted  = 64
	leastPrinted = 8
)

// PrintedIn returns a Printed for messages that go on in a branch: a call may be in what the branch
// has.
func (s *Reader) PrintedIn(session, branch string) *Printed {
	return &Printed{met: map[string]bool{}, past: func(id string) []message.Part {
		return s.pastCall(history.RefName(session, branch), id)
	}}
}

// In returns which values in the words of the next message are secrets.
func (p *Printed) In(m *Message) (found []string) {
	if p.waitsFor(m) {
		parts, _ := message.Parse(m.Parts)
		p.called(parts)
		for _, r := range message.Results(parts) {
			found = append(found, p.result(r.ID, r.Output(), r.Failed())...)
		}
		if m.Parts == nil && len(m.Results) == 1 {
			found = append(found, p.result(m.Results[0], m.Text, false)...)
		}
	}
	for _, v := range p.values {
		if len(v) >= leastPrinted && !slices.Contains(found, v) &&
			(strings.Contains(m.Text, v) || strings.Contains(string(m.Parts), v)) {
			found = append(found, v)
		}
	}
	return found
}

// waitsFor reports whether the words of a message have to be read: it has calls, or the result of a
// call that waits or was read before.
func (p *Printed) waitsFor(m *Message) bool {
	if m.Calls == nil && m.Results == nil { // nobody has read them
		return bytes.Contains(m.Parts, []byte(`"function`))
	}
	return len(m.Calls) > 0 || slices.ContainsFunc(m.Results, func(id string) bool {
		return p.calls[id] != 0 || p.isPast(id)
	})
}

// isPast reports whether a call can only be in what was read before.
func (p *Printed) isPast(id string) bool {
	return p.past != nil && p.calls[id] == 0 && !p.met[id]
}

// called notes the calls that print secrets.
func (p *Printed) called(parts []message.Part) {
	for _, c := range message.Deeds(parts) {
		prints := printedBy(digest.Call{Name: c.Name, Args: c.Args})
		if p.calls == nil || len(p.calls) == mostPrinters {
			p.calls = map[string]sanitize.Prints{}
		}
		if prints != 0 {
			p.calls[c.ID] |= prints
		} else if p.past != nil {
			p.met[c.ID] = true
		}
	}
}

// result returns the secrets in the result of a call.
func (p *Printed) result(id, said string, failed bool) []string {
	if p.isPast(id) {
		p.called(p.past(id))
	}
	prints := p.calls[id]
	if delete(p.calls, id); prints == 0 {
		return nil
	}
	output := (&digest.Result{Output: said, Failed: failed}).Printed()
	values := prints.Values(output)
	if values == nil {
		values = prints.Values(withoutNumbers(output))
	}
	for _, v := range values {
		if len(p.values) < mostPrinted && !slices.Contains(p.values, v) {
			p.values = append(p.values, v)
		}
	}
	return values
}

// printedBy says what a call prints.
func printedBy(c digest.Call) sanitize.Prints {
	if text := c.Script(); text != "" {
		return printedByScript(text, 0)
	}
	args := jsonvalue.AsObject(c.Args)
	for _, name := range [...]string{"file_path", "filePath", "absolute_path", "path", "target_file"} {
		if file := args.Text(name); file != "" {
			return sanitize.PrintedBy([]string{"cat", path.Base(file)})
		}
	}
	return 0
}

// printedByScript is printedBy for a script, in a number of others.
func printedByScript(text string, depth int) (prints sanitize.Prints) {
	list := script.Read(text)
	for i, c := range list {
		after := i + 1
		for after < len(list) && list[after].Piped && passesOn(list[after].Words) {
			after++
		}
		if after < len(list) && list[after].Piped || c.To != "" || list[after-1].To != "" {
			continue // somebody else reads it
		}
		prints = max(prints, sanitize.PrintedBy(c.Words))
		for _, w := range c.Words {
			if inner, ok := substituted(c.Words[0], w); ok && depth < 3 {
				prints = max(prints, printedByScript(inner, depth+1))
			}
		}
	}
	return prints
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

// pastCall looks for a call among the newest entries of a branch, and returns the parts of its
// message.
func (s *Reader) pastCall(branch, id string) []message.Part {
	const most = 100
	view, err := s.Refs.Read()
	if err != nil {
		return nil
	}
	tip := view.Get(branch).ID
	for n := 0; n < most && !tip.IsZero(); n++ {
		e, err := s.Header(tip)
		if err != nil {
			return nil
		}
		if slices.ContainsFunc(e.Calls, func(c format.Call) bool { return c.ID == id }) {
			shown, err := s.Entry(tip)
			if err != nil {
				return nil
			}
			parts, _ := message.ParseClean(shown.Parts)
			return parts
		}
		tip = history.FirstParent(e)
	}
	return nil
}
