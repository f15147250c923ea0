package history_test

import (
	"encoding/hex"
	"testing"

	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
)

// What is cached of a message is made by this build: with other features the version has to be
// another one, too.
func TestLooksVersion(t *testing.T) {
	var all []byte
	for _, text := range []string{"ann: why does parser.go:12 fail with E1042?", "その日本語を見てください",
		"ok, thanks", "```\ngo test ./... --race\n```\nexit code 1"} {
		all = score.Of(score.Message{Conversation: "c", Role: "model", Author: "bob", Text: text,
			Calls: []string{"run_shell_command"}}).Append(all)
	}
	sum := format.Sum(all)
	const want = "2b822de1806670e6" // of version 1
	if got := hex.EncodeToString(sum[:8]); got != want {
		t.Errorf(
			"the features have digest %s, want %s: raise looksVersion, and put the digest here",
			got, want)
	}
}
