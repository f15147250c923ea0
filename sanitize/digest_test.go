package sanitize

import (
	"strings"
	"testing"
)

// TestDigestOrKey distinguishes a private key of Ethereum from digests, which have the same form,
// by the word before it.
func TestDigestOrKey(t *testing.T) {
	const v = "0x9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for _, c := range []struct {
		in     string
		secret bool
	}{
		{"tx % mined in block 7", false},
		{`{"transactionHash":"%","blockHash": "%"}`, false},
		{"the hash is %", false},
		{"https://etherscan.io/tx/%", false},
		{`Gx: BigInt("%")`, false},
		{"bytes32 constant MERKLE_ROOT = %;", false},
		{"signed the tx with %", true},
		{"private key of the root account: %", true},
		{"tx\n%", true},
		{`{"hash":1,"x":"%"}`, true},
		{"%", true},
	} {
		in := strings.ReplaceAll(c.in, "%", v)
		if out, _ := mustText(t, in); strings.Contains(out, v) == c.secret {
			t.Errorf("%s: got %s", in, out)
		}
	}
}
