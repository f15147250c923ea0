package main

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/spf13/cobra"
)

// newSessionRenameCmd and the commands below change what is said of a session.
func newSessionRenameCmd(a *app) *cobra.Command {
	return a.aboutCmd(&cobra.Command{
		Use:  "rename SESSION TITLE...",
		Args: between(2, -1),
	}, func(about *history.About, words []string) {
		about.Title = strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	})
}

func newSessionTagCmd(a *app) *cobra.Command {
	var remove []string
	cmd := a.aboutCmd(&cobra.Command{
		Use:  "tag SESSION [TAG]... [-d TAG]...",
		Args: between(1, -1),
	}, func(about *history.About, tags []string) {
		about.Tags = append(about.Tags, tags...)
		slices.Sort(about.Tags)
		about.Tags = slices.DeleteFunc(slices.Compact(about.Tags),
			func(tag string) bool { return slices.Contains(remove, tag) })
	})
	cmd.Flags().StringArrayVarP(&remove, "remove", "d", nil, "remove `TAG`")
	return cmd
}

func newSessionPinCmd(a *app) *cobra.Command {
	return a.pinCmd(&cobra.Command{
		Use: "pin SESSION",
	}, true)
}

func newSessionUnpinCmd(a *app) *cobra.Command {
	return a.pinCmd(&cobra.Command{
		Use: "unpin SESSION",
	}, false)
}

func (a *app) pinCmd(cmd *cobra.Command, pinned bool) *cobra.Command {
	cmd.Args = between(1, 1)
	return a.aboutCmd(cmd, func(about *history.About, _ []string) { about.Pinned = pinned })
}

// aboutCmd completes a command whose first argument is a session of which it changes what is said.
func (a *app) aboutCmd(
	cmd *cobra.Command, change func(about *history.About, rest []string),
) *cobra.Command {
	cmd.ValidArgsFunction = a.completeSessions()
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		one, err := sessionNamed(s, view, args[:1])
		if err != nil {
			return err
		}
		about, found, err := s.Conversation.SetAbout(a.c, one.Name,
			func(about *history.About) { change(about, args[1:]) })
		if err != nil {
			return err
		}
		a.sayCleaned(strings.TrimPrefix(cmd.CommandPath(), "ctx "), found)
		if view, err = s.Refs.Read(); err == nil {
			one, err = sessionNamed(s, view, []string{one.Name})
		}
		if err != nil {
			return err
		}
		text := oneLine(sessions.ShortName(view, one.Name)) + "  " + a.sessionTitle(&one)
		if tags := tagsText(about); tags != "" {
			text += "  " + tags
		}
		return a.result(fields("session", one.Name, "title", document.OrNull(about.Title), "tags",
			append([]string{}, about.Tags...), "pinned", about.Pinned), "%s", text)
	}
	return cmd
}

// tagsText returns what is said of a session besides its title: that it is pinned, and its tags.
func tagsText(about history.About) string {
	return oneLine(strings.Join(about.Labels(), " "))
}
