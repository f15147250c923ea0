//go:build !linux

package main

// useLargePages does nothing: other systems have no such advice, or give large pages unasked.
func useLargePages() {}
