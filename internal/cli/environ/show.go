package environ

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// Show starts the program that this system opens a file or an address with. It does not wait for
// what the user does there.
func Show(c context.Context, what string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		cmd = exec.CommandContext(c, "rundll32", "url.dll,FileProtocolHandler", what)
	case "darwin":
		cmd = exec.CommandContext(c, "open", what)
	default:
		cmd = exec.CommandContext(c, "xdg-open", what)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		said := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("cannot open the page: %.200s", cmp.Or(said[len(said)-1], err.Error()))
	}
	return nil
}
