package format_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

func TestSourceKey(t *testing.T) {
	key := func(s string) string {
		k, ok := format.SourceKey([]byte(s))
		if !ok {
			return ""
		}
		return hex.EncodeToString(k[:])
	}
	sum := sha256.Sum256([]byte("gemini-cli s1 m1"))
	want := hex.EncodeToString(sum[:16])
	for _, same := range []string{
		"entry 1\nsource gemini-cli s1 m1 0123456789abcdef\nbody x\n",
		"entry 1\nsource gemini-cli s1 m1\n",
	} {
		if got := key(same); got != want {
			t.Errorf("%q: %q", same, got)
		}
	}
	const uuid = "0a1b2c3d-0000-4000-8000-00000000000f"
	of := func(agent, session, message string) string {
		return key("entry 1\nsource " + agent + " " + session + " " + message + " 0\n")
	}
	for message, one := range map[string]bool{uuid: true, "summary:" + uuid: true,
		uuid + ":2": true, uuid + "0": false, "x" + uuid: false, strings.ToUpper(uuid): false,
		strings.ReplaceAll(uuid, "-", "0"): false, "m1": false} {
		if same := of("a", "s1", message) == of("a", "s2", message); same != one {
			t.Errorf("%s: the session counts: %v", message, !same)
		}
		if of("a", "s1", message) == of("b", "s1", message) {
			t.Errorf("%s: two agents have one key", message)
		}
	}
	for _, none := range []string{"", "entry 1\n", "source a b c\n", "entry 1\nsource a b\n",
		"entry 1\nsource a  c\n", "entry 1\nsource a b c"} {
		if got := key(none); got != "" {
			t.Errorf("%q: %q", none, got)
		}
	}
}
