package main

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/spf13/cobra"
)

// newSessionRenameCmd and the commands below change what is said of a session.
func newSessionRenameCmd(a *app) *cobra.Command {
	return a.aboutCmd("rename SESSION TITLE...", func(about *history.About, words []string) {
		about.Title = strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	})
}

func newSessionTagCmd(a *app) *cobra.Command {
	var remove []string
	cmd := a.aboutCmd("tag SESSION [TAG]... [-d TAG]...", func(
		about *history.About, tags []string,
	) {
		about.Tags = append(about.Tags, tags...)
		for _, tag := range remove {
			if !slices.Contains(about.Tags, tag) {
				a.say("ctx: session tag: it has no tag %q", oneLine(tag))
			}
		}
		slices.Sort(about.Tags)
		about.Tags = slices.DeleteFunc(slices.Compact(about.Tags),
			func(tag string) bool { return slices.Contains(remove, tag) })
	})
	cmd.Flags().StringArrayVarP(&remove, "remove", "d", nil, "remove `TAG`")
	return cmd
}

func newSessionPinCmd(a *app) *cobra.Command {
	return a.aboutCmd("pin SESSION", func(about *history.About, _ []string) { about.Pinned = true })
}

func newSessionUnpinCmd(a *app) *cobra.Command {
	return a.aboutCmd("unpin SESSION",
		func(about *history.About, _ []string) { about.Pinned = false })
}

// aboutCmd returns a command whose first argument is a session of which it changes what is said.
func (a *app) aboutCmd(
	use string, change func(about *history.About, rest []string),
) *cobra.Command {
	return a.newCmd(use, a.onView(func(s *session.Store, view *refs.View, args []string) error {
		one, err := sessionNamed(s, view, args[:1])
		if err != nil {
			return err
		}
		about, found, err := s.Conversation.SetAbout(a.c, one.Name,
			func(about *history.About) { change(about, args[1:]) })
		if err != nil {
			return err
		}
		a.sayCleaned(strings.TrimPrefix(a.command, "ctx "), found)
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
	}))
}

// tagsText returns what is said of a session besides its title: that it is pinned, and its tags.
func tagsText(about history.About) string {
	return oneLine(strings.Join(about.Labels(), " "))
}
