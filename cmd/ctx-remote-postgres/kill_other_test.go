//go:build !unix

package main

import "testing"

// kill kills the server.
func (s *server) kill(t *testing.T) {
	t.Helper()
	if err := s.running.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}
