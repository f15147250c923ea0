//go:build !unix && !windows

package main

import "os"

func isTerminal(*os.File) bool { return false }
