package lock

import (
	"os"

	"github.com/rogpeppe/go-internal/robustio"
)

func rename(from, to string) error { return robustio.Rename(from, to) }

func readFile(path string) ([]byte, error) { return robustio.ReadFile(path) }

// openForSync opens for writing, without which Windows refuses to flush a file.
func openForSync(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

func syncDir(string) error { return nil }
