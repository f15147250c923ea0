// Package faults stops, cuts off and fails every command that changes something, at every call that puts bytes on disk, and looks at
// what is left as the next process would.
//
// It is nothing but tests. disk_test.go is a model of a disk: from the calls of one run it makes the directory as a crash of the program
// or a power cut at any of them would leave it. verbs_test.go is the table of commands; a new command is a new row there.
//
//	go test ./faults                                a sample of everything
//	CTX_FAULTS=all go test ./faults -v -timeout 2h  everything, with a table of what was tried
//	CTX_FAULTS_SEED=7                               other samples
package faults
