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

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/hooks/doctor"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newDoctorCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check that the words of an agent are recorded",
		Long: long(`Checks each step from an agent to the store: the program, the store, the hooks in the agent's
settings, what the agent has noted about the hooks, the rule that keeps the store out of
searches, the last run of a hook, and the failures of hooks. It also runs the installed command
on a scratch store, and reads back what was recorded. It checks every agent whose hooks are
installed, and names those whose sessions no hook records.

The command prints one line for each check: ok, warn or fail. The exit code is 1 if something
will not be recorded. Missing hooks are no failure in a project whose sessions all come from
other agents.`),
		Example: "  ctx doctor\n  ctx doctor --json",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return runDoctor(a) },
	}
}

type linkDoc struct {
	Name   string  `json:"name"`
	State  string  `json:"state"` // ok, warn or fail
	Detail string  `json:"detail"`
	Hint   *string `json:"hint"`
}

func runDoctor(a *app) error {
	own, err := os.Executable()
	if err != nil {
		own = ""
	}
	d := doctor.Doctor{
		Project: a.agentProject(), Home: a.agentHome(), Program: own, Version: environ.Version(),
		Now: a.now(), Probe: a.probe, Getenv: a.getenv, UserHome: a.home,
	}
	d.Store, d.Err = a.openStore()
	list := doctor.Run(a.c, d)
	sound := doctor.Sound(list)
	if a.json {
		docs := make([]linkDoc, len(list))
		for i, one := range list {
			docs[i] = linkDoc{one.Name, one.State, one.Detail, document.OrNull(one.Hint)}
		}
		a.document("ok", sound, "checks", docs)
	} else {
		for _, one := range list {
			hint := ""
			if one.Hint != "" && one.State != doctor.OK {
				hint = "\n      hint: " + oneLine(one.Hint)
			}
			a.line("%-4s  %s: %s%s", one.State, one.Name, oneLine(one.Detail), hint)
		}
	}
	return exitIf(!sound, exitFailed)
}

// probeTime is the maximum time of a probe, which may start a shell on a slow machine.
const probeTime = time.Minute

// probe runs the command of a hook on a temporary store, and checks that the store has the recorded
// turn.
func (a *app) probe(c context.Context, agent, command string) (err error) {
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
	event, err := doctor.WriteProbe(agent, dir, a.now())
	if err != nil {
		return err
	}
	c, cancel := context.WithTimeout(c, probeTime)
	defer cancel()
	cmd := doctor.Shell(c, command)
	cmd.Dir = filepath.Dir(filepath.Dir(r.Dir))
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CTX_DIR=") })
	cmd.Stdin = strings.NewReader(string(event))
	said, err := cmd.CombinedOutput()
	if err != nil {
		return err
	}
	if err := doctor.ReadProbe(session.New(r), agent); err != nil {
		if a.getenv(hooksOff) != "" {
			err = fmt.Errorf("%w; %s is set", err, hooksOff)
		}
		if len(said) > 0 {
			err = fmt.Errorf("%w; the shell says: %.200s", err, strings.TrimSpace(string(said)))
		}
		return err
	}
	if len(said) > 0 {
		return fmt.Errorf("the turn was recorded, but the command printed text that the agent would show: %.200s", said)
	}
	return nil
}
