// Package machine is where a program of ctx runs, as package repo is told of it: the working directory, the user's home and settings, the clock. It is what reads
// the environment for programs that have no world of their own to be tested in.
package machine

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/repo"
)

// Env is the world of this process. command is how the program is called, for whoever waits for a lock that it holds.
func Env(command string) repo.Env {
	dir, _ := os.Getwd()        // a directory that is not known is found out about when a store is looked for
	home, _ := os.UserHomeDir() // "" for none
	host, _ := os.Hostname()
	return repo.Env{
		WorkDir:    dir,
		Home:       home,
		StoreDir:   os.Getenv("CTX_DIR"),
		UserConfig: UserConfig(),
		Getenv:     os.Getenv,
		Now:        time.Now,
		Random:     rand.Reader,
		Owner:      lock.Owner{PID: os.Getpid(), Host: host, Command: command},
	}
}

// UserConfig is where the user's own settings are: CTX_USER_CONFIG, else ctx/config.toml in the user's configuration directory.
func UserConfig() string {
	if path, ok := os.LookupEnv("CTX_USER_CONFIG"); ok {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ctx", "config.toml")
}

// Beside returns the directory that this program is in, links followed, or "" where that is not known.
func Beside() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Dir(path)
}

// Under is path as seen from dir.
func Under(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Version is the version that this program was built as.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
