//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fileArguments are the command lines that read a file, without its name.
var fileArguments = [][]string{
	{"append", "-s", "work", "--role", "user", "-F"},
	{"append", "-s", "work", "--jsonl"},
	{"offload"},
	{"hash-object"},
	{"replace", "--commit"},
	{"compact", "--commit"},
	{"epoch", "observe"},
	{"epoch", "preview"},
	{"epoch", "guard"},
	{"loop", "check"},
	{"loop", "check", "--state"},
	{"session", "state", "set", "--jsonl"},
	{"import", "gemini-cli"},
	{"import", "claude-code"},
	{"import", "codex"},
	{"import", "opencode"},
	{"import", "jsonl"},
	{"import", "adk-events"},
	{"import", "union-find-json"},
	{"-C", "empty", "bundle", "--restore"},
}

// A file that a command line names is read only where it is a regular file: a pipe is not waited
// for, and a device is not read for ever. A test that hangs here is the fault.
func TestOnlyRegularFiles(t *testing.T) {
	dir := project(t)
	pipe, device := filepath.Join(dir, "pipe"), filepath.Join(dir, "device.messages.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", device); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range fileArguments {
		for _, file := range []string{pipe, device} {
			args := append(args[:len(args):len(args)], file)
			code, _, stderr := runIn(t, dir, "", args...)
			if code != exitFailed || !strings.Contains(stderr, "not a regular file") {
				t.Errorf("%v: exit code %d: %s", args, code, stderr)
			}
		}
	}
}

// Settings are read from regular files only, too.
func TestOnlyRegularSettings(t *testing.T) {
	dir := project(t)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	w := testWorld(dir, "")
	w.userConf = pipe
	if code, _, stderr := runWorld(w, []string{"config"}); code != exitFailed ||
		!strings.Contains(stderr, "not a regular file") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if err := os.Mkdir(filepath.Join(dir, ".gemini"), 0o700); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".gemini", "settings.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runIn(t, dir, "", "status"); code != exitDone {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
