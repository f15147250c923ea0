//go:build !unix && !windows

package main

import "os"

func isTerminal(*os.File) bool { return false }

func terminalWidth(*os.File) int { return 0 }
