package browse

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// said returns what an entry says: texts as they are, calls of tools with their arguments, results,
// changes as lines with + and -, errors, thoughts, and for a note of an agent what kind it has.
func said(shown *history.Shown) []row {
	if shown.Gone != "" {
		return []row{{style: ofGone, text: "[gone: " + shown.Gone + "]"}}
	}
	if shown.Parts == nil {
		return textRows(shown.Text)
	}
	parts, err := message.Parse(shown.Parts)
	if err != nil {
		return textRows(shown.Text)
	}
	var rows []row
	for _, p := range message.Split(parts) {
		rows = append(rows, partRows(&p)...)
	}
	if len(rows) == 0 {
		rows = []row{{style: faint,
			text: "[" + message.Wordless(parts, shown.Entry.Kind == format.KindNote) + "]"}}
	}
	return rows
}

func partRows(p *message.Part) []row {
	switch {
	case p.Call != nil:
		return callRows(p.Call)
	case p.Result != nil:
		return resultRows(p.Result)
	case strings.TrimSpace(p.Text) != "" && p.Thought:
		rows := rowsOf(faint, strings.TrimSpace(p.Text))
		rows[0].text = "[thought] " + rows[0].text
		return rows
	case strings.TrimSpace(p.Text) != "":
		return textRows(p.Text)
	case p.Media != nil && !p.Thought:
		return []row{{style: faint, text: p.Media.Label()}}
	}
	return nil
}

// textRows returns a text with the lines of changes marked, and headings.
func textRows(text string) []row {
	rows := rowsOf(normal, strings.Trim(text, "\n"))
	if isDiff(text) {
		markDiff(rows)
	}
	for i := range rows {
		if rest := strings.TrimLeft(rows[i].text, "#"); len(rest) < len(rows[i].text) &&
			strings.HasPrefix(rest, " ") {
			rows[i].style = bold
		}
		rows[i].hang = listIndent(rows[i].text)
	}
	return rows
}

// listIndent returns the columns of the mark of a list's item, after the indent.
func listIndent(text string) int {
	rest := strings.TrimLeft(text, " ")
	mark, _, ok := strings.Cut(rest, " ")
	switch {
	case !ok:
		return 0
	case mark == "-" || mark == "*" || mark == "•":
		return 2
	case len(mark) < 4 && strings.HasSuffix(mark, ".") && strings.Trim(mark, "0123456789") == ".":
		return len(mark) + 1
	}
	return 0
}

// isDiff reports whether a text has changes in the form of diff, or of a patch of Codex.
func isDiff(text string) bool {
	return strings.HasPrefix(text, "@@ ") || strings.HasPrefix(text, "diff --git ") ||
		strings.Contains(text, "\n@@ ") || strings.Contains(text, "*** Begin Patch")
}

func markDiff(rows []row) {
	for i := range rows {
		switch text := rows[i].text; {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"):
		case strings.HasPrefix(text, "+"):
			rows[i].style = added
		case strings.HasPrefix(text, "-"):
			rows[i].style = removed
		case strings.HasPrefix(text, "@@"), strings.HasPrefix(text, "*** "):
			rows[i].style = faint
		}
	}
}

// mostArg is how many bytes of a value stand on one line with its name.
const mostArg = 200

// callRows shows a call: what it did, then the arguments that this does not say.
func callRows(c *message.Call) []row {
	did := digest.Did(digest.Call{Name: c.Name, Args: c.Args}, nil)
	rows := []row{{lead: "▸ ", text: did, hang: 4}}
	args, ok := members(c.Args)
	if !ok {
		if value := valueRows(c.Args); len(value) > 1 || !strings.Contains(did, joined(value)) {
			rows = append(rows, indented(value)...)
		}
		return rows
	}
	flat := func(text string) string { // as a script on one line and as it was are the same
		return strings.Join(strings.Fields(strings.ReplaceAll(text, "; ", " ")), " ")
	}
	args = slices.DeleteFunc(slices.Clone(args), func(m jsonvalue.Member) bool {
		text, is := jsonvalue.Text(m.Value)
		return is && strings.Contains(flat(did), flat(text))
	})
	changes := func(m jsonvalue.Member) bool { return digest.IsChange(m.Name) }
	isEdit := slices.ContainsFunc(args, changes)
	var numbers []string // and other short values, on one line
	for _, m := range args {
		if isPlain(m.Value) {
			numbers = append(numbers, m.Name+": "+string(m.Value))
		}
	}
	for _, m := range args {
		if isPlain(m.Value) || changes(m) {
			continue
		}
		rows = append(rows, memberRows(m)...)
	}
	if len(numbers) > 0 {
		rows = append(rows, row{style: faint, text: "  " + strings.Join(numbers, ", "), hang: 2})
	}
	if isEdit {
		rows = append(rows, indented(changeRows(c.Args))...)
	}
	return rows
}

