package view

import (
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
)

// Where the tail tells of newer checks, an older failure is not there without its run: alone it
// would stand as if it still failed.
func TestWithTailLeavesNoFailureAlone(t *testing.T) {
	run := func(state digest.State) digest.Fact {
		return digest.Fact{Kind: digest.Command, Key: "go build ./...", State: state,
			Text: "ran go build ./..."}
	}
	tail := run(digest.Passed)
	tail.Entry = format.ID{1}
	before := []digest.Fact{run(digest.Failed),
		{Kind: digest.Failure, Key: "go build ./...", Text: "a.go:3: undefined: open"},
		{Kind: digest.Failure, Key: "cp a b", Text: "cp: a: No such file"}}
	w := &Work{Facts: before, Tail: []digest.Fact{tail}, Whole: append(before, tail)}
	all := w.withTail(map[format.ID]bool{tail.Entry: true}, false)
	if len(all.Facts) != 1 || all.Facts[0].Key != "cp a b" {
		t.Errorf("%+v", all.Facts)
	}
}
