package architecture

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostRecompiled is how many packages the tests of one package may have compiled once more.
const mostRecompiled = 5

// A package that has tests inside and outside is compiled again with those inside, and so is every
// package above it that the tests outside import: for a room at the bottom that was 20 packages, 35
// seconds of a processor. Let its tests stand outside, or not import what is above.
func TestRecompiled(t *testing.T) {
	list := exec.Command("go", "list", "-test", "-deps", "./...")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	again := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\S+) \[(\S+)\.test\]$`).FindAllSubmatch(out, -1) {
		name, by := string(m[1]), string(m[2])
		if strings.TrimSuffix(name, "_test") != by {
			again[by] = append(again[by], name)
		}
	}
	for by, names := range again {
		if len(names) > mostRecompiled {
			t.Errorf("the tests of %s compile %d packages again: %q", by, len(names), names)
		}
	}
}