// isPlain reports whether a value is a number, true, false or null.
func isPlain(value json.RawMessage) bool {
	return len(value) > 0 && strings.IndexByte(`"{[`, value[0]) < 0
}

func joined(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.text + "\n")
	}
	return b.String()
}

// members returns the members of an object. ok is false for any other value.
func members(raw json.RawMessage) ([]jsonvalue.Member, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	list, err := jsonvalue.Members(raw)
	return list, err == nil
}

// memberRows shows a member of an object: a short value beside its name, any other one below it.
func memberRows(m jsonvalue.Member) []row {
	name := "  " + m.Name + ": "
	rows := valueRows(m.Value)
	if len(rows) == 0 {
		return []row{{style: faint, text: name}}
	}
	if len(rows) == 1 && len(rows[0].text) <= mostArg && rows[0].style == normal {
		return []row{{style: faint, text: name + rows[0].text, hang: 2}}
	}
	return append([]row{{style: faint, text: name}}, indented(indented(rows))...)
}

// valueRows shows a JSON value: a string as it is, an object by its members, a list by its
// elements, anything else as JSON.
func valueRows(raw json.RawMessage) []row {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if text, ok := jsonvalue.Text(raw); ok {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return textRows(text)
	}
	if raw[0] == '[' {
		if list, err := jsonvalue.Elements(raw); err == nil {
			return listRows(list)
		}
	}
	return []row{{text: string(raw)}}
}

// listRows shows the elements of a list: words one after the other, edits as changes, and any other
// object as its texts, as in the list of what is to be done.
func listRows(list []json.RawMessage) []row {
	var words []string
	for _, one := range list {
		if text, ok := jsonvalue.Text(one); ok {
			words = append(words, text)
		}
	}
	if len(words) == len(list) {
		return textRows(strings.Join(words, " "))
	}
	var rows []row
	for _, one := range list {
		args, ok := members(one)
		switch {
		case !ok:
			rows = append(rows, row{text: "- " + string(one), hang: 2})
		case digest.Change(one) != "":
			rows = append(rows, changeRows(one)...)
		default:
			var texts []string
			for _, m := range args {
				text, isText := jsonvalue.Text(m.Value)
				if !isText {
					text = m.Name + ": " + string(m.Value)
				}
				texts = append(texts, strings.ReplaceAll(text, "\n", " "))
			}
			rows = append(rows, row{text: "- " + strings.Join(texts, " · "), hang: 2})
		}
	}
	return rows
}

func indented(rows []row) []row {
	for i := range rows {
		rows[i].text = "  " + rows[i].text
	}
	return rows
}

// changeRows shows what an edit changes, as lines with + and -.
func changeRows(args json.RawMessage) []row {
	rows := rowsOf(normal, strings.TrimSuffix(digest.Change(args), "\n"))
	for i := range rows {
		rows[i].hang = 2
		switch rows[i].text[:min(len(rows[i].text), 2)] {
		case "- ":
			rows[i].style = removed
		case "+ ":
			rows[i].style = added
		}
	}
	return rows
}

// resultRows shows what a tool answered. An object with one text is that text, as for ctx log.
func resultRows(r *message.Result) []row {
	var rows []row
	failed := r.Failed()
	if args, ok := members(r.Response); ok && len(args) > 1 {
		for _, m := range args {
			if value := valueRows(m.Value); len(value) > 1 {
				rows = append(append(rows, row{style: faint, text: m.Name + ":"}),
					indented(value)...)
			} else {
				rows = append(rows,
					row{style: faint, text: m.Name + ": " + strings.TrimSuffix(joined(value), "\n"),
						hang: 2})
			}
		}
	} else {
		rows = textRows(r.Printed())
	}
	for _, part := range r.Parts {
		if p, err := message.ParsePart(part); err == nil {
			rows = append(rows, partRows(&p)...)
		}
	}
	if failed {
		for i := range rows {
			if rows[i].style == normal {
				rows[i].style = ofGone
			}
		}
		rows[0].lead = "✗ "
	} else if strings.TrimSpace(joined(rows)) == "" {
		return []row{{style: faint, text: "[no output]"}}
	}
	return rows
}
