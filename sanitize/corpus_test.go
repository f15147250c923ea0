package sanitize

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var corpus = flag.String("corpus", "", "folder of developer text to count findings in, for example $(go env GOROOT)/src")

// TestCorpus counts what the rules find in real text and shows every line it
// would change, for a reader to judge. It asserts only that cleaning settles.
// Run it with -v -corpus=FOLDER.
func TestCorpus(t *testing.T) {
	if *corpus == "" {
		t.Skip("no -corpus given")
	}
	var all tally
	files, size, touched := 0, 0, 0
	err := filepath.WalkDir(*corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(b) {
			return err
		}
		files, size = files+1, size+len(b)
		before := all.total()
		out, err := text(b, &all)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if all.total() != before {
			touched++
			showChanges(t, path, b, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d bytes, %d files touched: %v", files, size, touched, all.findings())
}

func showChanges(t *testing.T, path string, in, out []byte) {
	was := map[string]bool{}
	for _, line := range strings.Split(string(in), "\n") {
		was[line] = true
	}
	for _, line := range bytes.Split(out, []byte("\n")) {
		if bytes.Contains(line, []byte(markOpen)) && !was[string(line)] {
			t.Logf("%s: %.200s", path, bytes.TrimSpace(line))
		}
	}
}
