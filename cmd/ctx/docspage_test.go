package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/cli/command"
)

// generated is the first line of each page that TestDocs holds.
const generated = "<!--generated-->\n\n"

func pageName(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return "README.md"
	}
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".md"
}

// part is what a page says of a command, or of those that it has for agents.
type part struct {
	name     string // as it is typed
	short    string
	examples []string
	command.Sections
	flags  []flagLine
	agents string // the table of agents
	codes  string
}

type flagLine struct{ names, usage string }

// docPage is the page of a command and of those below it: what their help says.
type docPage struct {
	file   string
	parts  []part
	root   *cobra.Command // of the index
	topic  bool
	shared map[flagLine]string // by several commands: the page that says what the flag does
}

// docPages returns the page of each command of the first level, and the index.
func docPages(root *cobra.Command) []docPage {
	index := docPage{file: pageName(root), parts: docParts(root), root: root,
		shared: map[flagLine]string{}}
	pages := []docPage{index}
	on := map[flagLine][]string{}
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		p := docPage{file: pageName(cmd), parts: docParts(cmd), shared: map[flagLine]string{},
			topic: cmd.IsAdditionalHelpTopicCommand()}
		for i := range p.parts {
			p.parts[i].flags = slices.DeleteFunc(p.parts[i].flags, func(f flagLine) bool {
				return slices.Contains(index.parts[0].flags, f)
			})
			for _, f := range p.parts[i].flags {
				if !slices.Contains(on[f], p.file) {
					on[f] = append(on[f], p.file)
				} else {
					p.shared[f] = ""
				}
			}
		}
		pages = append(pages, p)
	}
	best := map[string]flagLine{} // of a name: what most pages have
	for _, p := range pages {
		for i := range p.parts {
			for _, f := range p.parts[i].flags {
				if len(on[f]) > max(2, len(on[best[f.name()]])) {
					best[f.name()] = f
				}
			}
		}
	}
	for _, p := range pages {
		for i := range p.parts {
			for _, f := range p.parts[i].flags {
				if best[f.name()] == f {
					p.shared[f], index.shared[f] = index.file, ""
				}
			}
		}
	}
	return pages
}

func (p *docPage) text() string {
	for i := range p.parts[1:] {
		p.parts[0].examples = slices.DeleteFunc(p.parts[0].examples, func(line string) bool {
			return slices.Contains(p.parts[i+1].examples, line)
		})
	}
	var b strings.Builder
	b.WriteString(generated)
	level := "#"
	for i := range p.parts {
		p.parts[i].write(&b, level, p.shared)
		if level = "\n##"; i == 0 && len(p.parts) > 2 {
			b.WriteString("\nSubcommands: " + linksTo(p.parts) + "\n")
		}
	}
	p.writeShared(&b)
	switch {
	case p.root != nil:
		writeIndex(&b, p.root)
	case !p.topic:
		fmt.Fprintf(&b, "\n[Common flags](README.md#flags).%s\n", codesOf(p.parts))
	}
	return b.String()
}

// docParts returns what is to be said of a command and of those below it, in this order.
func docParts(cmd *cobra.Command) []part {
	own := part{name: cmd.CommandPath(), short: cmd.Short, Sections: command.SectionsOf(cmd)}
	own.Text = prose(own.Text)
	own.Usage = strings.TrimSuffix(own.Usage, " [flags]")
	own.examples = slices.DeleteFunc(nonEmptyLines(own.Examples), func(line string) bool {
		return line == own.Usage
	})
	own.flags = flagLines(own.Flags)
	own.codes = moreCodes(own.Codes)
	parts := []part{own}
	if !cmd.HasParent() {
		return parts
	}
	sections := helpSections()
	var agents []*cobra.Command
	for _, sub := range cmd.Commands() {
		_, is := catalog.Named(sub.Name())
		switch {
		case sub.Hidden:
		case is && sections[sub.CommandPath()] == "":
			agents = append(agents, sub)
		default:
			parts = append(parts, docParts(sub)...)
		}
	}
	if len(agents) > 0 {
		all := agentsPart(sections[cmd.CommandPath()+" AGENT"], agents)
		parts = slices.Insert(parts, 1, all)
	}
	return parts
}

