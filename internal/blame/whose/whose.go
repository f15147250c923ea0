// Package whose finds who wrote the lines of a file of the project: the calls of agents and, where
// the project is a work tree of git, its commits. It only reads. Begin with Of.
package whose

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gemini-ctx/ctx/internal/blame"
	"github.com/gemini-ctx/ctx/internal/blame/replay"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/gitfile"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// Options say what is asked about a file.
type Options struct {
	// Asked is the file as it was named: if the path is no file, and one file of the project has a
	// path that ends so, that one is meant.
	Asked   string
	Session string          // only edits of this session; "" for all
	Rewound bool            // also edits that were rewound
	NoGit   bool            // git is not asked
	Warn    func(err error) // told why git does not answer
}

// Line is a line with its writer.
type Line struct {
	Number int // from 1
	Text   string
	Call   *blame.Call     // nil if no session wrote it
	Commit *gitfile.Commit // nil if it is not committed
}

// File is a file whose lines have writers.
type File struct {
	Name  string // from the root of the project, with slashes
	Given bool   // its path was given, and not only the end of it
	Lines []Line
}

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 32 << 20

// Of returns who wrote the lines of the file at an absolute path. A file that is outside the
// project, or has no lines of text, is an error of usage.
func Of(
	c context.Context, s *session.Store, view *refs.View, path string, o Options,
) (*File, error) {
	_, err := os.Stat(path)
	given := err == nil
	if !given {
		if path, err = ending(s, path, o.Asked); err != nil {
			return nil, err
		}
	}
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	asked, calls, err := ask(c, s, view, path, o)
	if err != nil {
		return nil, err
	}
	return &File{asked.Name, given, asked.lines(calls, text)}, nil
}

// Calls returns the calls that changed the file at an absolute path, which may be gone.
func Calls(
	c context.Context, s *session.Store, view *refs.View, path string, o Options,
) ([]*blame.Call, error) {
	_, calls, err := ask(c, s, view, path, o)
	return calls, err
}

func readText(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", command.Usagef("cannot read %.200q: no such file", name)
	case info.IsDir():
		return "", command.Usagef("cannot read %.200q: a directory has no lines; name a file", name)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return "", command.Usagef("cannot read %.200q: no file of at most %d bytes", name, maxFile)
	}
	b, err := os.ReadFile(name)
	if err == nil && bytes.IndexByte(b, 0) >= 0 {
		return "", command.Usagef("cannot read %.200q: it has no lines of text", name)
	}
	return string(b), err
}

// askedFile is a file that is asked about, with what git knows of it.
type askedFile struct {
	blame.Query
	// git returns what git knows of it, nil if that is nothing. It waits for git, which is asked
	// while the store is read.
	git func() *gitfile.File
}

func ask(
	c context.Context, s *session.Store, view *refs.View, path string, o Options,
) (asked askedFile, calls []*blame.Call, err error) {
	if asked, err = query(c, s, view, path, o); err == nil {
		calls, err = s.Blame.Calls(view, asked.Query)
	}
	return asked, calls, err
}

// query returns what is asked about a file: its name in the project, and its earlier names.
func query(
	c context.Context, s *session.Store, view *refs.View, path string, o Options,
) (askedFile, error) {
	given := path
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	root, _, inGit := identity.Enclosing(filepath.Dir(path))
	if !inGit {
		root = filepath.Dir(filepath.Dir(s.Dir))
		if dir, err := filepath.EvalSymlinks(root); err == nil {
			root = dir
		}
	}
	name, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(name) {
		return askedFile{},
			command.Usagef("%.200q is not in the project, which is %q", given, root)
	}
	asked := askedFile{Query: blame.Query{Name: filepath.ToSlash(name), Rewound: o.Rewound},
		git: func() *gitfile.File { return nil }}
	asked.Project.Root = filepath.ToSlash(root)
	asked.Project.HasDir = func(name string) bool {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil && info.IsDir()
	}
	if o.Session != "" {
		if asked.Session, err = history.Named(view, o.Session); err != nil {
			return asked, err
		}
	}
	if !inGit || o.NoGit {
		return asked, nil
	}
	asked.git = askGit(c, root, asked.Name, o.Warn)
	asked.Earlier = func() (names []blame.Name) {
		if f := asked.git(); f != nil {
			for _, n := range f.Names {
				names = append(names, blame.Name{Path: n.Path, Until: n.Until})
			}
		}
		return names
	}
	return asked, nil
}

// askGit begins to ask git about a file, and returns a function that waits for the answer.
func askGit(c context.Context, root, name string, warn func(error)) func() *gitfile.File {
	var file *gitfile.File
	var err error
	done := make(chan struct{})
	go func() {
		file, err = gitfile.Read(c, root, name)
		close(done)
	}()
	return sync.OnceValue(func() *gitfile.File {
		<-done
		if err != nil {
			warn(err)
			return nil
		}
		return file
	})
}

// lines returns the lines of a text with their writers.
func (q *askedFile) lines(calls []*blame.Call, text string) []Line {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var commits []*gitfile.Commit
	if f := q.git(); f != nil {
		commits = commitsOf(f, lines)
	}
	times := make([]time.Time, len(commits))
	for i, c := range commits {
		if c != nil {
			times[i] = c.Time
		}
	}
	list := make([]Line, len(lines))
	for i, call := range blame.Lines(q.Query, calls, text, times) {
		list[i] = Line{Number: i + 1, Text: lines[i], Call: call}
		if commits != nil {
			list[i].Commit = commits[i]
		}
	}
	return list
}

// commitsOf returns the commits of lines; nil for a line that HEAD does not have.
func commitsOf(f *gitfile.File, lines []string) []*gitfile.Commit {
	head := lists.Map(f.Lines, func(l gitfile.Line) string { return l.Text })
	commits := make([]*gitfile.Commit, len(lines))
	for i, at := range replay.Pairs(head, lines) {
		if at >= 0 {
			commits[i] = f.Lines[at].Commit
		}
	}
	return commits
}
