// Package bench measures ctx as whole processes beside git, sqlite3 and zstd in one run, and prints
// a Markdown table:
//
//	go test ./internal/bench -run TestTable -timeout 2h -args -table -n 100000 -sessions DIR
//
// -n is the size of the generated store, -talks the number of sessions in another one. -sessions
// names a directory with transcripts of Claude Code or Codex, -lines a file of messages as JSON
// lines. A rival or a tool that is not installed is named, and its rows are left out. Begin with
// the list in run.
package bench
