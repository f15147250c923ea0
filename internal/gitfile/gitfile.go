// Package gitfile asks git about one file: which commit wrote each of its lines, and which names it
// had before.
//
// It runs the program git from PATH and only reads: objects and the index, never the working tree,
// so that no filter and no hook of a repository runs.
package gitfile

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commit is a commit that wrote lines.
type Commit struct {
	ID      string    // in hexadecimal
	Author  string    // a name
	Time    time.Time // when it was made; the lines were written before
	Summary string    // its first line
}

// Line is a line of the file as HEAD has it.
type Line struct {
	Text   string
	Commit *Commit
}

// Name is a name that the file had, up to a time.
type Name struct {
	Path  string    // from the top of the work tree, with slashes
	Until time.Time // of the commit that renamed it; zero if that is not committed yet
}

// File is what git knows of a file.
type File struct {
	Lines []Line // nil if HEAD has no such file
	Names []Name // its earlier names, newest first
}

// limit is how long git may take. A repository can have a very long history.
const limit = 20 * time.Second

// Read returns what git knows of the file name, a path with slashes, in the work tree at top. An
// error says that git is not there, or cannot read the repository.
func Read(c context.Context, top, name string) (*File, error) {
	c, cancel := context.WithTimeout(c, limit)
	defer cancel()
	f := &File{}
	at := name
	staged, err := Run(c, top, "", "diff", "--cached", "--no-ext-diff", "--no-textconv",
		"--name-status", "-M", "--diff-filter=R", "-z")
	if err != nil {
		return nil, err
	}
	for fields := strings.Split(staged, "\x00"); len(fields) >= 3; fields = fields[3:] {
		if fields[2] == name {
			f.Names, at = append(f.Names, Name{Path: fields[1]}), fields[1]
		}
	}
	if tracked, err := Run(c, top, "", "ls-tree", "-z", "--name-only", "HEAD", "--",
		":(literal,top)"+at); err != nil || tracked == "" {
		return f, nil //nolint:nilerr // a repository without a commit knows no file
	}
	failed := make(chan error, 1)
	go func() {
		out, err := Run(c, top, "", "log", "--no-ext-diff", "--no-textconv", "--follow",
			"--diff-filter=R", "-M", "--name-status", "-z", "--format=%x01%ct", "HEAD", "--",
			":(literal)"+at)
		f.Names = append(f.Names, renames(out)...)
		failed <- err
	}()
	out, err := Run(c, top, "", "blame", "--no-textconv", "--porcelain", "-w", "-M", "HEAD", "--",
		at)
	f.Lines = readBlame(out)
	return f, errors.Join(err, <-failed)
}

// Run runs git in a directory, with a text as its standard input, and returns what it prints. No
// program that the repository names runs, and nothing is fetched. Of the variables of git only
// those count that set its configuration: others name another repository.
func Run(c context.Context, dir, stdin string, args ...string) (string, error) {
	command := args[0]
	args = append([]string{"--no-pager", "-c", "core.fsmonitor=false", "-c",
		"core.hooksPath=" + os.DevNull, "-c", "blame.ignoreRevsFile=",
		"-c", "log.showSignature=false", "-c", "core.quotePath=false",
		"-c", "protocol.allow=never"}, args...)
	cmd := exec.CommandContext(c, "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "GIT_CONFIG")
	})
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		first, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n")
		err = errors.New("git " + command + ": " + first)
	}
	return string(out), err
}

// renames reads the output of git log with -z: for each commit "\x01TIME", then "R100", the name
// before and the name after.
func renames(out string) (list []Name) {
	for commit := range strings.SplitSeq(out, "\x01") {
		fields := strings.FieldsFunc(commit, func(r rune) bool { return r == 0 || r == '\n' })
		if len(fields) < 4 || !strings.HasPrefix(fields[1], "R") {
			continue
		}
		seconds, err := strconv.ParseInt(fields[0], 10, 64)
		if err == nil {
			list = append(list, Name{Path: fields[2], Until: time.Unix(seconds, 0).UTC()})
		}
	}
	return list
}

// readBlame reads the output of git blame --porcelain. It ends at the first line that has another
// form.
func readBlame(out string) (list []Line) {
	commits := map[string]*Commit{}
	var at *Commit
	for line := range strings.SplitSeq(out, "\n") {
		if text, ok := strings.CutPrefix(line, "\t"); ok && at != nil {
			list = append(list, Line{strings.TrimSuffix(text, "\r"), at})
			at = nil
			continue
		}
		key, value, _ := strings.Cut(line, " ")
		if at == nil {
			if !isHash(key) {
				return list
			}
			if at = commits[key]; at == nil {
				at = &Commit{ID: key}
				commits[key] = at
			}
			continue
		}
		switch key {
		case "author":
			at.Author = value
		case "committer-time":
			if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
				at.Time = time.Unix(seconds, 0).UTC()
			}
		case "summary":
			at.Summary = value
		}
	}
	return list
}

func isHash(s string) bool {
	return len(s) >= 40 && strings.Trim(s, "0123456789abcdef") == ""
}
