package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdServe is `serve FILE ARG...`. It runs ctx with arguments that make it serve, writes the page
// at the address that it prints into FILE, and interrupts it: it has to end with 0, and to have
// printed one line.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve FILE ARG...")
	}
	if runtime.GOOS == "windows" {
		return // no process of a test can be interrupted there
	}
	path, err := exec.LookPath("ctx")
	if found := ts.Getenv("PATH"); found != "" {
		for _, dir := range strings.Split(found, string(os.PathListSeparator)) {
			if _, bad := os.Stat(dir + "/ctx"); bad == nil {
				path, err = dir+"/ctx", nil
				break
			}
		}
	}
	ts.Check(err)
	c := exec.Command(path, args[1:]...)
	c.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "WORK", "CTX_USER_CONFIG", "CTX_DIR"} {
		if value := ts.Getenv(name); value != "" {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	c.Stderr = ts.Stderr()
	out, err := c.StdoutPipe()
	ts.Check(err)
	ts.Check(c.Start())
	defer func() { _ = c.Process.Kill() }()
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	ts.Check(err)
	resp, err := http.Get(strings.TrimSpace(line))
	ts.Check(err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), page, 0o600))
	ts.Check(c.Process.Signal(os.Interrupt))
	rest, err := io.ReadAll(lines)
	ts.Check(err)
	if err := c.Wait(); err != nil || len(rest) > 0 {
		ts.Fatalf("interrupted: %v, and it had printed more: %q", err, rest)
	}
}
