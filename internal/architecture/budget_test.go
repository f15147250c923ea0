package architecture

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var lower = flag.Bool("lower", false, "lower the numbers of budget.txt to the lines that are there")

// room is a line of the budget.
type room struct {
	most   int
	reason string // why the number was raised last; "" if it never was
}

// TestBudget holds each room, and all of them, to the lines of code that budget.txt allows. A line
// of code has a token that is no comment; tests do not count. `-lower` lowers numbers. A number is
// raised by hand, with a new reason behind it in the same commit.
func TestBudget(t *testing.T) {
	root := filepath.Join("..", "..")
	b, err := os.ReadFile("budget.txt")
	if err != nil {
		t.Fatal(err)
	}
	budget, err := readBudget(b)
	if err != nil {
		t.Fatal(err)
	}
	code := codeByRoom(t, root)
	if *lower {
		writeBudget(t, budget, code)
		return
	}
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(code)) {
		sum += code[name]
		if most, ok := budget[name]; !ok {
			t.Errorf("%s has %d lines of code, and no line in budget.txt", name, code[name])
		} else if code[name] > most.most {
			t.Errorf("%s has %d lines of code, and budget.txt allows %d: take some out, or raise "+
				"the number with a reason", name, code[name], most.most)
		}
	}
	if sum > budget["all"].most {
		t.Errorf("all rooms have %d lines of code, and budget.txt allows %d", sum,
			budget["all"].most)
	}
	for name := range budget {
		if _, ok := code[name]; !ok && name != "all" {
			t.Errorf("budget.txt has a line for %s, which has no code", name)
		}
	}
	raised(t, budget)
}

// raised looks at the numbers that are higher than in the commit before: each has a reason that it
// did not have there. Where git cannot tell, nothing is looked at.
func raised(t *testing.T, budget map[string]room) {
	t.Helper()
	out, err := exec.Command("git", "show", "HEAD~1:./budget.txt").Output()
	if err != nil {
		t.Logf("git does not have the commit before: %v", err)
		return
	}
	before, err := readBudget(out)
	if err != nil {
		t.Fatal(err)
	}
	for name, now := range budget {
		was, ok := before[name]
		if ok && now.most > was.most && (now.reason == "" || now.reason == was.reason) {
			t.Errorf("budget.txt: %s: raised from %d to %d without a new reason", name, was.most,
				now.most)
		}
		if !ok && now.reason == "" {
			t.Errorf("budget.txt: %s: new, without a reason", name)
		}
	}
}

// readBudget reads lines of the form `room lines # reason`.
func readBudget(b []byte) (map[string]room, error) {
	budget := map[string]room{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		line, reason, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("budget.txt: not a room and a number: %q", lines.Text())
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("budget.txt: %s: %w", fields[0], err)
		}
		budget[fields[0]] = room{n, strings.TrimSpace(reason)}
	}
	return budget, lines.Err()
}

const budgetHead = `# The most lines of code that a room may have, and all of them together: lines with a token that is
# no comment, without tests. Lower the numbers to what is there:
#
#	go test ./internal/architecture -run TestBudget -lower
#
# Raise one by hand, with the reason behind it. What a design replaces goes in the same change.

`

// writeBudget lowers the numbers, and takes out rooms that are gone.
func writeBudget(t *testing.T, budget map[string]room, code map[string]int) {
	t.Helper()
	var b strings.Builder
	b.WriteString(budgetHead)
	line := func(name string, n int) {
		now, ok := budget[name]
		if !ok || n < now.most {
			now.most = n
		}
		fmt.Fprintf(&b, "%-42s %6d", name, now.most)
		if now.reason != "" {
			b.WriteString(" # " + now.reason)
		}
		b.WriteByte('\n')
	}
	sum := 0
	for _, n := range code {
		sum += n
	}
	line("all", sum)
	for _, name := range slices.Sorted(maps.Keys(code)) {
		line(name, code[name])
	}
	if err := os.WriteFile("budget.txt", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// codeByRoom counts the lines of code of each package below root.
func codeByRoom(t *testing.T, root string) map[string]int {
	t.Helper()
	rooms := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		hasCode, _ := kinds(b, bytes.Count(b, []byte("\n"))+1)
		for _, has := range hasCode {
			if has {
				rooms[filepath.ToSlash(rel)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rooms
}

// A raised number needs a new reason; a lowered one needs none.
func TestReadBudget(t *testing.T) {
	budget, err := readBudget([]byte("# a comment\n\nall 10\nrefs 3 # holds undo\n"))
	if err != nil || budget["all"] != (room{10, ""}) || budget["refs"] != (room{3, "holds undo"}) {
		t.Errorf("%v, %v", budget, err)
	}
	for _, bad := range []string{"refs", "refs x", "refs 1 2"} {
		if _, err := readBudget([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
