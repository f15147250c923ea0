package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience is how long git has to end after it was killed: its own children may hold its pipes.
const patience = 5 * time.Second

// settings are those of every call: no hooks, no programs as remotes, nothing that tidies up in the
// background, and no time for compression, because the files are compressed.
var settings = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "gc.auto=0", "-c",
	"maintenance.auto=false",
	"-c", "core.compression=1", "-c", "core.bigFileThreshold=256k", "-c",
	"core.logAllRefUpdates=false", "-c", "transfer.fsckObjects=false",
	"-c", "push.gpgSign=false", "-c", "core.askPass=", "-c", "fetch.writeCommitGraph=false", "-c",
	"advice.defaultBranchName=false",
	"-c", "advice.graftFileDeprecated=false",
}

// local are the variables that tie git to a repository. Git sets them for its hooks, and a hook may
// have started ctx. `git rev-parse --local-env-vars` lists them.
var local = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_OBJECT_DIRECTORY", "GIT_DIR",
	"GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE",
	"GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_QUARANTINE_PATH", "GIT_NAMESPACE",
}

// environment returns the environment of git: that of this process without what ties it to a
// repository, in English, and without prompts.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(local, name)
	})
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
		"GCM_INTERACTIVE=never")
}

// withSSH returns environment with an ssh that never asks. An ssh that the user has set, in the
// environment or in git's settings, stays as it is.
func (r *Remote) withSSH(ctx context.Context) []string {
	if r.env != nil {
		return r.env
	}
	env := environment()
	set := slices.ContainsFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "GIT_SSH_COMMAND" || name == "GIT_SSH"
	})
	if !set {
		r.env = env
		out, err := r.git(ctx, nil, "config", "--get", "core.sshCommand")
		set = err == nil && len(bytes.TrimSpace(out)) > 0
	}
	if !set {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	r.env = env
	return env
}

func (r *Remote) command(ctx context.Context, args ...string) *exec.Cmd {
	env := environment()
	if args[0] != "init" {
		env = r.withSSH(ctx)
		args = append([]string{"--git-dir", r.c.Bare}, args...)
	}
	cmd := exec.CommandContext(ctx, "git", append(slices.Clone(settings), args...)...)
	cmd.Env = env
	cmd.WaitDelay = patience
	// A git that is asked to end removes its locks and unfinished files; one that is killed does not.
	cmd.Cancel = func() error {
		if cmd.Process.Signal(syscall.SIGTERM) == nil {
			return nil
		}
		return cmd.Process.Kill() // Windows has no such signal
	}
	return cmd
}

// git runs git and returns its output. The error is one line of what git says.
func (r *Remote) git(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return r.gitWith(ctx, stdin, nil, args...)
}

// gitWith is git with more variables in its environment.
func (r *Remote) gitWith(
	ctx context.Context, stdin io.Reader, env []string, args ...string,
) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxRun,
		fmt.Errorf("git %s: %w: it has run for %v", args[0], errBound, maxRun))
	defer cancel()
	if err := r.c.FS.Run("git " + args[0]); err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	cmd := r.command(ctx, args...)
	cmd.Env = append(slices.Clip(cmd.Env), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &said
	if err := cmd.Run(); err != nil {
		return out.Bytes(), r.failure(ctx, args[0], said.String(), err)
	}
	return out.Bytes(), nil
}

// failure returns the error of a git that failed.
func (r *Remote) failure(ctx context.Context, verb, said string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("there is no program git on PATH")
	}
	why := strings.TrimSpace(said)
	for _, begin := range []string{"fatal: ", "ERROR: ", "error: ", "remote: "} {
		if at := slices.IndexFunc(strings.Split(why, "\n"),
			func(l string) bool { return strings.HasPrefix(l, begin) }); at >= 0 {
			why = strings.TrimPrefix(strings.Split(why, "\n")[at], begin)
			break
		}
	}
	why, _, _ = strings.Cut(why, "\n")
	if why == "" {
		why = err.Error()
	}
	return &failed{verb: verb, why: withoutSecrets(why), away: isAway(said)}
}

