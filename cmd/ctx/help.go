package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
)

func newHelpCmd(a *app) *cobra.Command {
	var man string
	cmd := &cobra.Command{
		Use:     "help [COMMAND | TOPIC | --all]",
		GroupID: groupOther,
		RunE: func(cmd *cobra.Command, args []string) error {
			if man != "" {
				return a.writeMan(cmd, man, args)
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				if len(args) == 1 && isProgramName(args[0]) {
					if path := a.findProgram(a.dir, args[0]); path != "" {
						code, err := a.runExternal(external{name: args[0], path: path,
							args: []string{"--help"}})
						return errors.Join(err, exitWith(code))
					}
				}
				return noSuchCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			if err := about.Help(); err != nil || about.HasParent() || !a.allHelp {
				return err
			}
			if names := a.listExternal(); len(names) > 0 {
				a.printf("\nPrograms of their own, beside ctx or on PATH: %s\n",
					strings.Join(names, ", "))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string,
			_ string) ([]string, cobra.ShellCompDirective) {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, sub := range about.Commands() {
				if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&a.allHelp, "all", false, "list every command")
	cmd.Flags().StringVar(&man, "man", "", "write manual pages into the directory `DIR`")
	return cmd
}

// printFront lists the commands of every day, by the work that they do.
func (a *app) printFront(w io.Writer, root *cobra.Command) {
	fmt.Fprintf(w, "ctx: %s\n", root.Short)
	for _, group := range []struct{ title, names string }{
		{"Look back", "status, list, search, how, fix, blame, brief, log, show, view"},
		{"Go on", "import, resume, note, render, undo, rewind, session, compact"},
		{"Set up", "init, install, doctor, demo"},
		{"Share", "remote, push, pull, clone"},
	} {
		fmt.Fprintf(w, "\n%s\n", a.paint(styleTitle, group.title+":"))
		for _, name := range strings.Split(group.names, ", ") {
			if cmd, _, err := root.Find([]string{name}); err == nil {
				fmt.Fprintf(w, "  %-8s  %s\n", name, cmd.Short)
			}
		}
	}
	fmt.Fprintln(w, "\n`ctx help COMMAND` explains a command, `ctx help revisions` how to name sessions and\n"+
		"messages. `ctx help --all` lists every command. -C DIR runs one in another project.")
}

// writeMan writes the manual pages of all commands.
func (a *app) writeMan(cmd *cobra.Command, dir string, args []string) error {
	if len(args) > 0 {
		return usagef("--man takes no command: it writes the pages of all")
	}
	date := a.now()
	if text := a.getenv("SOURCE_DATE_EPOCH"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return usagef("bad SOURCE_DATE_EPOCH: %.40q: seconds since 1970", text)
		}
		date = time.Unix(seconds, 0)
	}
	describe(cmd)
	return command.ManPages(a.path(dir), cmd.Root(), date.UTC().Format("2006-01-02"),
		environ.Version())
}

// helpTopics are help pages that belong to no command.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "Explain the exit codes", Long: exitCodesHelp()},
		{Use: "revisions"},
		{Use: "environment"},
	}
}

func exitCodesHelp() string {
	var b strings.Builder
	b.WriteString("Every command ends with one of these:\n\n")
	for _, m := range command.ExitCodes() {
		fmt.Fprintf(&b, "  %-3d  %s\n", m.Code, m.Text)
	}
	b.WriteString(`
An error is one line on standard error, "ctx: <what>: <subject>: <why>", often with a second line, "hint: ...". With --json
it is an object: {"v":1,"error":{"code":15,"kind":"not-found","message":"...","hint":"..."}}.

SIGINT and SIGTERM end every command within a second. A second signal ends it at once.`)
	return b.String()
}
