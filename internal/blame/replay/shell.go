package replay

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/script"
)

// maxScript is the longest script that is read, in bytes.
const maxScript = 1 << 20

// Script returns the changes that a shell script makes to files, as far as the script itself
// says what it writes: here-documents, echo and printf into a file, tee, apply_patch, mv and rm. Of
// a file that it changes in another way, by sed -i or by the output of a program, there is a Touch.
// Paths are under dir, where the script begins.
func Script(text, dir string) []Change {
	if len(text) > maxScript {
		return nil
	}
	var out []Change
	piped := (*string)(nil) // what the command before writes into the pipe
	place := script.From(dir, under)
	for _, c := range script.Read(text) {
		if !c.Piped {
			piped = nil
		}
		if len(c.Words) > 0 && place.Go(c.Words) {
			continue
		}
		changes, printed := changesOf(c, place.Dir, piped)
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
		for _, m := range script.Moves(files) {
			out = append(out, Change{Path: under(dir, m.To), From: under(dir, m.From), Kind: Move})
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
		}) {
			for _, f := range behindProgram(args) {
				out = append(out, Change{Path: under(dir, f), Kind: Touch})
			}
		}
	case "cp":
		if len(files) == 2 {
			out = append(out, Change{Path: under(dir, files[1]), Kind: Touch})
		}
	case "gofmt", "goimports", "gofumpt", "prettier", "black", "rustfmt":
		rewrites := func(a string) bool { return a == "-w" || a == "--write" || a == "-lw" }
		for _, f := range files {
			if path.Ext(f) != "" &&
				(name == "black" || name == "rustfmt" || slices.ContainsFunc(args, rewrites)) {
				out = append(out, Change{Path: under(dir, f), Kind: Touch})
			}
		}
	case "python", "python3", "node", "ruby":
		text := strings.Join(args, "\n")
		if input != nil {
			text += "\n" + *input
		}
		for _, f := range writtenBy(text) {
			out = append(out, Change{Path: under(dir, f), Kind: Touch})
		}
	}
	if c.To != "" {
		out = append(out, writes(under(dir, c.To), printed, c.More))
		printed = nil
	}
	return out, printed
}

// behindProgram returns the files of sed and perl: the operands but for the program.
func behindProgram(args []string) (files []string) {
	isProgram := func(a string) bool { return a == "-e" || a == "-pe" || a == "-pie" || a == "-f" }
	skip := !slices.ContainsFunc(args, isProgram)
	for _, a := range args {
		switch {
		case isProgram(a):
			skip = true
		case a == "" || strings.HasPrefix(a, "-"):
		case skip:
			skip = false
		default:
			files = append(files, a)
		}
	}
	return files
}

// writtenBy returns the files that a program in the command itself opens by name, if it writes one.
func writtenBy(program string) (files []string) {
	if !strings.Contains(program, ".write") && !strings.Contains(program, "writeFile") {
		return nil
	}
	for _, call := range [...]string{"Path(", "open(", "writeFileSync(", "writeFile(",
		"File.write("} {
		for rest := program; ; {
			_, after, ok := strings.Cut(rest, call)
			if !ok {
				break
			}
			rest = strings.TrimLeft(after, "r")
			if rest == "" || rest[0] != '\'' && rest[0] != '"' {
				continue
			}
			name, _, closed := strings.Cut(rest[1:], rest[:1])
			if closed && path.Ext(name) != "" && !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	return files
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
