package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
)

// versionTime is how long a program may take to say its version. Agents that run on Node need a
// second or two, and several on a busy machine.
const versionTime = 15 * time.Second

// program looks for ctx on the PATH, as the agent's shell does.
func (d *Doctor) program(ctx context.Context) Check {
	c := Check{Name: "program", State: OK}
	path, err := exec.LookPath("ctx")
	gctx := d.gctx()
	switch {
	case err != nil && gctx != "":
		c.Detail = fmt.Sprintf("%s, version %s", gctx, d.Version)
	case err != nil:
		c.State, c.Detail = Warn, "ctx is not on the PATH"
		c.Hint = "put its directory on the PATH of the shell that starts the agent; " +
			"`ctx install` names it by its full path until then"
	case sameFile(path, d.Program):
		c.Detail = fmt.Sprintf("%s, version %s", path, d.Version)
	default:
		c.State = Warn
		version, ours := ProgramVersion(ctx, path)
		if ours {
			c.Detail = fmt.Sprintf("the PATH leads to another ctx than this one: %s, version %s",
				path, version)
			c.Hint = "hooks that call it ctx use the one on the PATH"
		} else {
			c.Detail = "another program is called ctx, too, and comes first on the PATH: " + path
			c.Hint = "`" + d.Program +
				" install` has the hooks use the full path of this one; as gctx, a link or a " +
				"copy of it can be beside the other"
			if gctx != "" {
				c.Hint = "gctx is this program: " + gctx +
					"; `gctx install` has the hooks use its full path"
			}
		}
	}
	return c
}

// gctx returns the path of this program under its other name on the PATH, as packages install it,
// too; "" for none.
func (d *Doctor) gctx() string {
	path, err := exec.LookPath("gctx")
	if err != nil || !sameFile(path, d.Program) {
		return ""
	}
	return path
}

// ProgramVersion asks a program called ctx for its version. ours is false if it is another program.
func ProgramVersion(ctx context.Context, path string) (version string, ours bool) {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version", "--json")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var said struct{ Version, Go, Platform string }
	ours = err == nil && json.Unmarshal(out, &said) == nil && said.Version != "" && said.Go != "" &&
		said.Platform != ""
	return said.Version, ours
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// versionIn returns the version in what a program says of itself; "" for none.
func versionIn(text string) string {
	for _, word := range strings.Fields(text) {
		word = strings.TrimRight(strings.TrimPrefix(word, "v"), ".,;)")
		if before, _, dotted := strings.Cut(word, "."); dotted && before != "" &&
			strings.Trim(before, "0123456789") == "" {
			return word
		}
	}
	return ""
}

// client looks for the agent's own program, and asks for its version.
func (d *Doctor) client(ctx context.Context, agent *Agent) Check {
	c := Check{Agent: agent.Name, Name: "program", State: Warn}
	row, _ := catalog.Named(agent.Name)
	path, err := exec.LookPath(row.Program)
	if err != nil {
		c.Detail = fmt.Sprintf("%s is not on the PATH", row.Program)
		c.Hint = "if it is started in another way, all is well"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.WaitDelay = os.TempDir(), time.Second
	out, err := cmd.Output()
	version := versionIn(string(out))
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		c.Detail = fmt.Sprintf("%s, which has not told its version in %v", path, versionTime)
	case version != "":
		c.State, c.Detail = OK, fmt.Sprintf("%s, version %s", path, version)
	case err != nil:
		c.Detail = fmt.Sprintf("`%s --version`: %v", path, err)
	default:
		c.Detail = fmt.Sprintf("%s, which does not tell its version: %.60q", path,
			strings.TrimSpace(string(out)))
	}
	if c.State == OK && agent.Untested() {
		c.Detail += "; no version of it was tried with ctx"
	}
	return c
}
