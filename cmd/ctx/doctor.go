package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/capture"
	"github.com/gemini-ctx/ctx/machine"
	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/session"
)

func newDoctorCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Prove that what an agent says is recorded",
		Long: long(`Goes along the chain from Gemini CLI to the store: the program, the store, the hooks in the agent's settings, what the agent has noted about them, a
probe that the installed command records in a scratch store and that is read back, what keeps the store out of searches, when a hook ran last, and what hooks could
not do. Exit code 1 says that something will not be recorded. Where the hooks are not installed and the project's sessions are all of other
agents, that is none of it: there is nothing to record.`),
		Example: "  ctx doctor\n  ctx doctor --json",
		Args:    between(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), a) },
	}
}

type linkDoc struct {
	Name   string  `json:"name"`
	State  string  `json:"state"` // ok, warn or fail
	Detail string  `json:"detail"`
	Hint   *string `json:"hint"`
}

func runDoctor(c context.Context, a *app) error {
	own, err := os.Executable()
	if err != nil {
		own = ""
	}
	p := capture.Patient{Project: a.agentProject(), Home: a.agentHome(), Program: own, Version: machine.Version(), Now: a.now(), Probe: a.probe}
	p.Store, p.Err = a.openStore()
	list := capture.Examine(c, p)
	sound := capture.Sound(list)
	if a.json {
		docs := make([]linkDoc, len(list))
		for i, one := range list {
			docs[i] = linkDoc{one.Name, one.State, one.Detail, orNull(one.Hint)}
		}
		if err := a.printJSON(struct {
			V      int       `json:"v"`
			OK     bool      `json:"ok"`
			Checks []linkDoc `json:"checks"`
		}{1, sound, docs}); err != nil {
			return err
		}
	} else {
		for _, one := range list {
			hint := ""
			if one.Hint != "" && one.State != capture.OK {
				hint = "\n      hint: " + oneLine(one.Hint)
			}
			a.line("%-4s  %s: %s%s", one.State, one.Name, oneLine(one.Detail), hint)
		}
	}
	if !sound {
		return &exitError{exitFailed}
	}
	return nil
}

// probeTime bounds a probe: a slow machine, and a shell that reads its owner's files.
const probeTime = time.Minute

// probe has a hook's command record a turn in a store that is thrown away, and looks whether it is there.
func (a *app) probe(c context.Context, command string) (err error) {
	a.watchInterrupts()
	dir, err := os.MkdirTemp("", "ctx-doctor-")
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.RemoveAll(dir); err == nil {
			err = gone
		}
	}()
	env := a.env()
	env.WorkDir, env.StoreDir, env.Random = dir, "", rand.Reader
	r, _, err := repo.Init(env, dir)
	if err != nil {
		return err
	}
	defer r.Close()
	event, err := capture.WriteProbe(dir, a.now())
	if err != nil {
		return err
	}
	c, cancel := context.WithTimeout(c, probeTime)
	defer cancel()
	cmd := capture.Shell(c, command)
	cmd.Dir = filepath.Dir(filepath.Dir(r.Dir))
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CTX_DIR=") })
	cmd.Stdin = strings.NewReader(string(event))
	said, err := cmd.CombinedOutput()
	if err != nil {
		return err
	}
	if err := capture.ReadProbe(session.New(r)); err != nil {
		if a.getenv(hooksOff) != "" {
			err = fmt.Errorf("%w; %s is set", err, hooksOff)
		}
		if len(said) > 0 {
			err = fmt.Errorf("%w; the shell says: %.200s", err, strings.TrimSpace(string(said)))
		}
		return err
	}
	if len(said) > 0 {
		return fmt.Errorf("it was recorded, but something was printed that the agent would show: %.200s", said)
	}
	return nil
}
