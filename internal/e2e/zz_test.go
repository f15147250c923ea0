package e2e

import (
	"os"
	"os/exec"
)

func (w *world) keep() {
	if to := os.Getenv("KEEP"); to != "" {
		_ = exec.Command("cp", "-a", w.dir, to).Run()
	}
}
