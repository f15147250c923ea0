package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newHelpCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | TOPIC]",
		Short:   "Explain a command or a topic",
		Long:    long("Explains a command, or one of the topics exit-codes, revisions and environment."),
		Example: "  ctx help append\n  ctx help exit-codes",
		GroupID: groupOther,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				if len(args) == 1 && isProgramName(args[0]) {
					if path := a.findProgram(a.dir, args[0]); path != "" {
						code, err := a.runExternal(external{name: args[0], path: path, args: []string{"--help"}})
						return errors.Join(err, exitWith(code))
					}
				}
				return withHint(usagef("no such command or topic: %q", strings.Join(args, " ")), "`ctx help` lists them")
			}
			about.InitDefaultHelpFlag()
			if err := about.Help(); err != nil || about.HasParent() {
				return err
			}
			if names := a.listExternal(); len(names) > 0 {
				a.printf("\nPrograms of their own, beside ctx or on PATH: %s\n", strings.Join(names, ", "))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
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
}

// helpTopics are pages of help that belong to no command.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesHelp()},
		{Use: "revisions", Short: "How objects and points in history are named", Long: revisionsHelp},
		{Use: "environment", Short: "Variables and files that ctx reads", Long: environmentHelp},
	}
}

func exitCodesHelp() string {
	var b strings.Builder
	b.WriteString("Every command ends with one of these:\n\n")
	for _, m := range exitCodes() {
		fmt.Fprintf(&b, "  %-3d  %s\n", m.code, m.text)
	}
	b.WriteString(`
An error is one line on standard error, "ctx: <what>: <subject>: <why>", and often a second one, "hint: ...". With --json
it is an object: {"v":1,"error":{"code":15,"kind":"not-found","message":"...","hint":"..."}}.

SIGINT and SIGTERM end every command within a second, wherever it waits, and a second signal ends it at once.`)
	return b.String()
}

const revisionsHelp = `Wherever a command takes REV, these name an object:

  3f9a6c01...        a full id, 64 digits
  3f9a6c             the beginning of one, 4 digits at least, if only one object has it; an entry goes before a cluster
  @, HEAD            the newest entry of the session that HEAD names; with -s and -b, @ is that of the branch they name
  work               the newest entry of session "work", branch main
  1284               the same of the one session whose name begins so, 4 characters at least, if nothing else has that name
  work/try           the newest entry of branch "try" of session "work"
  user/before-demo   what a ref holds, also as sessions/work/main or before-demo
  work~3             three entries back
  work@{2}           what it was two moves ago, as far as the log goes back
  A..B               where a range is taken: everything in B that is not in A

Names go before ids: a session called "beef" is not the beginning of an id. Where a session is named, as by -s, the beginning
of its name will do as well, but for what makes a session (append, import), removes it, or renders one that is not there yet.

` + "`ctx rewind`" + ` counts messages: @ and HEAD are the newest message, and @~2 or HEAD~2 takes the two newest out.`

const environmentHelp = `Variables:

  CTX_DIR                  the store, or the project it is in; without it, the first .gemini/context upwards from the
                           working directory, not in the home directory and not on another file system
  CTX_USER_CONFIG          the user's config file; without it, ctx/config.toml in the user's configuration directory
  CTX_<SECTION>_<SETTING>  a setting, as CTX_WINDOW_GRADUATE_AT for window.graduate_at
  CTX_HOOK_DISABLE         ` + "`ctx hook`" + ` does nothing where this is set, but for 0; agents that write summaries have it
  HOME, XDG_CONFIG_HOME    where the user's files are (Windows: USERPROFILE, AppData)

Settings are taken from, the first one that has it: -c KEY=VALUE, the environment, the store's config.toml, the user's
config file, the default. ` + "`ctx config list --show-origin`" + ` says which it was. A store's config.toml does not say who is asked for
summaries: summarize.chain is not taken from it, and summarizer.NAME.command and .timeout only from the user's file. So
is sanitize.extra, the patterns of secrets that only you have.`
