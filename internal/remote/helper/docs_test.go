package helper

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
)

// page returns docs/remote-helpers.md with LF line ends, whatever line ends the checkout has.
func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../../docs/remote-helpers.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

var block = regexp.MustCompile("(?ms)^```json ([a-z]+)\n(.*?)^```$")

// TestDocs reads the examples of the page and writes them again: the same bytes come out.
func TestDocs(t *testing.T) {
	text := page(t)
	examples := map[string]int{}
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[2]) {
			var into any
			switch m[1] {
			case "hello":
				into = &hello{}
			case "request":
				into = &request{}
			case "answer":
				into = &answer{}
			case "message":
				into = &remote.Message{}
			case "hit":
				into = &remote.Hit{}
			}
			d := json.NewDecoder(strings.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(into); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if b, err := encode(into); err != nil || string(b) != line {
				t.Errorf("%s is written as %s, %v", line, b, err)
			}
			if r, ok := into.(*request); ok {
				if want, known := bodiesOf()[r.Do]; !known || len(r.Bodies) < want.least ||
					len(r.Bodies) > want.most {
					t.Errorf("not a request: %s", line)
				}
			}
			if h, ok := into.(*hello); ok && h.check() != nil {
				t.Errorf("%s: %v", line, h.check())
			}
			examples[m[1]]++
		}
	}
	if len(examples) != 5 || examples["request"] != 6 {
		t.Errorf("found the examples %v", examples)
	}
	for do := range bodiesOf() {
		if !strings.Contains(text, "\n| `"+do+"` |") && do != "check" {
			t.Errorf("the request %s is not on the page", do)
		}
	}
	for _, k := range kinds() {
		if !strings.Contains(text, "`"+k.kind+"`") {
			t.Errorf("the kind %s is not on the page", k.kind)
		}
	}
}

// The helper of the page keeps the contract of all remotes.
func TestHelperOfThePage(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no python3 with flock to run the helper of the page")
	}
	_, program, found := strings.Cut(page(t), "```python\n")
	program, _, ends := strings.Cut(program, "\n```\n")
	if !found || !ends {
		t.Fatal("the page has no helper")
	}
	beside, root := t.TempDir(), filepath.Join(t.TempDir(), "shared")
	if err := os.WriteFile(filepath.Join(beside, "ctx-remote-shelf"), []byte(program),
		0o700); err != nil {
		t.Fatal(err)
	}
	// A Python takes long to start, so clients that the suite has closed are used again.
	var idle []remote.Remote
	t.Cleanup(func() {
		for _, r := range idle {
			_ = r.Close()
		}
	})
	remotetest.Check(t, func(t *testing.T) remote.Remote {
		if n := len(idle); n > 0 {
			r := idle[n-1]
			idle = idle[:n-1]
			return lent{r, &idle}
		}
		r, err := Open(t.Context(), Config{URL: "shelf://" + root, Beside: beside})
		if err != nil {
			t.Fatal(err)
		}
		return lent{r, &idle}
	})
	if n := bytes.Count([]byte(program), []byte("\n")); n > 70 {
		t.Errorf("the helper has %d lines", n)
	}
}

// lent is a remote that Close gives back.
type lent struct {
	remote.Remote
	idle *[]remote.Remote
}

// Close implements remote.Remote.
func (l lent) Close() error {
	*l.idle = append(*l.idle, l.Remote)
	return nil
}
