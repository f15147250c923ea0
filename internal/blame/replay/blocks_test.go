package replay

import (
	"fmt"
	"testing"
)

func TestBlocks(t *testing.T) {
	for diff, want := range map[string]string{
		"": "[]", "a\n=======\nb": "[]", "------- SEARCH\nold\n": "[]",
		"------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE": `[["old\n" "new\n"]]`,
		"<<<<<<< SEARCH\n:start_line:7\n-------\na\n-------\n=======\n>>>>>>> REPLACE\n" +
			"<<<<<<< SEARCH\n=======\nb\nc\n>>>>>>> REPLACE\n": `[["a\n-------\n" ""] ["" "b\nc\n"]]`,
	} {
		if got := fmt.Sprintf("%q", Blocks(diff)); got != want {
			t.Errorf("%q: %s, want %s", diff, got, want)
		}
	}
}
