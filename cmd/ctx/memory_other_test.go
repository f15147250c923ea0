//go:build !linux

package main

func inMemory() (remove func()) { return func() {} }
