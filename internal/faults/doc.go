// Package faults stops, cuts off and fails every command that changes something, at every call that
// writes to disk, and examines the result as the next process would.
//
// disk_test.go is a model of a disk: it computes the directory that a crash
// of the program or a power cut leaves at any call of a run. verbs_test.go is the table of
// commands; a new command needs a new row there.
//
//	go test ./internal/faults                                a sample of everything
//	CTX_FAULTS=all go test ./internal/faults -v -timeout 2h  everything, with a table of the tries
//	CTX_FAULTS_SEED=7                                        other samples
package faults