// agentsPart is what a section of AGENT says: with the names in braces that differ from agent to
// agent as the columns of a table.
func agentsPart(section string, agents []*cobra.Command) part {
	p := docParts(agents[0])[0]
	parent := agents[0].Parent().CommandPath()
	p.Usage = strings.Replace(p.Usage, p.name, parent+" AGENT", 1)
	p.name = parent + " AGENT"
	replaced := []string{"{NAME}", "AGENT", "{PAGE}", "AGENT"}
	var columns [][]string
	names := helpNames(agents[0])
	for i := 0; i < len(names); i += 2 {
		name := names[i]
		if name == "{TITLE}" && strings.Count(section, "{TITLE}") == 1 { // in the line above alone
			replaced = append(replaced, name, "AGENT")
			continue
		}
		if name == "{NAME}" || name == "{PAGE}" || !strings.Contains(section, name) {
			continue
		}
		column := []string{strings.Trim(name, "{}")}
		for _, cmd := range agents {
			column = append(column, helpNames(cmd)[i+1])
		}
		if values := slices.Compact(slices.Sorted(slices.Values(column[1:]))); len(values) == 1 {
			replaced = append(replaced, name, values[0])
			continue
		}
		if one := onlyOne(column[1:]); one >= 0 {
			replaced = append(replaced, name, column[one+1])
			section = strings.ReplaceAll(section, "\n\n", "\n\n\r")
			paragraphs := strings.Split(section, "\r")
			for i, text := range paragraphs {
				if strings.Contains(text, name) {
					paragraphs[i] = "With " + agents[one].Name() + ": " + text
				}
			}
			section = strings.Join(paragraphs, "")
			continue
		}
		columns = append(columns, column)
		replaced = append(replaced, name, column[0])
		section = strings.ReplaceAll(section, "\n\n"+name+".\n", "\n")
	}
	section = strings.NewReplacer(replaced...).Replace(strings.TrimSpace(section))
	title, text, _ := strings.Cut(section, "\n")
	_, p.short, _ = strings.Cut(title, ": ")
	text, examples, _ := strings.Cut(text, helpExamples)
	p.examples = nonEmptyLines(strings.ReplaceAll("\n"+examples, "\n  ", "\n"))
	text, _, _ = strings.Cut(text, helpCodes)
	text, _, _ = strings.Cut(command.Long(text), helpCodes)
	p.Text = prose(text)
	var b strings.Builder
	for row := range len(agents) + 1 {
		if len(columns) == 0 {
			break
		}
		b.WriteString("|AGENT")
		if row > 0 {
			agent, _ := catalog.Named(agents[row-1].Name())
			fmt.Fprintf(&b, "\r[%s](../agents/%s.md)", agent.Name, cmp.Or(agent.Page, agent.Name))
		}
		for _, column := range columns {
			b.WriteString("|" + cell(column[row]))
		}
		b.WriteString("|\n")
		if row == 0 {
			b.WriteString(strings.Repeat("|-", len(columns)+1) + "|\n")
		}
	}
	p.agents = strings.ReplaceAll(b.String(), "AGENT\r", "")
	for _, cmd := range agents {
		for _, f := range flagLines(command.SectionsOf(cmd).Flags) {
			if !slices.Contains(p.flags, f) {
				p.flags = append(p.flags, f)
			}
		}
	}
	return p
}

// onlyOne returns which of some values is there, if all others are empty; -1 if not.
func onlyOne(values []string) int {
	one := slices.IndexFunc(values, func(s string) bool { return s != "" })
	if slices.ContainsFunc(values[one+1:], func(s string) bool { return s != "" }) {
		return -1
	}
	return one
}

// cell is a text in a table: a path as code.
func cell(text string) string {
	if strings.ContainsAny(text, "/*.") && !strings.Contains(text, " ") {
		return "`" + text + "`"
	}
	return escaped(text)
}

func (p *part) write(b *strings.Builder, level string, shared map[flagLine]string) {
	var own []flagLine
	also := map[string][]string{}
	for _, f := range p.flags {
		if page, is := shared[f]; is {
			also[page] = append(also[page], f.name())
		} else {
			own = append(own, f)
		}
	}
	typed := []string{p.Usage, strings.Join(p.examples, "\n"), ""}
	if p.name != "ctx" {
		typed[2] = flagTable(own)
	}
	fmt.Fprintf(b, "%s %s\n\n%s.\n", level, p.name, p.short)
	codeBlock(b, typed...)
	for i, page := range slices.Sorted(maps.Keys(also)) {
		fmt.Fprintf(b, "%s[`%s`](%s#shared-flags)", []string{"\nAlso ", ", "}[min(i, 1)],
			strings.Join(also[page], " "), page)
	}
	if len(also) > 0 {
		b.WriteString(".\n")
	}
	if p.Text != "" {
		b.WriteString("\n" + p.Text + "\n")
	}
	if p.agents != "" {
		b.WriteString("\nA word in capitals is a column; where it is empty, its sentence does not " +
			"hold.\n\n" + p.agents)
	}
	if p.name == "ctx" {
		b.WriteString("\n## Flags\n\nEvery command has these flags, and the " +
			"[exit codes](ctx-exit-codes.md) 0, 1, 2 and 130.\n")
		codeBlock(b, flagTable(own))
	}
}

// codeBlock writes texts as one block, with an empty line between them.
func codeBlock(b *strings.Builder, texts ...string) {
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
	if len(texts) > 0 {
		fmt.Fprintf(b, "\n```\n%s\n```\n", strings.TrimRight(strings.Join(texts, "\n\n"), "\n"))
	}
}

