package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// Database is how sessions are read that an agent keeps in a database. Its own program reads them:
// the tables are no contract.
type Database struct {
	// Path returns the database of the agent whose files are in root; "" if there is none.
	Path func(root string) string
	// List lists the sessions in a database.
	List func(ctx context.Context, path string) ([]Listed, error)
	// Export returns one of them in the form that Agent.Read takes. end removes the file. Callers use
	// an Asker.
	Export func(ctx context.Context, of Listed) (f *os.File, end func(), err error)
}

// ErrNoProgram is the error of a Database whose agent is not installed, or not any more.
var ErrNoProgram = errors.New("its program is not on the PATH")

// Listed is a session in a database.
type Listed struct {
	ID        string `json:"id"`
	Directory string `json:"directory"`    // of the project
	Created   int64  `json:"time_created"` // in milliseconds since 1970
	Updated   int64  `json:"time_updated"`
	Newer     int    `json:"newer"` // 1 in the tables of opencode 2
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

func opencodeDatabase(root string) string {
	path := filepath.Join(root, "opencode.db")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// The tables of opencode 1 stay, old, beside those of opencode 2.
const (
	listOne = `select id, directory, time_created, time_updated,` +
		` (select count(*) from sqlite_master where name = 'session_v2') as newer from session`
	listTwo = `select id, directory, time_created, time_updated, 1 as newer from session_v2`
)

// listOpencode lists the sessions in opencode's database.
func listOpencode(ctx context.Context, path string) ([]Listed, error) {
	list, err := queryOpencode(ctx, path, listOne)
	if err == nil && len(list) > 0 && list[0].Newer == 0 || ctx.Err() != nil {
		return list, err
	}
	newer, failed := queryOpencode(ctx, path, listTwo)
	if failed == nil {
		return newer, nil
	}
	return list, err
}

func queryOpencode(ctx context.Context, path, query string) (list []Listed, err error) {
	f, end, err := runOpencode(ctx, filepath.Dir(path), "db", query, "--format", "json")
	if err != nil {
		return nil, err
	}
	defer end()
	b, err := io.ReadAll(io.LimitReader(f, durable.MaxInput))
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, errors.New("`opencode db` printed no JSON")
	}
	return list, nil
}

func exportOpencode(ctx context.Context, of Listed) (f *os.File, end func(), err error) {
	args := []string{"export", of.ID}
	if of.Newer > 0 {
		args = []string{"session", "export", of.ID}
	}
	return runOpencode(ctx, os.TempDir(), args...)
}

// runOpencode runs opencode in a directory that is no project, without plugins, ours among them. It
// returns what opencode printed, in a file: into a pipe it may print only the beginning. end closes
// and removes the file. When ctx ends, so does the program, with all that it has started.
func runOpencode(
	ctx context.Context, dir string, args ...string,
) (f *os.File, end func(), err error) {
	program, err := exec.LookPath("opencode")
	if err != nil {
		return nil, nil, ErrNoProgram
	}
	if f, err = os.CreateTemp("", "ctx-opencode-"); err != nil {
		return nil, nil, err
	}
	end = func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, append(args, "--pure")...)
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
	return nil, nil, fmt.Errorf("`opencode %s`: %w: %s", args[0], err, line)
}
