package faults

import "syscall"

// errSharing is the error for a file that another program has open: ERROR_SHARING_VIOLATION.
var errSharing error = syscall.Errno(32)
