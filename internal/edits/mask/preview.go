package mask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
)

// The tag in which a shortened output stands. It is for the model's eyes: what was masked is known
// from the mask entry, and a tool that prints the tag is neither passed over nor believed.
const (
	openTag  = "<tool_output_masked>"
	closeTag = "</tool_output_masked>"
)

func snippet(preview string, entry format.ID) string {
	return fmt.Sprintf("%s\n%s\n\nOutput too large. `ctx expand %v` shows all of it.\n%s", openTag,
		harmless(preview), entry, closeTag)
}

// Tagged reports whether the tag of a mask may stand in s, a text or JSON, where it may be escaped.
// It proves nothing.
func Tagged(s string) bool { return strings.Contains(s, "tool_output_masked") }

// harmless keeps what a tool printed from closing the tag that it stands in, or opening another.
func harmless(s string) string {
	s = strings.ReplaceAll(s, "<tool_output_masked", "&lt;tool_output_masked")
	return strings.ReplaceAll(s, "</tool_output_masked", "&lt;/tool_output_masked")
}

// preview is what is kept of an output.
func preview(p Part, o Params) string {
	shell := slices.Contains(o.Shell, p.Tool)
	if p.Raw == nil {
		if shell {
			return shellPreview(p.Text, o)
		}
		return ends(p.Text, o.PreviewChars)
	}
	part := readPart(p.Raw)
	switch {
	case part.Result == nil && part.HasText:
		return ends(part.Text, o.PreviewChars)
	case part.Result == nil:
		return ends(pretty(p.Raw), o.PreviewChars)
	case shell:
		return shellResponse(part.Result.Response, o)
	}
	return ends(pretty(part.Result.Response), o.PreviewChars)
}

// shellResponse is the preview of what a command printed, and how it ended.
func shellResponse(raw json.RawMessage, o Params) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return ends(pretty(raw), o.PreviewChars)
	}
	var text string
	printed := fields["output"]
	if len(printed) == 0 || string(printed) == "null" || string(printed) == `""` {
		printed = fields["stdout"]
	}
	if len(printed) > 0 && json.Unmarshal(printed, &text) != nil {
		return string(plain(printed))
	}
	text = shellPreview(text, o)
	for _, name := range []string{"exitCode", "exit_code"} {
		if code := fields[name]; len(code) > 0 && string(code) != "null" {
			if string(code) != "0" {
				text += "\n[Exit Code: " + said(code) + "]"
			}
			break
		}
	}
	if failed := fields["error"]; len(failed) > 0 &&
		!slices.Contains([]string{"null", "false", `""`}, string(failed)) {
		text += "\n[Error: " + said(failed) + "]"
	}
	return text
}

// said is a string as it is, and any other value as JSON.
func said(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(plain(raw))
}

// shellPreview shortens the section Output of a command's report and keeps the others. A text that
// does not begin with a section is no report: all of it is output, whatever its lines begin with.
func shellPreview(text string, o Params) string {
	sections := sectionsOf(text)
	if len(sections) == 0 {
		return lines(text, o.PreviewLines)
	}
	said := make([]string, len(sections))
	for i, s := range sections {
		if s.name == "Output" {
			s.text = lines(s.text, o.PreviewLines)
		}
		said[i] = s.name + ": " + s.text
	}
	return strings.Join(said, "\n")
}

type section struct{ name, text string }

// sectionName returns the name that a line begins a section with; "" for none.
func sectionName(line string) string {
	for _, name := range [...]string{"Output", "Error", "Exit Code", "Signal", "Background PIDs",
		"Process Group PGID"} {
		if strings.HasPrefix(line, name+": ") {
			return name
		}
	}
	return ""
}

// sectionsOf takes a command's report apart; nil for a text that is none.
func sectionsOf(text string) []section {
	var list []section
	for line := range strings.Lines(text) {
		if name := sectionName(line); name != "" {
			list = append(list, section{name, line[len(name)+len(": "):]})
		} else if n := len(list); n > 0 {
			list[n-1].text += line
		} else if strings.TrimSpace(line) != "" {
			return nil
		}
	}
	for i := range list {
		list[i].text = strings.TrimSpace(list[i].text)
	}
	return list
}

// lines keeps half of so many lines at each end of a text that has more.
func lines(text string, most int) string {
	all := strings.Split(text, "\n")
	if len(all) <= most {
		return text
	}
	half := most / 2
	return fmt.Sprintf("%s\n\n... [%d lines omitted] ...\n\n%s",
		strings.Join(all[:half], "\n"), len(all)-2*half, strings.Join(all[len(all)-half:], "\n"))
}

// ends keeps half of so many UTF-16 units at each end of a text that has more.
func ends(text string, most int) string {
	if units(text) <= most {
		return text
	}
	return head(text, most/2) + "\n... [TRUNCATED] ...\n" + tail(text, most/2)
}

// head returns the beginning of s with at most n UTF-16 units.
func head(s string, n int) string {
	for i, r := range s {
		if n--; r >= 0x10000 {
			n--
		}
		if n < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns the end of s with at most n UTF-16 units.
func tail(s string, n int) string {
	at := len(s)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		if n--; r >= 0x10000 {
			n--
		}
		if n < 0 {
			break
		}
		at -= size
	}
	return s[at:]
}
