package repo

import (
	"errors"
	"fmt"
)

var (
	// ErrNoStore says that no store was found.
	ErrNoStore = errors.New("no store found")
	// ErrHalf says that a store is unfinished: Init was interrupted, or the format file is lost. Init
	// finishes it. Such an error is a *HalfError.
	ErrHalf = errors.New("store is not finished; run ctx init")
	// ErrHome says that a store would be in the home directory's .gemini, which belongs to the agent.
	ErrHome = errors.New("no store can be made in the home directory")
	// ErrInside says that a store would be in a directory of git's own, or in another store.
	ErrInside = errors.New("no store can be made in what git or a store has for itself")
)

// HalfError is ErrHalf for a store.
type HalfError struct {
	Path string // the store's directory
	Lost bool   // it has operations, so it was finished and has lost its format file
}

func halfError(dir string) error { return &HalfError{Path: dir, Lost: hasLog(dir)} }

func (e *HalfError) Error() string {
	if e.Lost {
		return fmt.Sprintf("store has lost its format file: %q", e.Path)
	}
	return fmt.Sprintf("%v: %q", ErrHalf, e.Path)
}

func (e *HalfError) Unwrap() error { return ErrHalf }

// OwnerError says that a store belongs to another user, who may have made its content to mislead.
type OwnerError struct {
	Path string // the store's directory
	UID  uint32 // its owner
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("store belongs to another user: %q: user id %d", e.Path, e.UID)
}

// KeyError says that the store's key is missing or damaged. Such a store can be read but not
// written.
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

// ConfigError says that a setting cannot be used, and where it is set.
type ConfigError struct {
	Origin string // "flag", "env CTX_…" or "file <path>"; "" for the key of a query
	Line   int    // in the file, from 1; 0 if not known
	Key    string // "" if a file cannot be parsed at all
	Why    string
	Hint   string // what to do, or ""
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
