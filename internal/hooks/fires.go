package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/session"
)

// probeTime is the most time of a run of a hook by a probe, which may start a shell on a slow
// machine.
const probeTime = time.Minute

// run is how an agent runs our hook: a command of its settings, for its shell, or a program with
// arguments.
type run struct {
	place   *hookPlace
	command func(event string) string // for the shell
	args    []string                  // without a shell
}

func (r *run) String(event string) string {
	if r.args != nil {
		return strings.Join(r.args, " ")
	}
	return r.command(event)
}

// probe runs the commands of an agent's hooks as its settings have them, in the shell that the
// agent takes, on a store of its own: at the end of an invented turn, which the store then has to
// have, and at the start of the next session, whose model then has to be told of the turn.
func (d *Doctor) probe(ctx context.Context, agent *Agent, places []hookPlace) Check {
	c := Check{Agent: agent.Name, Name: "probe", State: OK}
	r, foreign := d.runOf(agent, places)
	switch {
	case r == nil && foreign.gone:
		c.State = Fail
		c.Detail = fmt.Sprintf("the program that %s names is not there: %.300q", foreign.path,
			foreign.command)
		c.Hint = "`ctx install " + agent.Name + "` brings it up to date"
		return c
	case r == nil:
		c.State = Warn
		c.Detail = fmt.Sprintf(
			"the command in %s is not the one of this ctx, and was not run: %.300q", foreign.path,
			foreign.command)
		c.Hint = "`ctx install " + agent.Name + "` brings it up to date"
		return c
	}
	told := ""
	err := d.Scratch(func(s *session.Store, dir string) error {
		event, err := writeProbe(agent, dir, d.Now)
		if err != nil {
			return err
		}
		if err := d.fire(ctx, agent, r, s, dir, event); err != nil {
			return err
		}
		told, err = d.tells(ctx, agent, r, s, dir)
		return err
	})
	if err != nil {
		c.State, c.Detail = Fail, fmt.Sprintf("`%s` %v", r.String(agent.Turn), err)
		c.Hint = "run it by hand in this directory: it says what is missing"
		return c
	}
	c.Detail = fmt.Sprintf("`%s` recorded a turn, which was read back byte for byte%s",
		r.String(agent.Turn), told)
	return c
}

// foreign is a command that the doctor does not run.
type foreign struct {
	path, command string
	gone          bool // its program is not there
}

// runOf returns how the agent runs our hook. Settings of a project may come with the project, from
// anybody: a command there is only run if it calls ctx by its name, or this program. One that is
// not is returned as other, and r is nil if no other place has one.
func (d *Doctor) runOf(agent *Agent, places []hookPlace) (r *run, other foreign) {
	windows := runtime.GOOS == "windows"
	for i := range places {
		p := &places[i]
		if agent.Plugin() != "" {
			if p.kind == "project" && p.program != "ctx" && !sameFile(p.program, d.Program) {
				other = foreign{path: p.path, command: p.program, gone: isGone(p.program)}
				continue
			}
			return &run{place: p, args: []string{p.program, "hook", agent.Name}}, other
		}
		commands := p.state.Commands
		if windows && agent.Shells {
			commands = p.state.Shells
		}
		command := commands[agent.Turn]
		own := []string{"ctx", d.Program}
		if d.path.State == OK {
			own = append(own, pathOf("ctx"))
		}
		isOwn := slices.ContainsFunc(own, func(program string) bool {
			return command == agent.At(agent.Turn, agent.Command(program, windows))
		})
		if p.kind == "project" && !isOwn {
			other = foreign{path: p.path, command: command,
				gone: isGone(programOf(command, agent.Name))}
			continue
		}
		return &run{place: p, command: func(event string) string { return commands[event] }}, other
	}
	return nil, other
}

func pathOf(program string) string {
	path, _ := exec.LookPath(program)
	return path
}

// programOf returns the program of a command of ours, without quotes.
func programOf(command, agent string) string {
	program, _, _ := strings.Cut(command, " hook "+agent)
	return strings.Trim(strings.TrimPrefix(program, "& "), `'"`)
}

// isGone reports whether a path leads nowhere.
func isGone(path string) bool {
	_, err := os.Stat(path)
	return strings.ContainsAny(path, `/\`) && errors.Is(err, fs.ErrNotExist)
}

// fire runs the hook at the end of the probe's turn, and checks that the turn was recorded and that
// nothing was printed.
func (d *Doctor) fire(
	ctx context.Context, agent *Agent, r *run, s *session.Store, dir string, event []byte,
) error {
	out, errs, err := d.call(ctx, agent, r, agent.Turn, dir, event)
	if err != nil {
		return fmt.Errorf("did not record a turn: %w", err)
	}
	said := strings.TrimSpace(string(append(out, errs...)))
	if err := readProbe(s, agent.Name); err != nil {
		if d.Getenv(Disabled) != "" {
			err = fmt.Errorf("%w; %s is set", err, Disabled)
		}
		if said != "" {
			err = fmt.Errorf("%w; the shell says: %.200s", err, said)
		}
		return fmt.Errorf("did not record a turn: %w", err)
	}
	if said != "" {
		return fmt.Errorf("recorded a turn, but printed text that the agent would show: %.200s",
			said)
	}
	return nil
}

// tells runs the hook at the start of the next session, and checks that the model is told of the
// probe's turn. It returns how that goes on in a sentence.
func (d *Doctor) tells(
	ctx context.Context, agent *Agent, r *run, s *session.Store, dir string,
) (string, error) {
	if d.Store != nil && d.Store.Config.Hook.Context == 0 {
		return "; the model is told nothing, since hook.context is 0", nil
	}
	if agent.Tells() == "" || s.Config.Hook.Context == 0 {
		return "", nil
	}
	event, err := startOfProbe(agent, dir)
	if err != nil {
		return "", err
	}
	out, errs, err := d.call(ctx, agent, r, agent.Tells(), dir, event)
	if err != nil {
		return "", fmt.Errorf("told the model nothing: %w", err)
	}
	if !bytes.Contains(out, []byte(probeWords)) {
		said := strings.TrimSpace(string(append(out, errs...)))
		return "",
			fmt.Errorf(
				"recorded a turn, but at %s it does not tell the model of it: it printed %.200q",
				agent.Tells(), said)
	}
	return "; the next session's model is told of it", nil
}

// ScratchData returns the directory that stands for the user's data while a scratch store in dir is
// used: no list of the user gets it.
func ScratchData(dir string) string { return filepath.Join(dir, "user-data") }

// call runs the hook as the agent does at an event.
func (d *Doctor) call(
	ctx context.Context, agent *Agent, r *run, event, dir string, in []byte,
) (out, errs []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	args := r.args
	if args == nil {
		args = append(agent.Shell(runtime.GOOS == "windows", d.Getenv), r.command(event))
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(),
		func(v string) bool { return strings.HasPrefix(v, "CTX_DIR=") })
	cmd.Env = append(cmd.Env, "CTX_USER_DATA="+ScratchData(dir))
	cmd.Stdin = bytes.NewReader(in)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	err = cmd.Run()
	return stdout.Bytes(), stderr.Bytes(), err
}
