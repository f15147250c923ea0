package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxLine is the largest width of a line, in runes.
const maxLine = 100

// maxLiteral is the most bytes of string literals that a line of code may have and still must keep
// to maxLine. A line with more may be wider, since data is not wrapped.
const maxLiteral = 40

// TestLineWidth checks the width of every line of Go in the module.
func TestLineWidth(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		wide, err := wideLines(path, source)
		for _, line := range wide {
			t.Error(line)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The rules of wideLines.
func TestWideLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for source, want := range map[string]int{
		"// " + long[3:]:                            0,
		"// a " + long[4:]:                          1,
		"//" + long[:50] + long[:50]:                0, // a single word
		"//go:generate " + long:                     0,
		"var x = `" + long + "`":                    0,
		"var x = `\n" + long + "\n`":                0,
		"var x = `\n`+" + long:                      1,
		"var x = " + long[:maxLine-8]:               0,
		"var x = " + long[:maxLine-7]:               1,
		"var x = \"\" + " + long:                    1,
		"var x = 1 // " + long:                      1,
		"func f() {\n\tx(" + long[7:] + ")\n}":      0,
		"func f() {\n\tx(" + long[6:] + ")\n}":      1,
		"/* " + long[:50] + " " + long[:50] + " */": 1,
	} {
		got, err := wideLines("a.go", []byte("package a\n\n"+source+"\n"))
		if err != nil || len(got) != want {
			t.Errorf("%q: %q, %v", source, got, err)
		}
	}
}

// wideLines returns a message for each line of a file that is wider than maxLine. A tab is four
// columns before code, and one before a comment. It accepts a directive, a comment of a single
// word, such as an address, and a line with much of a string literal.
func wideLines(path string, source []byte) (wide []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(source, []byte("\n"))
	literal := literals(set, file, lines)
	comment := commentLines(set, file, lines)
	for i, line := range lines {
		n, text := i+1, string(bytes.TrimSpace(line))
		width := utf8.RuneCount(line)
		if !comment[n] {
			width += 3 * (len(line) - len(bytes.TrimLeft(line, "\t")))
		}
		switch {
		case width <= maxLine, literal[n] > maxLiteral:
		case comment[n] && (strings.HasPrefix(text, "//go:") ||
			!strings.Contains(strings.TrimSpace(strings.TrimPrefix(text, "//")), " ")):
		default:
			wide = append(wide, fmt.Sprintf("%s:%d: %d columns wide, %d are the most", path, n, width,
				maxLine))
		}
	}
	return wide, nil
}

// literals returns for each line how many bytes of string literals it has.
func literals(set *token.FileSet, file *ast.File, lines [][]byte) map[int]int {
	count := map[int]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		if x, ok := n.(*ast.BasicLit); ok && x.Kind == token.STRING {
			from, to := set.Position(x.Pos()), set.Position(x.End())
			for n := from.Line; n <= to.Line; n++ {
				begin, end := 0, len(lines[n-1])
				if n == from.Line {
					begin = from.Column - 1
				}
				if n == to.Line {
					end = to.Column - 1
				}
				count[n] += end - begin
			}
		}
		return true
	})
	return count
}

// commentLines returns the lines that have nothing but a comment.
func commentLines(set *token.FileSet, file *ast.File, lines [][]byte) map[int]bool {
	only := map[int]bool{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			from, to := set.Position(c.Pos()), set.Position(c.End())
			before := lines[from.Line-1][:from.Column-1]
			for n := from.Line; n <= to.Line; n++ {
				only[n] = n > from.Line || len(bytes.TrimSpace(before)) == 0
			}
		}
	}
	return only
}
