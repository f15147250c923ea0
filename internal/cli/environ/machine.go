// Package environ describes the process to package repo: the working directory, the home and the
// settings of the user, the clock. It reads the environment for programs that need no replaceable
// world in tests.
package environ

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/lock"
)

// Env returns the environment of this process. command is the name that others see while they wait
// for a lock of this process.
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

// UserConfig returns the path of the user's settings: CTX_USER_CONFIG, or ctx/config.toml in the
// user's configuration directory.
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

// Beside returns the directory of this program, with links resolved, or "" if it is unknown.
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

// Under returns path relative to dir.
func Under(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Version returns the version of this build.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
