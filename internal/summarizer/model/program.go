package model

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// Program is one of the helpers that come with ctx.
type Program struct {
	Name  string // what it asks, on one line
	Short string // the variables that it reads
	Help  string // the variables it reads
	// Argument is the name of its argument in the help, which is the agent that the helper runs. It
	// is "" for a helper that asks over HTTP.
	Argument string
	// Open returns a function that asks the model, and the largest number of tokens of its input.
	// An error is about the settings.
	Open func(s Settings) (ask AnswerFunc, maxInput int, err error)
}

// Settings are the settings of a helper: variables for secrets and lasting settings, flags for the
// others.
type Settings struct {
	Getenv   func(string) string
	Argument string // the value of Program.Argument
	Model    string // --model; "" for that of the variable
	Insecure bool   // --insecure
	Program  string // --program, of a helper that runs one; "" to search PATH
	Sleep    func(ctx context.Context, d time.Duration) error
	Jitter   func() float64
	Now      func() time.Time
}

// First returns the value of the first variable that is set.
func (s Settings) First(names ...string) string {
	for _, name := range names {
		if v := strings.TrimSpace(s.Getenv(name)); v != "" {
			return v
		}
	}
	return ""
}

// Number returns the value of a variable that holds a number of tokens, or def if it is not set.
func (s Settings) Number(name string, def int) (int, error) {
	text := s.First(name)
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1000 || n > 10_000_000 {
		return 0, fmt.Errorf("%s is not a number from 1000 to 10000000: %.40q", name, text)
	}
	return n, nil
}

// Main runs the helper with the arguments and variables of the process, and returns its exit code.
func (p Program) Main() int {
	s := Settings{Getenv: os.Getenv, Sleep: sleep, Jitter: rand.Float64, Now: time.Now}
	return p.Run(context.Background(), os.Args[1:], s, os.Stdin, os.Stdout, os.Stderr)
}

// Run is Main with explicit arguments, settings and streams. Bad settings are reported as the
// answer to each claim, so that ctx can distinguish them from a crash.
func (p Program) Run(
	ctx context.Context, args []string, s Settings, in io.Reader, out, errs io.Writer,
) int {
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() {
		usage := strings.TrimSpace(p.Name + " [flags] " + p.Argument)
		fmt.Fprintf(errs,
			"%s: %s\n\nUsage: %s\n\nIt speaks the protocol of docs/summarizers.md on standard "+
				"input and output; ctx starts it.\n\n%s\n\nFlags:\n",
			p.Name, p.Short, usage, p.Help)
		flags.PrintDefaults()
	}
	flags.StringVar(&s.Model, "model", "", "the `name` of the model, before the variable")
	if p.Argument == "" {
		flags.BoolVar(&s.Insecure, "insecure", false,
			"allow http to another machine: what is sent can be read on the way")
	} else {
		flags.StringVar(&s.Program, "program", "",
			"the absolute `path` of the agent's program, before PATH")
	}
	version := flags.Bool("version", false, "print the version and end")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *version:
		fmt.Fprintf(out, "%s version %s\n", p.Name, child.Version())
		return 0
	}
	if err := p.takeArguments(&s, flags.Args()); err != nil {
		fmt.Fprintf(errs, "%s: %v\n", p.Name, err)
		return 2
	}
	ask, most, err := p.Open(s)
	if err != nil {
		because := &Error{Kind: summarizer.Terminal, Message: err.Error()}
		ask, most = func(context.Context, summarizer.WireRequest) (Reply, error) {
			return Reply{}, because
		}, 1000
	}
	can := summarizer.Capability{Name: p.Name, Version: child.Version(), MaxInputTokens: most}
	if err := Serve(ctx, in, out, can, ask); err != nil {
		fmt.Fprintf(errs, "%s: %v\n", p.Name, err)
		return 1
	}
	return 0
}

// takeArguments copies the arguments after the flags into s.
func (p Program) takeArguments(s *Settings, args []string) error {
	switch {
	case p.Argument == "" && len(args) > 0:
		return fmt.Errorf("takes no argument: %q", args[0])
	case p.Argument != "" && len(args) != 1:
		return fmt.Errorf("takes one argument, %s, not %d", p.Argument, len(args))
	case p.Argument != "":
		s.Argument = args[0]
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
