package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// TestTmuxBrowse runs `ctx browse` on a real terminal, tmux: the sides are aligned beside wide
// characters, NO_COLOR is obeyed, an id comes into the clipboard, and q leaves.
func TestTmuxBrowse(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip(
			"SKIPPED: tmux is not installed: the screens of internal/browse are compared without " +
				"a terminal alone")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), filepath.Join(t.TempDir(), "p")
	for _, name := range []string{"ctx", "ctx-browse"} {
		if err := os.Symlink(exe, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	screenStore(t, dir)
	socket := filepath.Join(t.TempDir(), "s")
	try := func(args ...string) (string, error) {
		t.Helper()
		cmd := exec.Command(tmux, append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
		cmd.Env = append(
			os.Environ(), "HOME="+filepath.Dir(dir), "TZ=UTC", "GORACE=atexit_sleep_ms=0",
			"LC_ALL=C.UTF-8", "TERM=screen", "NO_COLOR=",
			"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
		)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	call := func(args ...string) string {
		t.Helper()
		out, err := try(args...)
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
		return out
	}
	defer func() { _ = exec.Command(tmux, "-S", socket, "kill-server").Run() }()
	// The server ends with its last session
	call("new-session", "-d", "-s", "keep", "tail", "-f", "/dev/null")
	call("set-option", "-s", "set-clipboard", "on")
	const patience = time.Minute
	// until returns the screen once it has a text.
	until := func(name, text string) string {
		t.Helper()
		for began := time.Now(); ; {
			screen := call("capture-pane", "-p", "-t", name)
			if strings.Contains(screen, text) {
				return screen
			}
			if time.Since(began) > patience {
				t.Fatalf("%s: no %q on the screen:\n%s", name, text, screen)
			}
		}
	}
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		for _, plain := range []bool{false, true} {
			name := fmt.Sprintf("b%d%v", size[0], plain)
			line := fmt.Sprintf(
				"cd %s && NO_COLOR=%s ctx browse; echo code $?; exec tail -f /dev/null", dir,
				map[bool]string{true: "1"}[plain])
			call("new-session", "-d", "-s", name, "-x", strconv.Itoa(size[0]), "-y",
				strconv.Itoa(size[1]), "sh", "-c", line)
			until(name, "? keys")
			call("send-keys", "-t", name, "j")
			screen := until(name, "second line")
			at := map[int]bool{}
			for _, line := range strings.Split(strings.TrimRight(screen, "\n"), "\n") {
				if before, _, ok := strings.Cut(line, "│"); ok {
					at[displaywidth.String(before)] = true
				}
			}
			if len(at) != 1 {
				t.Errorf("%s: the sides meet at columns %v:\n%s", name, at, screen)
			}
			colored := regexp.MustCompile(`\x1b\[[0-9;]*3[1-6]m`).MatchString(
				call("capture-pane", "-p", "-e", "-t", name))
			if colored == plain {
				t.Errorf("%s: colours: %v", name, colored)
			}
			call("send-keys", "-t", name, "Enter", "g", "y")
			until(name, "copied 64 bytes")
			id, err := try("show-buffer")
			// The screen may be read before the clipboard is set
			for began := time.Now(); err != nil && time.Since(began) < patience; {
				id, err = try("show-buffer")
			}
			if id = strings.TrimSpace(id); err != nil || !regexp.MustCompile(`^[0-9a-f]{64}$`).
				MatchString(id) {
				t.Errorf("%s: the clipboard has %q", name, id)
			}
			call("send-keys", "-t", name, "/")
			until(name, "search: ")
			call("send-keys", "-t", name, "-l", "宇宙")
			call("send-keys", "-t", name, "Enter")
			until(name, "How do I deploy the 宇宙 service?")
			call("send-keys", "-t", name, "q", "q", "q")
			until(name, "code 0")
			call("kill-session", "-t", name)
		}
	}
}
