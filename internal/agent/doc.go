// Package agent holds the readers and writers of agents' transcripts, which are the packages below
// it, to what package transcript promises of them. It contains only tests. The table in
// readers_test.go has a row for each; a new agent is a row there and fixtures in its testdata.
package agent
