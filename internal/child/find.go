// Package child is what ctx does alike with every program that it starts and asks over pipes: how
// the program is found, killed, and what is kept of its standard error.
package child

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Find returns the path of a program. It takes an absolute path as it is. It searches a bare name
// in the directory beside, if it is one of ctx's own helpers and beside is not "", and then on
// PATH, but never in the working directory. It refuses any other form, which would depend on the
// working directory.
func Find(name, beside string) (string, error) {
	switch {
	case filepath.IsAbs(name):
		return name, nil
	case strings.ContainsAny(name, `/\`) || name == "":
		return "", fmt.Errorf("program is neither a name nor an absolute path: %.80q", name)
	}
	if beside != "" && strings.HasPrefix(name, "ctx-") {
		if path, err := exec.LookPath(filepath.Join(beside, name)); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(name)
}
