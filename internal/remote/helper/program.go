package helper

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// Program is a helper: as it describes itself, and what else its executable does.
type Program struct {
	Name  string // of the executable
	Usage string
	// Features are the optional features that the remotes of Open have, such as FeatureSearch.
	Features []string
	// Open connects to the place that a URL names. It is called once.
	Open func(ctx context.Context, url string) (remote.Remote, error)
	// Verbs are what a person can have the executable do, by their names.
	Verbs map[string]Verb
}

// Verb takes from Least to Most arguments.
type Verb struct {
	Least, Most int
	Run         func(ctx context.Context, args []string, in io.Reader, out io.Writer) error
}

// The exit codes of a program: 0 for done.
const (
	failed     = 1
	wrongUsage = 2
)

// Main runs the program with the arguments of the process, and ends the process.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(p.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run serves if there are no arguments, or does what they say. It returns the exit code.
func (p Program) Run(
	ctx context.Context, args []string, in io.Reader, out, errs io.Writer,
) (code int) {
	err := p.do(ctx, args, in, out)
	switch {
	case err == errUsage:
		fmt.Fprint(errs, p.Usage)
		return wrongUsage
	case err != nil:
		fmt.Fprintf(errs, "%s: %v\n", p.Name, err)
		return failed
	}
	return 0
}

const errUsage = usageError("wrong usage")

// usageError is a type of its own, so that errUsage needs no initialiser when ctx starts.
type usageError string

func (e usageError) Error() string { return string(e) }

func (p Program) do(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 {
		return Serve(ctx, p, in, out)
	}
	name, args := args[0], args[1:]
	if verb, ok := p.Verbs[name]; ok && len(args) >= verb.Least && len(args) <= verb.Most {
		return verb.Run(ctx, args, in, out)
	}
	switch {
	case name == "version" && len(args) == 0:
		fmt.Fprintf(out, "%s version %s\n", p.Name, child.Version())
	case name == "help" || name == "-h" || name == "--help":
		fmt.Fprint(out, p.Usage)
	default:
		return errUsage
	}
	return nil
}
