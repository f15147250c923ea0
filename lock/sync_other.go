//go:build !linux

package lock

import "os"

func syncData(file *os.File) error { return file.Sync() }
