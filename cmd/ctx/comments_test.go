package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxComment is the largest width of a comment line, in runes. Lines of code, and so comments
// behind code, may be longer.
const maxComment = 100

// TestCommentWidth checks the width of every comment line in the module.
func TestCommentWidth(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		wide, err := wideLines(path)
		for _, line := range wide {
			t.Error(line)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wideLines returns a message for each line of a file that is wider than maxComment and holds
// nothing but a comment. It accepts a directive, and a single word, such as an address, which
// cannot be wrapped.
func wideLines(path string) (wide []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	code := linesOfCode(set, file)
	for _, group := range file.Comments {
		for _, c := range group.List {
			at := set.Position(c.Pos())
			indent := at.Column - 1
			for n, line := range strings.Split(c.Text, "\n") {
				width := indent + utf8.RuneCountInString(line)
				word := !strings.Contains(strings.TrimSpace(strings.TrimPrefix(line, "//")), " ")
				if width > maxComment && !code[at.Line+n] && !word && !strings.HasPrefix(line, "//go:") {
					wide = append(wide, fmt.Sprintf("%s:%d: comment is %d columns wide, %d are the most",
						path, at.Line+n, width, maxComment))
				}
				indent = 0
			}
		}
	}
	return wide, nil
}

// linesOfCode returns the lines on which a node of the syntax tree begins or ends.
func linesOfCode(set *token.FileSet, file *ast.File) map[int]bool {
	code := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.CommentGroup, *ast.Comment:
			return false
		}
		code[set.Position(n.Pos()).Line] = true
		code[set.Position(n.End()-1).Line] = true
		return true
	})
	return code
}
