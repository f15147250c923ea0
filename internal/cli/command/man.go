package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// ManPages writes a manual page for each command and topic below root, and for root itself, into a
// directory, as NAME.1 with dashes for spaces. It makes the directory. date is that of the release,
// as 2026-11-23, and version its name: the pages of one release are the same bytes wherever they
// are made.
func ManPages(dir string, root *cobra.Command, date, version string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return eachCommand(root, func(cmd *cobra.Command) error {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		return os.WriteFile(filepath.Join(dir, name+".1"),
			[]byte(manPage(cmd, date, version)), 0o644)
	})
}

func eachCommand(cmd *cobra.Command, do func(*cobra.Command) error) error {
	if cmd.Hidden {
		return nil
	}
	if err := do(cmd); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if err := eachCommand(sub, do); err != nil {
			return err
		}
	}
	return nil
}

// manPage returns the help of a command in the language of man(7). The texts have their line breaks
// already, so they are set as they are.
func manPage(cmd *cobra.Command, date, version string) string {
	var b strings.Builder
	s := SectionsOf(cmd)
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 %s %s %s\n", quoted(strings.ToUpper(name)), quoted(date),
		quoted("ctx "+version), quoted("ctx manual"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	part := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", quoted(title), roff(text))
		}
	}
	part("SYNOPSIS", s.Usage)
	part("EXAMPLES", s.Examples)
	part("DESCRIPTION", s.Text)
	for _, g := range s.Groups {
		var list strings.Builder
		for _, sub := range g.Commands {
			fmt.Fprintf(&list, "%s(1)\n    %s\n", strings.ReplaceAll(sub.CommandPath(), " ", "-"),
				sub.Short)
		}
		part(strings.ToUpper(g.Title), list.String())
	}
	part("OPTIONS", s.Flags)
	part("OPTIONS OF EVERY COMMAND", s.Global)
	part("EXIT STATUS", s.Codes)
	if cmd.HasParent() {
		see := strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-") + "(1)"
		if cmd.Parent().HasParent() {
			see += ", " + cmd.Root().Name() + "(1)"
		}
		part("SEE ALSO", see)
	}
	return b.String()
}

// roff returns a text that troff prints as it is: a backslash begins no request, a dash is the one
// that a shell takes, and a dot or an apostrophe begins a line like every other character.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~",
		`\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	var b strings.Builder
	for _, r := range strings.Join(lines, "\n") {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}

func quoted(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
