package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// The tables of opencode 1 stay, old, beside those of opencode 2.
const (
	listOne = `select id, directory, time_created, time_updated,` +
		` (select count(*) from sqlite_master where name = 'session_v2') as newer from session`
	listTwo = `select id, directory, time_created, time_updated, 1 as newer from session_v2`
)

// listOpencode lists the sessions in opencode's database.
func listOpencode(ctx context.Context, _ *Asker, path string) ([]Listed, error) {
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

func exportOpencode(
	ctx context.Context, _ string, of Listed,
) (f *os.File, end func(), err error) {
	args := []string{"export", of.ID}
	if of.Newer > 0 {
		args = []string{"session", "export", of.ID}
	}
	return runOpencode(ctx, os.TempDir(), args...)
}

// runOpencode runs opencode in a directory that is no project, without plugins, ours among them.
func runOpencode(
	ctx context.Context, dir string, args ...string,
) (f *os.File, end func(), err error) {
	program, err := exec.LookPath("opencode")
	if err != nil {
		return nil, nil, fmt.Errorf("opencode %w", ErrNoProgram)
	}
	return printed(ctx, program, dir, append(args, "--pure"))
}