// writeShared says what the flags do that several commands have.
func (p *docPage) writeShared(b *strings.Builder) {
	var list []flagLine
	for f, page := range p.shared {
		if page == "" {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(x, y flagLine) int {
		return cmp.Or(cmp.Compare(strings.ToLower(strings.TrimLeft(x.names, "-")),
			strings.ToLower(strings.TrimLeft(y.names, "-"))), cmp.Compare(x.usage, y.usage))
	})
	b.WriteString("\n## Shared flags\n")
	codeBlock(b, flagTable(list))
}

// name is the shortest name of a flag.
func (f flagLine) name() string {
	name, _, _ := strings.Cut(strings.Fields(f.names)[0], ",")
	return name
}

func flagTable(list []flagLine) string {
	width := 0
	for _, f := range list {
		width = max(width, len(f.names))
	}
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%-*s   %s\n", width, f.names, f.usage)
	}
	return b.String()
}

// flagLines takes apart what pflag lists.
func flagLines(text string) (list []flagLine) {
	line := regexp.MustCompile(`^\s*(\S.*?)\s{3,}(\S.*)$`)
	for _, s := range nonEmptyLines(text) {
		m := line.FindStringSubmatch(s)
		list = append(list, flagLine{m[1], m[2]})
	}
	return list
}

func nonEmptyLines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s == "" })
}

// moreCodes returns the exit codes that not every command has.
func moreCodes(table string) string {
	var codes []string
	for _, line := range nonEmptyLines(table) {
		code, _, _ := strings.Cut(line, " ")
		if !slices.Contains([]string{"0", "1", "2", "130"}, code) {
			codes = append(codes, code)
		}
	}
	return strings.Join(codes, ", ")
}

// codesOf says which exit codes the commands of a page have: first those that most have.
func codesOf(parts []part) string {
	var sets []string
	of := map[string][]string{}
	for i, p := range parts {
		if i == 0 && len(parts) > 1 && p.codes == "" {
			continue
		}
		if of[p.codes] == nil {
			sets = append(sets, p.codes)
		}
		of[p.codes] = append(of[p.codes], strings.TrimPrefix(p.name, parts[0].name+" "))
	}
	slices.SortStableFunc(sets, func(x, y string) int { return len(of[y]) - len(of[x]) })
	if len(sets) == 1 && sets[0] == "" {
		return ""
	}
	text := " More [exit codes](ctx-exit-codes.md): " + cmp.Or(sets[0], "none")
	var others []string
	for _, set := range sets[1:] {
		others = append(others, strings.Join(of[set], ", ")+": "+cmp.Or(set, "none"))
	}
	if len(others) > 0 {
		text += " (" + strings.Join(others, "; ") + ")"
	}
	return text + "."
}

// linksTo leads to the sections of a page.
func linksTo(parts []part) string {
	var links []string
	for _, p := range parts[1:] {
		name := strings.TrimPrefix(p.name, parts[0].name+" ")
		links = append(links, fmt.Sprintf("[%s](#%s)", name, anchorOf(p.name)))
	}
	return strings.Join(links, ", ") + "."
}

// prose is a text of the help as Markdown: a paragraph with an indented line is a block.
func prose(text string) string {
	if text == "" {
		return ""
	}
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			paragraphs[i] = "```text\n" + strings.TrimRight(p, "\n") + "\n```"
		} else {
			paragraphs[i] = escaped(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// escaped returns a text that Markdown shows as it is, but for flags, which it shows as code, and
// pages, to which it links.
func escaped(text string) string {
	special := strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`, "~", `\~`,
		"|", `\|`)
	flags := regexp.MustCompile(`(^|[\s(])(--?[a-zA-Z][a-zA-Z-]*)`)
	list := regexp.MustCompile(`(?m)^(?:([-+#>] )|(\d+)([.)] ))`)
	links := regexp.MustCompile(`\bdocs/([a-z/-]+\.md)\b`)
	spans := strings.Split(text, "`")
	for i := 0; i < len(spans); i += 2 {
		s := special.Replace(spans[i])
		s = list.ReplaceAllString(s, `$2\$1$3`)
		s = flags.ReplaceAllString(s, "$1`$2`")
		spans[i] = links.ReplaceAllString(s, "[$0](../$1)")
	}
	return strings.Join(spans, "`")
}

// writeIndex lists the commands of the first level, and the topics.
func writeIndex(b *strings.Builder, root *cobra.Command) {
	for _, g := range command.SectionsOf(root).Groups {
		fmt.Fprintf(b, "\n## %s\n\n", g.Title)
		for _, cmd := range g.Commands {
			fmt.Fprintf(b, "- [%s](%s): %s\n", strings.TrimPrefix(cmd.CommandPath(), "ctx "),
				pageName(cmd), cmd.Short)
		}
	}
}
