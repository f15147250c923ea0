package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hookCall is a call of a hook: what an agent sent, and what it was given for its model.
type hookCall struct {
	Name    string `json:"hook_event_name"`
	Source  string `json:"source"`
	Session string `json:"session_id"`
	given   string
}

// watch keeps what hooks are sent and what they print, from now on.
func (w *world) watch() {
	w.Helper()
	ctx, real, kept := filepath.Join(w.bin, "ctx"), filepath.Join(w.bin, "ctx-itself"), filepath.Join(w.home, "hooks")
	err := os.MkdirAll(kept, 0o700)
	if err == nil {
		err = os.Rename(ctx, real)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.write("../bin/ctx", fmt.Sprintf("#!/bin/sh\n[ \"$1\" = hook ] || exec %[1]q \"$@\"\nkept=%[2]q/$(date +%%s%%N)\n"+
		"cat > $kept.in\n%[1]q \"$@\" < $kept.in > $kept.out\nstatus=$?\ncat $kept.out\nmv $kept.in $kept.call\nexit $status\n", real, kept))
}

// calls are the calls of hooks that have ended, oldest first.
func (w *world) calls() (list []hookCall) {
	w.Helper()
	names, err := filepath.Glob(filepath.Join(w.home, "hooks", "*.call"))
	if err != nil {
		w.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		var c hookCall
		var out struct {
			Specific struct {
				Context string `json:"additionalContext"`
			} `json:"hookSpecificOutput"`
		}
		in, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(in, &c)
		}
		if err != nil {
			w.Fatal(err)
		}
		if said, err := os.ReadFile(strings.TrimSuffix(name, "call") + "out"); err != nil {
			w.Fatal(err)
		} else if len(said) > 0 {
			if err := json.Unmarshal(said, &out); err != nil {
				w.Fatalf("a hook printed %q: %v", said, err)
			}
		}
		c.given = out.Specific.Context
		list = append(list, c)
	}
	return list
}
