package repo

import (
	"errors"
	"fmt"
)

var (
	// ErrNoStore says that there is no store where one was looked for.
	ErrNoStore = errors.New("no store found")
	// ErrHalf says that a store was not finished: Init was cut short, or the format file is lost. Init finishes it.
	ErrHalf = errors.New("store is not finished; run ctx init")
	// ErrHome says that a store would lie in the home directory's .gemini, which is the agent's own.
	ErrHome = errors.New("no store can be made in the home directory")
)

// OwnerError says that a store belongs to another user. Its content is a stranger's, and may be made to mislead.
type OwnerError struct {
	Path string // the store's directory
	UID  uint32 // whose it is
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("store belongs to another user: %q: user id %d", e.Path, e.UID)
}

// KeyError says that the store's key is missing or is not one. Without its key a store can be read, but not written.
type KeyError struct {
	Path string
	Why  string
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("store has no usable key: %q: %s", e.Path, e.Why)
}

// CorruptError says that the format file is damaged.
type CorruptError struct {
	Path string
	Why  string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt: %q: %s", e.Path, e.Why)
}

// ConfigError says that a setting cannot be used, and where it was given.
type ConfigError struct {
	Origin string // "flag", "env CTX_…" or "file <path>"; "" for a key that was asked for
	Line   int    // in the file, from 1; 0 where that is not known or there is no file
	Key    string // as it was given; "" where a file cannot be parsed at all
	Why    string
	Hint   string // what to do, where that is known; else ""
}

func (e *ConfigError) Error() string {
	where := e.Origin
	if e.Line > 0 {
		where = fmt.Sprintf("%s, line %d", e.Origin, e.Line)
	}
	switch {
	case e.Key == "":
		return fmt.Sprintf("bad config: %s: %s", where, e.Why)
	case where == "":
		return fmt.Sprintf("bad setting: %q: %s", e.Key, e.Why)
	}
	return fmt.Sprintf("bad setting: %q: %s (%s)", e.Key, e.Why, where)
}
