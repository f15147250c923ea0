package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Database is how sessions are read that an agent keeps in a database: by the agent's own program,
// or in the tables, by ours.
type Database struct {
	// Files are where it is below the agent's root, with slashes: the first that is there counts.
	Files []string
	// Within says that it is below the directory of a project instead.
	Within bool
	// List lists the sessions in a database, and Export returns one of them in the form that
	// Agent.Read takes; end removes the file. Nil: Tables says how. Callers use an Asker.
	List   func(ctx context.Context, q *Asker, path string) ([]Listed, error)
	Export func(ctx context.Context, path string, of Listed) (f *os.File, end func(), err error)
	// Tables are what ctx-import-sqlite is asked; of several, the first that is answered counts.
	Tables []Tables
}

// dirsOfCrush returns the directories of its list of projects: the data of one may lie above the
// directory that it was started in.
func dirsOfCrush(e Env) (dirs []string) {
	root := e.under("XDG_DATA_HOME", ".local/share", "crush")
	list, _ := document(filepath.Join(root, "projects.json")).Array("projects")
	for _, raw := range list {
		data := jsonvalue.AsObject(raw).Text("data_dir")
		dir := filepath.Dir(data)
		if filepath.IsAbs(data) && filepath.Base(data) == ".crush" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Path returns the database of the agent whose files are in root; "" if there is none.
func (d *Database) Path(root string) string {
	for _, file := range d.Files {
		path := filepath.Join(root, filepath.FromSlash(file))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// OfDatabase returns the row of the agent whose database a file is; nil for any other file.
func OfDatabase(file string) *Agent {
	f, _, err := durable.OpenAtMost(file, math.MaxInt64)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != sqliteMagic {
		return nil
	}
	name := "/" + filepath.ToSlash(file)
	for i := range agents {
		if d := agents[i].Database; d != nil && slices.ContainsFunc(d.Files, func(own string) bool {
			return strings.HasSuffix(name, "/"+path.Base(own))
		}) {
			return &agents[i]
		}
	}
	return nil
}

// sqliteMagic begins each database of SQLite.
const sqliteMagic = "SQLite format 3\x00"

// ErrNoProgram is the error of a Database whose program is not installed, or not any more.
var ErrNoProgram = errors.New("is not on the PATH")

// Listed is a session in a database.
type Listed struct {
	ID        string `json:"id"`
	Directory string `json:"directory"`    // of the project; "" if that is not known
	Created   int64  `json:"time_created"` // in milliseconds since 1970
	Updated   int64  `json:"time_updated"`
	Newer     int    `json:"newer"` // 1 in the tables of opencode 2; else an index of Tables

	// Of a transcript that Entire keeps, what it is and what it is called; else nil
	Kept *Checkpoint `json:"-"`
	Name string      `json:"-"`
}

// File names a session in a database, as if the database were a directory.
func (l Listed) File(path string) string { return filepath.Join(path, l.ID) }

// Mark describes the bytes of a database: it changes whenever they do. It is "" if they cannot be
// looked at.
func Mark(path string) string {
	var mark strings.Builder
	for _, ending := range []string{"", "-wal"} {
		info, err := os.Stat(path + ending)
		if errors.Is(err, fs.ErrNotExist) && ending != "" {
			continue
		}
		if err != nil {
			return ""
		}
		fmt.Fprintf(&mark, "%d %d ", info.Size(), info.ModTime().UnixNano())
	}
	return mark.String()
}

// printed runs a program in a directory, and returns what it printed, in a file: into a pipe it may
// print only the beginning. end closes and removes the file. When ctx ends, so does the program,
// with all that it has started.
func printed(
	ctx context.Context, program, dir string, args []string,
) (f *os.File, end func(), err error) {
	if f, err = os.CreateTemp("", "ctx-import-"); err != nil {
		return nil, nil, err
	}
	end = func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.WaitDelay = f, &said, dir, time.Second
	child.OwnGroup(cmd) // it may be a script that runs the program proper
	cmd.Cancel = func() error {
		child.KillGroup(cmd)
		return nil
	}
	if err = cmd.Run(); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil {
		return f, end, nil
	}
	end()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	return nil, nil, fmt.Errorf("`%s %s`: %w: %s", name, args[0], err, line)
}
