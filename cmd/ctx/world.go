package main

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gemini-ctx/ctx/lock"
)

// world is everything outside the process that a command may touch, besides the store. Tests and the demonstration make their own.
type world struct {
	watch          func() // has the context of run end with an interrupt from now on; nil for nothing to do
	stdin          io.Reader
	stdout, stderr io.Writer
	// Whether a person sits at the other end; nil for no.
	inTerm, outTerm, errTerm func() bool

	dir      string // the working directory, absolute
	home     string // "" for none
	userConf string // the user's config file; "" for none
	host     string
	pid      int
	getenv   func(string) string
	now      func() time.Time
	random   io.Reader
	fs       *lock.FS // makes the durable calls; nil for the real thing
}

// userConfig is where the user's own settings are: CTX_USER_CONFIG, else ctx/config.toml in the user's configuration directory.
func userConfig() string {
	if path, ok := os.LookupEnv("CTX_USER_CONFIG"); ok {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ctx", "config.toml")
}

func asked(terminal func() bool) bool { return terminal != nil && terminal() }
