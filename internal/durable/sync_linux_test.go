package durable_test

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// A sync that fails names its file. /dev/null takes what is written to it, and refuses to make it
// last.
func TestSyncErrorNamesTheFile(t *testing.T) {
	err := new(durable.FS).AppendSync("/dev/null", 0, []byte("x"))
	if err == nil || !strings.Contains(err.Error(), "/dev/null") {
		t.Errorf("got %v", err)
	}
}
