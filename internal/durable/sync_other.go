//go:build !linux

package durable

import "os"

func syncData(file *os.File) error { return file.Sync() }
