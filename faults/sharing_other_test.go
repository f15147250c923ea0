//go:build !windows

package faults

import "errors"

// errSharing stands for what Windows says of a file that another program has open.
var errSharing error = errors.New("the process cannot access the file because it is being used by another process")