// failed is the error of a git that failed.
type failed struct {
	verb, why string
	away      bool // whether the remote could not be reached: the copy has no part in it
}

func (f *failed) Error() string { return "git " + f.verb + ": " + f.why }

// isAway reports whether git says that it did not reach the remote, or was not let in. What is not
// known here costs a look at the copy, and nothing else.
func isAway(said string) bool {
	return slices.ContainsFunc([]string{
		"Could not read from remote repository", "unable to access 'http", "unable to connect to",
		"unable to look up",
		"Could not resolve host", "does not appear to be a git repository", "Authentication failed",
		"could not read Username",
		"could not read Password", "terminal prompts disabled", "Connection refused",
		"fatal: remote error:", "fatal: repository '",
	}, func(words string) bool { return strings.Contains(said, words) })
}

// withoutSecrets takes user names and passwords out of URLs, and controls out of the text.
func withoutSecrets(text string) string {
	parts := strings.Split(text, "://")
	for i, part := range parts[1:] {
		end := strings.IndexAny(part, "/ \t'\"")
		if end < 0 {
			end = len(part)
		}
		if at := strings.LastIndexByte(part[:end], '@'); at >= 0 {
			parts[i+1] = part[at+1:]
		}
	}
	text = strings.Join(parts, "://")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text[:min(len(text), 300)])
}

// What one fetch may take. A remote belongs to strangers, and git has no limit of its own for what
// it fetches: receive.maxInputSize holds for those who receive pushes.
const (
	// maxCopy is the most bytes that the objects of a copy take. Hosts ask for repositories of 5 to
	// 10 GB at most.
	maxCopy = 20 << 30
	// maxStill is how long a fetch may bring nothing. A large host counts objects for minutes first.
	maxStill = 10 * time.Minute
	// maxRun is how long any git may run: 10 GB take two hours and a half at 10 Mbit/s.
	maxRun = 6 * time.Hour
	// lookEach is how often a fetch is looked at. Most end before the first look.
	lookEach = 500 * time.Millisecond
)

// errBound says that a git was ended because it took more than it may. It is an answer: neither
// another try nor another copy helps.
var errBound = errors.New("ended by ctx")

// bounded runs do, which fetches, and ends it if the copy grows too large or does not grow at all.
func (r *Remote) bounded(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, end := context.WithCancelCause(ctx)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		r.look(ctx, end)
	}()
	err := do(ctx)
	end(nil)
	<-looked
	if errors.Is(err, errBound) {
		return errors.Join(err, r.removeUnfinished())
	}
	return err
}

// look ends a fetch with the reason, if there is one.
func (r *Remote) look(ctx context.Context, end context.CancelCauseFunc) {
	most, still := r.c.MaxCopy, r.c.MaxStill
	if most == 0 {
		most = maxCopy
	}
	if still == 0 {
		still = maxStill
	}
	ticker := time.NewTicker(lookEach)
	defer ticker.Stop()
	last, grew := int64(-1), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		size := r.copySize()
		switch {
		case size > most:
			end(fmt.Errorf(
				"git fetch: %w: with what the remote sends, its copy %q takes %d bytes, and may "+
					"take %d", errBound, r.c.Bare, size, most))
			return
		case size != last:
			last, grew = size, time.Now()
		case time.Since(grew) >= still:
			end(fmt.Errorf("git fetch: %w: the remote has sent nothing for %v", errBound, still))
			return
		}
	}
}

// copySize returns how many bytes the objects of the copy have, finished or not. What goes away
// meanwhile does not count.
func (r *Remote) copySize() (size int64) {
	_ = filepath.WalkDir(
		filepath.Join(r.c.Bare, "objects"), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil
			}
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
			return nil
		})
	return size
}

// removeUnfinished removes objects that a git has begun and not finished: nobody else does. No git
// is writing objects: this process has the lock of the copy.
func (r *Remote) removeUnfinished() error {
	return filepath.WalkDir(
		filepath.Join(r.c.Bare, "objects"), func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || e.IsDir() || !strings.HasPrefix(e.Name(), "tmp_") {
				return err
			}
			if err := r.c.FS.RemoveNoSync(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		})
}
