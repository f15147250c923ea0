package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/eval"
	"github.com/gemini-ctx/ctx/eval/corpus"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/machine"
	"github.com/gemini-ctx/ctx/session"
)

type evalOptions struct {
	branchFlags
	only   []string
	seed   uint64
	timing bool
}

func newEvalCmd(a *app) *cobra.Command {
	o := &evalOptions{}
	cmd := &cobra.Command{
		Use:   "eval [PATH… | -s SESSION]",
		Short: "Measure clusters, summaries and search on conversations",
		Long: long(`Measures what ctx makes of conversations, beside simpler rules: how well topics are told apart, which facts are left at so many
tokens, whether what answers a question is found, and that everything that is shown can be expanded to the exact words. PATH is a file
NAME.messages.jsonl, with the questions in NAME.facts.jsonl beside it if there are any, or a directory of such files; SESSION is one of the
store here, of which everything is measured that needs no labels. Without either it is the conversations that ctx brings along.

All work is done on copies in a temporary directory. Unless summarize.chain names helpers, which then word the summaries, no model is
asked, and the same input and settings give the same output on every machine, but for --timing.`, exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx eval\n  ctx eval --only clustering talks.messages.jsonl --json\n  ctx eval -s work",
		Args:    between(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	f := cmd.Flags()
	f.StringSliceVar(&o.only, "only", nil, "measure only these `PARTS`: "+strings.Join(eval.Parts(), ", "))
	f.Uint64Var(&o.seed, "seed", 1, "the seed `N` of what is drawn")
	f.BoolVar(&o.timing, "timing", false, "measure how long append, graduate and render take, too")
	completeFlag(cmd, "only", cobra.FixedCompletions(eval.Parts(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *evalOptions) run(c context.Context, a *app, args []string) error {
	if err := eval.CheckParts(o.only); err != nil {
		return withHint(usagef("bad --only: %v", err), "%s are the parts", strings.Join(eval.Parts(), ", "))
	}
	sets, err := o.sets(a, args)
	if err != nil {
		return err
	}
	a.watchInterrupts()
	options := eval.Options{
		Only: o.only, Seed: o.seed, Version: machine.Version(),
		Settings:   eval.Settings{UserConfig: a.userConf, Getenv: a.getenv, Overrides: a.overrides},
		Summarizer: func(s *session.Store) (summarize.Summarizer, error) { return a.summarizer(c, s) },
	}
	if o.timing {
		options.Clock = time.Now
	}
	report, err := eval.Run(c, sets, options)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(report)
	}
	return report.WriteText(a.out)
}

// sets are what the command line names.
func (o *evalOptions) sets(a *app, args []string) ([]eval.Set, error) {
	stored := o.cmd.Flags().Changed("session") || o.cmd.Flags().Changed("branch")
	switch {
	case stored && len(args) > 0:
		return nil, usagef("a session of the store or a PATH: not both")
	case stored:
		return o.stored(a)
	case len(args) == 0:
		return eval.Own(o.seed), nil
	}
	var sets []eval.Set
	for _, arg := range args {
		paths, err := messageFiles(a.path(arg))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			set, err := readSet(path)
			if err != nil {
				return nil, err
			}
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// stored is the session of the store here.
func (o *evalOptions) stored(a *app) ([]eval.Set, error) {
	s, view, err := a.openView()
	if err != nil {
		return nil, err
	}
	name, _, tip, err := o.tip(view)
	if err != nil {
		return nil, err
	}
	set, err := eval.FromStore(s, tip.ID, name)
	return []eval.Set{set}, err
}

const (
	messagesSuffix = ".messages.jsonl"
	factsSuffix    = ".facts.jsonl"
)

// messageFiles returns path, or what is in it, sorted by name, if it is a directory.
func messageFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir() && !strings.HasSuffix(path, messagesSuffix):
		return nil, usagef("not a corpus: %q: its name does not end in %s", path, messagesSuffix)
	case !info.IsDir():
		return []string{path}, nil
	}
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, f := range files {
		if strings.HasSuffix(f.Name(), messagesSuffix) && !f.IsDir() {
			list = append(list, filepath.Join(path, f.Name()))
		}
	}
	if len(list) == 0 {
		return nil, usagef("no corpus in %q: no name there ends in %s", path, messagesSuffix)
	}
	slices.Sort(list)
	return list, nil
}

// readSet reads a file of messages, and that of the facts beside it if there is one.
func readSet(path string) (eval.Set, error) {
	base := strings.TrimSuffix(path, messagesSuffix)
	set := eval.Set{Name: filepath.Base(base)}
	err := readWith(path, func(f *os.File) (err error) {
		set.Messages, err = corpus.Read(f)
		return err
	})
	if err != nil {
		return set, err
	}
	err = readWith(base+factsSuffix, func(f *os.File) (err error) {
		set.Facts, err = corpus.ReadFacts(f)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return set, err
}

// readWith opens a file for read; what is wrong in it is an error that names the file.
func readWith(path string, read func(*os.File) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := read(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
