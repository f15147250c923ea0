package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func newCompletionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Args:      between(1, 1),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
			return usagef("no completion for shell %q: bash, zsh, fish and powershell are known",
				args[0])
		},
	}
}

// completer offers words for an argument or the value of a flag. It never fails: without a store it
// offers nothing.
type completer = func(cmd *cobra.Command, args []string,
	begun string) ([]string, cobra.ShellCompDirective)

// completeSessions offers the names of sessions with their titles, the newest first.
func (a *app) completeSessions() completer {
	return a.completeFrom(a.titledSessions)
}

// titledSessions returns what `ctx list` shows: no session of a subagent.
func (a *app) titledSessions(s *session.Store, view *refs.View) []string {
	list, _ := s.Recall.Overviews(view)
	return lists.Map(newSessionTree(list).top, func(i int) string {
		return list[i].Name + "\t" + a.sessionTitle(&list[i])
	})
}

// completeSettings offers the keys of settings, with their values.
func (a *app) completeSettings() completer {
	keys := a.completeFrom(func(s *session.Store, _ *refs.View) (words []string) {
		for _, setting := range s.Clusters.Settings() {
			words = append(words, setting.Key+"\t"+oneLine(setting.Value))
		}
		return words
	})
	return func(cmd *cobra.Command, args []string,
		begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return keys(cmd, args, begun)
	}
}

// completeOverrides offers the keys of settings for the value of -c.
func (a *app) completeOverrides() completer {
	keys := a.completeSettings()
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		words, how := keys(cmd, nil, begun)
		for i := range words {
			words[i] = strings.Replace(words[i], "\t", "=\t", 1)
		}
		return words, how | cobra.ShellCompDirectiveNoSpace
	}
}

// completePrograms offers the programs that come with ctx and are there, as commands.
func (a *app) completePrograms(_ *cobra.Command, args []string,
	begun string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, one := range shipped() {
		if len(args) == 0 && strings.HasPrefix(one.name, begun) &&
			a.findProgram(a.dir, one.name) != "" {
			words = append(words, one.name+"\t"+one.does)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeRefs offers the names of refs.
func (a *app) completeRefs() completer {
	return a.completeFrom(
		func(_ *session.Store, view *refs.View) []string { return view.Names("") })
}

// completeRevs offers revisions: sessions, branches and other refs.
func (a *app) completeRevs() completer {
	return a.completeFrom(func(s *session.Store, view *refs.View) []string {
		words := append([]string{"@"}, a.titledSessions(s, view)...)
		for _, name := range view.Names("") {
			if name != "HEAD" {
				words = append(words, strings.TrimPrefix(name, "sessions/"))
			}
		}
		return words
	})
}

// completeRemotes offers the names of remotes, for the first argument or a flag.
func (a *app) completeRemotes(ofFlag bool) completer {
	names := a.completeFrom(func(s *session.Store, _ *refs.View) []string {
		set, _ := s.Remotes()
		return remoteNames(set)
	})
	return func(cmd *cobra.Command, args []string,
		begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !ofFlag {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(cmd, args, begun)
	}
}

// completeFrom offers words of the store, in their order. What follows a tab says what a word is.
func (a *app) completeFrom(words func(*session.Store, *refs.View) []string) completer {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		if a.prepare(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s, view, err := a.openView()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var fit []string
		for _, word := range words(s, view) {
			if strings.HasPrefix(word, begun) {
				fit = append(fit, word)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeWords offers fixed words for the value of a flag.
func (a *app) completeWords(cmd *cobra.Command, flag string, words ...string) {
	a.completeFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completeFlag completes the value of a flag, in a run that a shell asks to complete: cobra never
// lets go of a flag that has a function, nor of the commands around it.
func (a *app) completeFlag(cmd *cobra.Command, flag string, words completer) {
	if cmd.Flag(flag) == nil {
		panic("no flag " + flag)
	}
	if !a.completing {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, words); err != nil {
		panic(err)
	}
}
