package lock

import (
	"errors"
	"fmt"
	"os"
)

// ErrTooLarge is the error of ReadAtMost for a file over its limit.
var ErrTooLarge = errors.New("file is too large")

// ReadFile reads a whole file that others may be replacing: on Windows it tries again for up to two seconds. It never maps.
func ReadFile(path string) ([]byte, error) { return readFile(path) }

// ReadAtMost is ReadFile for a file of at most limit bytes; the size is looked at before anything is allocated (ErrTooLarge).
func ReadAtMost(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %q has %d bytes, %d is the most", ErrTooLarge, path, info.Size(), limit)
	}
	return readFile(path)
}
