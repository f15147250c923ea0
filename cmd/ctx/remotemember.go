package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newRemoteMemberListCmd(a *app) *cobra.Command {
	return a.newCmd("list [NAME]", a.onStore(func(s *session.Store, args []string) error {
		return a.members(s, args, remote.MemberChange{Do: remote.ListMembers})
	}))
}

func newRemoteMemberAddCmd(a *app) *cobra.Command {
	return a.newCmd("add NAME [NAME=]RECIPIENT...",
		a.onStore(func(s *session.Store, args []string) error {
			list, err := a.recipients(args[1:])
			if err != nil {
				return err
			}
			return a.members(s, args[:1], remote.MemberChange{Do: remote.AddMembers, Members: list})
		}))
}

func newRemoteMemberRmCmd(a *app) *cobra.Command {
	cmd := a.newCmd("rm NAME MEMBER...", a.onStore(func(s *session.Store, args []string) error {
		change := remote.MemberChange{Do: remote.RemoveMembers}
		for _, name := range args[1:] {
			change.Members = append(change.Members, remote.Member{Name: name})
		}
		if err := a.members(s, args[:1], change); err != nil {
			return err
		}
		a.say(
			"hint: what was pushed before stays readable to them while they can reach the " +
				"place: take their access away, too")
		return nil
	}))
	cmd.ValidArgsFunction = a.completeRemotes(false)
	return cmd
}

// members asks an encrypted remote for its members or changes them, and prints them.
func (a *app) members(s *session.Store, args []string, change remote.MemberChange) (err error) {
	_, name, which, err := remoteOf(s, args)
	if err != nil {
		return err
	}
	of, err := a.changeMembers(s, name, which.URL, change)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer("remote", name, "group", of.ID, "round", of.Round, "self", of.Self,
			"members", of.Members, "classic", of.Classic)
	}
	a.line("group %s, round %d", of.ID, of.Round)
	var rows [][]string
	for _, m := range of.Members {
		you := ""
		if m.Name == of.Self {
			you = "you"
		}
		rows = append(rows, []string{m.Name, shortRecipient(m.Recipient), you})
	}
	a.table(rows)
	if change.Do != remote.ListMembers {
		a.warnClassic(of)
	}
	return nil
}

// changeMembers opens an encrypted remote, and asks for its members or changes them.
func (a *app) changeMembers(
	s *session.Store, name, url string, change remote.MemberChange,
) (of remote.Group, err error) {
	r, err := a.openURL(s, name, url)
	if err != nil {
		return of, err
	}
	defer func() { err = joinClose(err, r) }()
	g, ok := r.(remote.Grouper)
	if !ok {
		return of,
			withHint(
				usagef("remote %s is not encrypted: everybody who can read the place is a member",
					name),
				"`ctx remote add` encrypts a new place: %sURL", sealedPrefix)
	}
	if of, err = g.Members(a.c, change); errors.Is(err, remote.ErrNotFound) {
		return of,
			withHint(
				notFound("%s", strings.TrimPrefix(err.Error(), remote.ErrNotFound.Error()+": ")),
				"`ctx remote member list %s` lists them", name)
	}
	if err != nil {
		err = fmt.Errorf("remote %s: %w", name, err)
	}
	return of, err
}

// beginSealed encrypts a place that is empty, or checks that the user is a member of one that is
// encrypted. It returns the URL with the group.
func (a *app) beginSealed(
	s *session.Store, set repo.Remotes, name, url string, members []string,
) (string, error) {
	list, err := a.recipients(members)
	if err != nil {
		return "", err
	}
	of, err := a.changeMembers(s, name, url,
		remote.MemberChange{Do: remote.BeginGroup, Self: a.label(set), Members: list})
	if err != nil {
		return "", err
	}
	a.say("%s is encrypted to %s", name, plural(len(of.Members), "member", "members"))
	if of.Began {
		a.say("hint: without your key nothing there can be read: keep a copy of %s",
			filepath.Join(filepath.Dir(a.env().UserConfig), "age", "identities"))
	}
	a.warnClassic(of)
	return withGroup(url, of), nil
}

// withGroup returns the URL of an encrypted remote with its group, so that whoever is given the URL
// notices a host that shows other keys.
func withGroup(url string, of remote.Group) string {
	place, _ := cutGroup(url)
	return place + "#" + of.ID
}

// warnClassic says so where a key of a member may not last.
func (a *app) warnClassic(of remote.Group) {
	for _, m := range of.Members {
		if of.Classic && !strings.HasPrefix(m.Recipient, "age1pq1") {
			a.say(
				"hint: who keeps a copy of the place could read it with a large quantum "+
					"computer, through the key of %s: keys of age1pq1… withstand one", m.Name)
			return
		}
	}
}

// shortRecipient returns enough of a public key to tell it from others.
func shortRecipient(key string) string {
	if len(key) <= 30 {
		return key
	}
	return key[:20] + "…" + key[len(key)-8:]
}

// recipients reads arguments of the form [NAME=]RECIPIENT, where RECIPIENT is a public key or a
// file of them.
func (a *app) recipients(args []string) (list []remote.Member, err error) {
	for _, arg := range args {
		name, key, named := strings.Cut(arg, "=")
		if !named || strings.ContainsAny(name, ` /\`) || name == "" || key == "" {
			name, key = "", arg
		}
		keys := []string{key}
		if !strings.HasPrefix(key, "age1") && !strings.HasPrefix(key, "ssh-") {
			if keys, err = a.recipientsIn(key); err != nil {
				return nil, err
			}
		}
		if name != "" && len(keys) > 1 {
			return nil,
				usagef("%q has %d keys, and one name is given for them", oneLine(key), len(keys))
		}
		for _, key := range keys {
			list = append(list, remote.Member{Name: name, Recipient: key})
		}
	}
	return list, nil
}

// maxRecipients is the most bytes of a file of recipients.
const maxRecipients = 4 << 20

// recipientsIn reads the recipients in a file, one a line.
func (a *app) recipientsIn(file string) (keys []string, err error) {
	b, err := durable.ReadInput(a.path(file), maxRecipients)
	if err != nil {
		return nil,
			withHint(err, "a recipient begins with age1 or ssh-, or is a file with such lines")
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			keys = append(keys, line)
		}
	}
	if len(keys) == 0 {
		return nil, usagef("%q has no recipient", oneLine(file))
	}
	return keys, nil
}
