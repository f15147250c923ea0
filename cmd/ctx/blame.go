package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/blame"
	"github.com/gemini-ctx/ctx/internal/blame/whose"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/spf13/cobra"
)

type blameOptions struct {
	rewound bool
	noGit   bool
	session string
}

func newBlameCmd(a *app) *cobra.Command {
	o := &blameOptions{}
	cmd := a.newCmd("blame FILE[:LINE[-LINE]]",
		func(args []string) error { return o.run(a, args[0]) })
	f := cmd.Flags()
	f.StringVarP(&o.session, "session", "s", "", "only this session")
	f.BoolVar(&o.rewound, "rewound", false, "also edits that were rewound")
	f.BoolVar(&o.noGit, "no-git", false, "do not ask git")
	a.completeFlag(cmd, "session", a.completeSessions())
	return cmd
}

// lineRange reads the argument of blame: FILE, FILE:LINE or FILE:LINE-LINE, also FILE:LINE:COLUMN,
// as compilers print it, and FILE#L2-L4, as addresses have it. Without lines, from is 0. A file
// whose name ends like a line is the file.
func (a *app) lineRange(arg string) (file string, from, to int, err error) {
	m := regexp.MustCompile(`^(.+?)(?::|#L)([0-9]{1,9})(?:[-,]L?([0-9]{1,9})|:[0-9]{1,9})?:?$`).
		FindStringSubmatch(arg)
	if _, err := os.Stat(a.path(arg)); m == nil || err == nil {
		return arg, 0, 0, nil
	}
	from, _ = strconv.Atoi(m[2]) // digits
	if to = from; m[3] != "" {
		to, _ = strconv.Atoi(m[3])
	}
	if from < 1 || to < from {
		return "", 0, 0, usagef("bad line: %.80q: as in FILE:10 or FILE:10-20", arg)
	}
	return m[1], from, to, nil
}

func (o *blameOptions) run(a *app, arg string) error {
	file, from, to, err := a.lineRange(arg)
	if err != nil {
		return err
	}
	path, asked, err := a.askedFile(file, o.session)
	if err != nil {
		return err
	}
	asked.Rewound, asked.NoGit = o.rewound, o.noGit
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	found, err := whose.Of(a.c, s, view, path, asked)
	if err != nil {
		return err
	}
	if !found.Given {
		a.say("ctx: blame: %s", found.Name)
		file = found.Name
	}
	list := found.Lines
	if len(list) == 0 {
		return exitIf(true, exitFailed)
	}
	if from == 0 {
		return o.print(a, s, view, found.Name, list)
	}
	if from > len(list) {
		return usagef("bad line: %.80q has %s", file, plural(len(list), "line", "lines"))
	}
	list = list[from-1 : min(to, len(list))]
	if err := o.print(a, s, view, found.Name, list); err != nil || a.json || to > from ||
		list[0].Call == nil {
		return err
	}
	return o.explain(a, s, view, file, list[0].Call)
}

// askedFile returns the path of a file, and what is asked about it: only edits of a session, if it
// is not "".
func (a *app) askedFile(file, session string) (path string, o whose.Options, err error) {
	o = whose.Options{Session: session, Asked: file,
		Warn: func(err error) { a.say("ctx: blame: %v", err) }}
	if session != "" {
		if err := checkName("session", session); err != nil {
			return "", o, err
		}
	}
	path, err = filepath.Abs(a.path(file))
	return path, o, err
}

// print prints lines. It returns an error for exit code 1 if no session wrote any of them.
func (o *blameOptions) print(
	a *app, s *session.Store, view *refs.View, file string, list []whose.Line,
) error {
	found := false
	prompts := map[format.ID]format.ID{}
	rows := make([][]string, len(list))
	width := len(strconv.Itoa(list[len(list)-1].Number))
	for i, l := range list {
		found = found || l.Call != nil
		if a.json {
			d := document.LineOf(file, l.Number, l.Text, l.Call, l.Commit)
			if l.Call != nil {
				prompt, known := prompts[l.Call.Entry]
				if !known {
					var err error
					if prompt, err = s.Blame.Prompt(l.Call.Entry); err != nil {
						return err
					}
					prompts[l.Call.Entry] = prompt
				}
				d.Prompt = document.IDText(prompt)
			}
			if err := a.answer(d); err != nil {
				return err
			}
			continue
		}
		id, name, agent, when := "-", "-", "-", ""
		switch {
		case l.Call != nil:
			id, name, agent = l.Call.Entry.Short(shortLen),
				sessions.ShortName(view, l.Call.Header.Session),
				oneLine(cmp.Or(document.AgentOf(l.Call), "-"))
			when = l.Call.Header.Time.Format("2006-01-02 15:04")
		case l.Commit != nil:
			id, name, agent = l.Commit.ID[:shortLen], "commit", oneLine(l.Commit.Author)
			when = l.Commit.Time.Format("2006-01-02 15:04")
		}
		text := fmt.Sprintf("%*d) %s", width, l.Number, cleanLines(l.Text))
		if rows[i] = []string{id, name, agent, when, text}; a.lineWidth() < 72 {
			rows[i] = []string{id[:min(len(id), 8)], text} // no room for who and when
		}
	}
	if !a.json {
		a.table(rows)
	}
	return exitIf(!found, exitFailed)
}

// explain prints the turn of a call, and the commands to go on with. file is as it was given.
func (o *blameOptions) explain(
	a *app, s *session.Store, view *refs.View, file string, c *blame.Call,
) error {
	id, err := s.Blame.Prompt(c.Entry)
	if err != nil {
		return err
	}
	name := oneLine(sessions.ShortName(view, c.Header.Session))
	of := oneLine(s.Recall.Titled(view, c.Header.Session))
	if parent, ok, err := s.History.ParentOf(view, c.Header.Session); err != nil {
		return err
	} else if ok {
		of += ", which works for " + oneLine(s.Recall.Titled(view, parent.Session))
	}
	a.line("\nsession  %s", of)
	if !id.IsZero() {
		shown, err := s.History.Latest(view, id)
		if err != nil {
			return err
		}
		a.line("prompt   %s\n%s", a.heading(shown),
			strings.TrimSuffix(entryBody(&find.Telling{Reader: s.Recall.Reader}, shown), "\n"))
	}
	said, err := s.History.Header(c.Entry)
	if err != nil {
		return err
	}
	rewound := ""
	if c.Rewound {
		rewound = " (rewound)"
	}
	a.line("call     %s %s of %s #%d %s%s", oneLine(c.Tool), oneLine(c.ID), c.Entry.Short(shortLen),
		said.Seq, a.clock(said.Time), rewound)
	a.line("\n  ctx show %s\n  ctx log -s %s --file %s", c.Entry.Short(shortLen), shellWord(name),
		shellWord(file))
	return a.out.err
}
