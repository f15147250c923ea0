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
		Use:   "help [COMMAND | TOPIC | --all]",
		Short: "Explain a command or a topic",
		Long: long(`Explains a command, or one of the topics exit-codes, revisions and environment. Without
one it lists the commands of every day, and with --all every command.

With --man the command writes all of this as manual pages into a directory, for packages. Their
date is that of SOURCE_DATE_EPOCH, if this is set, so that two builds have the same bytes.`),
		Example: "  ctx help append\n  ctx help exit-codes\n  ctx help --man share/man/man1",
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
				return withHint(usagef("no such command or topic: %q", strings.Join(args, " ")),
					"`ctx help` lists them")
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
			path := []string{name}
			if name == "list" {
				path = []string{"session", "list"}
			}
			if cmd, _, err := root.Find(path); err == nil {
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
	return command.ManPages(a.path(dir), cmd.Root(), date.UTC().Format("2006-01-02"),
		environ.Version())
}

// helpTopics are help pages that belong to no command.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "Explain the exit codes", Long: exitCodesHelp()},
		{Use: "revisions", Short: "Explain how to name objects and points in history",
			Long: revisionsHelp},
		{Use: "environment", Short: "List the variables and files that ctx reads",
			Long: environmentHelp},
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

const revisionsHelp = `Each of these forms of REV names an object:

  3f9a6c01...        a full id, 64 digits
  3f9a6c             the first digits of an id, at least 4, if they are unique; an entry precedes a cluster
  @, HEAD            the newest entry of the session that HEAD names; with -s and -b, @ is that of the named branch
  work               the newest entry of session "work", branch main
  1284               the same, by the first characters of the name, at least 4, if only one session has them
  work/try           the newest entry of branch "try" of session "work"
  user/before-demo   what a ref holds, also as sessions/work/main or before-demo
  work~3             three entries back
  work@{2}           the value two moves ago, as far back as the log goes
  A..B               for commands that take a range: everything in B that is not in A

Names precede ids: a session called "beef" is not the beginning of an id.

Where a command takes a SESSION, after -s or as an argument, each of these names one:

  work               the session of that name, and nothing else in commands that make one (append, import)
  2a55               the first characters of its name, at least 4, if only one session has them
  @, HEAD            the session that HEAD names; also where none is given
  @{-1}              the session that HEAD named before it; @{-2} the one before that
  flaky test         words of its title or tags, #tag for a tag, if only one session has all of them

` + "`ctx list WORDS`" +
	` lists the sessions that words mean. As an argument the beginning of a name goes before the beginning of an id.

` + "`ctx rewind`" +
	` counts messages: @ and HEAD are the newest message, and @~2 or HEAD~2 removes the two newest messages.`

const environmentHelp = `Variables:

  CTX_DIR                  the store, or the project it is in; without it, the first .gemini/context upwards from the
                           working directory, not in the home directory and not on another file system
  CTX_USER_DATA            the directory with the list of stores that may speak to models; without it, ctx in
                           XDG_DATA_HOME, or in the directory that the system has for data, as ~/.local/share
  CTX_USER_CONFIG          the user's config file; without it, ctx/config.toml in the user's configuration directory
  CTX_<SECTION>_<SETTING>  a setting, as CTX_WINDOW_GRADUATE_AT for window.graduate_at
  CTX_PAGER, PAGER         the program that shows long output on a terminal; cat for none; without them, less
  NO_COLOR                 if this is set and not empty, no colours on a terminal; the setting color.ui goes before it
  CTX_HOOK_DISABLE         if this is set and not 0, ` + "`ctx hook`" +
	` does nothing; ctx sets it for agents that write summaries
  HOME, XDG_CONFIG_HOME, XDG_DATA_HOME
                           the places of the user's files (Windows: USERPROFILE, AppData, LocalAppData)

The first source that has a setting wins: -c KEY=VALUE, the environment, the store's config.toml, the user's config file, the
default. ` + "`ctx config list --show-origin`" +
	` prints the source. ctx does not read summarize.chain from a store's config.toml, so
that a store cannot say who is asked for summaries. It reads summarizer.NAME.command and .timeout, and sanitize.extra (your
own patterns of secrets), only from the user's file.`
