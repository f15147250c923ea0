// Package environ describes the process to package repo: the working directory, the home and the
// settings of the user, the clock. It reads the environment for programs that need no replaceable
// world in tests.
package environ

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/lock"
)

// Env returns the environment of this process. command is the name that others see while they wait
// for a lock of this process.
func Env(command string) repo.Env {
	// A directory that is not known is found out about when a store is looked for
	dir, _ := os.Getwd()
	home, _ := os.UserHomeDir() // "" for none
	host, _ := os.Hostname()
	return repo.Env{
		WorkDir:    dir,
		Home:       home,
		StoreDir:   os.Getenv("CTX_DIR"),
		UserConfig: UserConfig(),
		UserData:   UserData(),
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

// UserData returns the directory of what ctx keeps for the user: CTX_USER_DATA, or ctx in the
// directory that the system has for data; "" if there is none.
func UserData() string {
	if path, ok := os.LookupEnv("CTX_USER_DATA"); ok {
		return path
	}
	dir := os.Getenv("XDG_DATA_HOME")
	if filepath.IsAbs(dir) {
		return filepath.Join(dir, "ctx")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	switch runtime.GOOS {
	case "windows":
		dir = os.Getenv("LocalAppData")
	case "darwin":
		dir = filepath.Join(home, "Library", "Application Support")
	default:
		dir = filepath.Join(home, ".local", "share")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "ctx")
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
func Version() string { return ThisBuild().Version }

// Build says what this program was built from, as the go command stamped it.
type Build struct {
	Version string // of the module: a tag, or a pseudo-version; "unknown" for none
	Commit  string // 40 digits; "" where it was not built in a checkout
	Date    string // of the commit, RFC 3339 in UTC; "" for none
	Changed bool   // the checkout had changes that are in no commit
}

// ThisBuild returns what this program was built from.
func ThisBuild() Build {
	b := Build{Version: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}
