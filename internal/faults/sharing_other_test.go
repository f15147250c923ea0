//go:build !windows

package faults

import "errors"

// errSharing stands for the error of Windows for a file that another program has open.
var errSharing error = errors.New(
	"the process cannot access the file because it is being used by another process")
