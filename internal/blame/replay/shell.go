package replay

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/script"
)

// maxScript is the longest script that is read, in bytes.
const maxScript = 1 << 20

// scriptChanges returns the changes that a shell script makes to files, as far as the script itself
// says what it writes: here-documents, echo and printf into a file, tee, apply_patch, mv and rm. Of
// a file that it changes in another way, by sed -i or by the output of a program, there is a Touch.
func scriptChanges(text, dir string) []Change {
	if len(text) > maxScript {
		return nil
	}
	var out []Change
	piped := (*string)(nil) // what the command before writes into the pipe
	start := dir
	for _, c := range script.Read(text) {
		if !c.Piped {
			piped = nil
		}
		if len(c.Words) > 0 && c.Words[0] == ")" { // the end of a subshell, whose cd ends with it
			dir = start
		}
		if len(c.Words) > 1 && c.Words[0] == "cd" {
			dir = under(dir, c.Words[1])
			continue
		}
		changes, printed := changesOf(c, dir, piped)
		out, piped = append(out, changes...), printed
	}
	return slices.DeleteFunc(out, func(c Change) bool { return !isName(c.Path) })
}

// isName reports whether a word of a script names a file by itself.
func isName(w string) bool {
	return w != "" && !strings.ContainsAny(w, "$`*?\n") &&
		!strings.HasPrefix(w, "/dev/") && w != "."
}

// changesOf returns what a command does to files, and what it prints; nil if that is not known, or
// if it goes into a file.
func changesOf(
	c script.Command, dir string, piped *string,
) (out []Change, printed *string) {
	input := c.Input
	if input == nil {
		input = piped
	}
	name, args := "", []string(nil)
	if len(c.Words) > 0 {
		name, args = c.Words[0], c.Words[1:]
		if name == "sudo" || name == "command" {
			if len(args) == 0 {
				return nil, nil
			}
			name, args = args[0], args[1:]
		}
		if name == "git" && len(args) > 0 &&
			(args[0] == "mv" || args[0] == "rm" || args[0] == "apply") {
			name, args = args[0], args[1:]
		}
	}
	files := operands(args)
	switch name {
	case "apply_patch", "applypatch", "apply", "patch":
		text := input
		if text == nil && len(files) == 1 {
			text = &files[0]
		}
		if text != nil {
			out = patchChanges(*text, dir)
		}
		return out, nil
	case "cat", "tee":
		if name == "cat" && len(files) == 0 {
			printed = input
		}
		if name == "tee" {
			for _, f := range files {
				out = append(out, writes(under(dir, f), input, slices.Contains(args, "-a")))
			}
			printed = input
		}
	case "echo":
		printed = echoed(args)
	case "printf":
		printed = formatted(args)
	case ":", "true", "":
		empty := ""
		printed = &empty
	case "mv":
		if len(files) == 2 {
			to := files[1]
			if strings.HasSuffix(to, "/") {
				to += files[0][strings.LastIndexByte(files[0], '/')+1:]
			}
			out = append(out, Change{Path: under(dir, to), From: under(dir, files[0]), Kind: Move})
		}
	case "rm":
		if !slices.ContainsFunc(args,
			func(a string) bool {
				return a == "--cached" || strings.HasPrefix(a, "-") && strings.Contains(a, "r")
			}) {
			for _, f := range files {
				out = append(out, Change{Path: under(dir, f), Kind: Delete})
			}
		}
	case "sed", "perl":
		if slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "-i") || a == "--in-place" || a == "-pi" ||
				strings.HasPrefix(a, "-pi")
		}) && len(files) > 0 {
			for _, f := range files {
				out = append(out, Change{Path: under(dir, f), Kind: Touch})
			}
		}
	case "cp":
		if len(files) == 2 {
			out = append(out, Change{Path: under(dir, files[1]), Kind: Touch})
		}
	}
	if c.To != "" {
		out = append(out, writes(under(dir, c.To), printed, c.More))
		printed = nil
	}
	return out, printed
}

// writes is a change that sets the text of a file or adds to it; a Touch if the text is not known.
func writes(file string, text *string, more bool) Change {
	switch {
	case text == nil:
		return Change{Path: file, Kind: Touch}
	case more:
		return Change{Path: file, Kind: Append, Text: *text}
	}
	return Change{Path: file, Kind: Write, Text: *text}
}

// operands returns the arguments that are no flags.
func operands(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a, "-") {
			out = append(out, a)
		}
	}
	return out
}

// echoed returns what echo prints; nil if that depends on the shell.
func echoed(args []string) *string {
	end := "\n"
	if len(args) > 0 && args[0] == "-n" {
		end, args = "", args[1:]
	}
	text := strings.Join(args, " ") + end
	if len(args) > 0 && strings.HasPrefix(args[0], "-e") || strings.Contains(text, `\`) ||
		strings.Contains(text, "$") {
		return nil
	}
	return &text
}

// formatted returns what printf prints, for formats without verbs, and for %s and %s\n alone.
func formatted(args []string) *string {
	if len(args) == 0 || strings.Contains(strings.Join(args, ""), "$") {
		return nil
	}
	text := ""
	switch args[0] {
	case "%s", `%s\n`:
		end := strings.TrimPrefix(args[0], "%s")
		for _, a := range args[1:] {
			text += a + strings.ReplaceAll(end, `\n`, "\n")
		}
		return &text
	}
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`, "%%", "%").Replace(args[0])
	if strings.Contains(strings.ReplaceAll(args[0], "%%", ""), "%") || len(args) > 1 {
		return nil
	}
	return &text
}
