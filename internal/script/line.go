package script

import (
	"path"
	"slices"
	"strings"
)

// Line returns a script as one line for people: without changes of directory at its start, without
// here-documents, without commands that only print a text of their own, as `echo "=== tests ==="`
// does, and without ends that only shorten an output or redirect errors into it.
func Line(script string) string {
	line := strings.Join(
		strings.Fields(onOneLine(strings.ReplaceAll(withoutHeredoc(script), "\\\n", " "))), " ")
	for strings.HasPrefix(line, "cd ") {
		_, rest, _ := strings.Cut(line, "&& ")
		if _, next, _ := strings.Cut(line, "; "); len(next) > len(rest) {
			rest = next // what comes first leaves more
		}
		if rest == "" {
			break
		}
		line = rest
	}
	return essence(line)
}

// essence leaves out of the commands of a line what Line says. A line of nothing else stays.
func essence(line string) string {
	kept, between := "", ""
	for one, after, rest := "", "", line; rest != ""; {
		if one, after, rest = Cut(rest, "; ", " && "); !isBanner(one) {
			kept += between + whole(one)
			between = ""
		}
		if kept != "" {
			between = after
		}
	}
	if kept == "" {
		return line
	}
	return kept
}

// whole returns a command without an end that only shortens its output.
func whole(command string) string {
	if i := strings.LastIndex(command, "| "); i > 0 {
		if last := strings.Fields(command[i+2:]); len(last) > 0 && len(last) <= 3 &&
			(last[0] == "tail" || last[0] == "head") && !strings.Contains(command[i:], ")") {
			command = strings.TrimSpace(command[:i])
		}
	}
	return strings.TrimSuffix(command, " 2>&1")
}

// isBanner reports whether a command prints a text that is written in it, and nothing else.
func isBanner(command string) bool {
	text, ok := strings.CutPrefix(command, "echo ")
	if !ok || text == "" {
		return false
	}
	marks := "\"'$`|<>&;)}"
	if end := len(text) - 1; end > 0 && text[0] == text[end] && strings.Contains(`"'`, text[:1]) {
		text, marks = text[1:end], "\"$`"
	}
	return !strings.ContainsAny(text, marks)
}

// Cut divides a script at the first operator outside of quotes. Without one, all is before it.
func Cut(script string, operators ...string) (before, operator, after string) {
	quote := byte(0)
	for i := 0; i < len(script); i++ {
		switch c := script[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		default:
			for _, by := range operators {
				if strings.HasPrefix(script[i:], by) {
					return script[:i], by, script[i+len(by):]
				}
			}
		}
	}
	return script, "", ""
}

// Split returns the parts of a script between operators, of which the first that fits counts.
func Split(script string, operators ...string) (parts []string) {
	for {
		before, operator, after := Cut(script, operators...)
		if parts = append(parts, before); operator == "" {
			return parts
		}
		script = after
	}
}

// onOneLine puts the commands of a script on one line, without comments on lines of their own. A
// line break inside quotes is a space.
func onOneLine(script string) string {
	var b strings.Builder
	quoted := false
	for line := range strings.SplitSeq(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' && !quoted {
			continue
		}
		if before := b.String(); before != "" {
			goesOn := quoted || strings.ContainsAny(before[len(before)-1:], "&|;({") ||
				slices.ContainsFunc([]string{" do", " then", " else"},
					func(word string) bool { return strings.HasSuffix(before, word) })
			if !goesOn {
				b.WriteByte(';')
			}
			b.WriteByte(' ')
		}
		b.WriteString(line)
		if strings.Count(line, `"`)%2 == 1 {
			quoted = !quoted
		}
	}
	return b.String()
}

// withoutHeredoc removes the texts of here-documents from a script. Of one that is an argument,
// "$(cat <<END)", the first line stays.
func withoutHeredoc(script string) string {
	var out strings.Builder
	ends := "" // the line that ends the document
	var text []string
	isArgument := false
	for line := range strings.Lines(script) {
		switch {
		case ends != "":
			if one := strings.TrimSpace(line); one != "" && one != ends {
				text = append(text, one)
			} else if one == ends {
				ends = ""
			}
			continue
		case isArgument:
			line = strings.TrimPrefix(strings.TrimSpace(line), ")") + "\n"
			if len(text) > 1 {
				text[0] += " …"
			}
			first := strings.Join(text[:min(1, len(text))], "")
			out.WriteString(strings.ReplaceAll(first, `"`, "'"))
		}
		isArgument = false
		if before, word, ok := strings.Cut(line, "<<"); ok && !strings.HasPrefix(word, "<") {
			word = strings.TrimLeft(strings.TrimPrefix(word, "-"), " ")
			word = word[:strings.IndexFunc(word+"\n", func(r rune) bool {
				return strings.ContainsRune(" \n;|&>)", r)
			})]
			ends, text = strings.Trim(word, `"'\`), nil
			if before, isArgument = strings.CutSuffix(before, "$(cat "); isArgument {
				line = before
			}
		}
		out.WriteString(line)
	}
	return out.String()
}

// Move is a file that mv moves, and where to.
type Move struct{ From, To string }

// Moves returns what mv does with its operands. What is moved into a directory keeps its name; a
// directory is what ends with a slash or is named by dots, and what several files are moved to. No
// other directory can be told from a file.
func Moves(operands []string) (list []Move) {
	if len(operands) < 2 {
		return nil
	}
	to := operands[len(operands)-1]
	base := path.Base(to)
	into := len(operands) > 2 || strings.HasSuffix(to, "/") || base == "." || base == ".."
	for _, from := range operands[:len(operands)-1] {
		m := Move{from, to}
		if into {
			m.To = path.Join(to, path.Base(from))
		}
		list = append(list, m)
	}
	return list
}

// Place follows the commands of a script into the directories in which they run.
type Place struct {
	Dir string // of the next command: "" where the script begins, if that is not known

	join        func(dir, to string) string
	start, last string
	left        []string // by pushd
}

// From returns the place where a script begins. join returns the path of a directory as it is named
// in another one.
func From(dir string, join func(dir, to string) string) *Place {
	return &Place{Dir: dir, join: join, start: dir, last: dir}
}

// Join returns the path of a file as it is named in a directory, which may be unknown.
func Join(dir, file string) string {
	if dir == "" || path.IsAbs(file) {
		return file
	}
	return path.Join(dir, file)
}

// Go follows a command, and reports whether it does nothing but go to a directory. With the end of
// a group ends what its commands did; where it began is not known.
func (p *Place) Go(words []string) bool {
	to := p.Dir
	switch n := len(words); {
	case words[0] == ")":
		p.Dir = p.start
		return false
	case words[0] == "popd" && len(p.left) > 0:
		to, p.left = p.left[len(p.left)-1], p.left[:len(p.left)-1]
	case words[0] == "pushd" && n > 1:
		p.left = append(p.left, to)
		to = p.join(to, words[n-1])
	case words[0] == "cd" && n > 1 && words[n-1] == "-":
		to = p.last
	case words[0] == "cd" && n > 1:
		to = p.join(to, words[n-1])
	default:
		return words[0] == "cd"
	}
	p.Dir, p.last = to, p.Dir
	return true
}
