package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/blame"
	"github.com/gemini-ctx/ctx/internal/blame/replay"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/gitfile"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

type blameOptions struct {
	rewound bool
	noGit   bool
	session string
}

func newBlameCmd(a *app) *cobra.Command {
	o := &blameOptions{}
	cmd := &cobra.Command{
		Use:   "blame FILE[:LINE[-LINE]]",
		Short: "Print which message of which session wrote each line of a file",
		Long: long(`Prints each line of a file with the message that wrote it: its id, the session,
the agent and the time. For FILE:LINE it prints also the prompt of that turn and how to go on
reading.

The command replays the edits that agents made in all sessions, in the order of time, and compares
the result with the file as it is now. So the place of a line decides, and not its text alone. It
knows the tools of Claude Code, Codex, Gemini CLI and opencode that edit files, patches, and shell
commands that say what they write (here-documents, echo, tee, mv). A line that has only other white
space than before, or that was moved, keeps its writer. Calls that failed do not count, nor calls
that were rewound, except with --rewound.

In a work tree of git the command also asks git: for the names that the file had before, and for the
commit of each line. A call after that commit did not write the line. A line that no session wrote
is shown with its commit, and one that is in no commit with -. If no session wrote any of the lines,
the exit code is 1.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx blame main.go:42\n  ctx blame main.go:10-20 --json\n  ctx blame -s " +
			"3f9a6c01 main.go",
		Args: between(1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.session, "session", "s", "", "only edits of this session")
	f.BoolVar(&o.rewound, "rewound", false, "also edits that were rewound")
	f.BoolVar(&o.noGit, "no-git", false, "do not ask git")
	completeFlag(cmd, "session", a.completeSessions())
	return cmd
}

// lineRange reads the argument of blame: FILE, FILE:LINE or FILE:LINE-LINE. Without lines, from is
// 0. A file whose name ends like a line is the file.
func (a *app) lineRange(arg string) (file string, from, to int, err error) {
	m := regexp.MustCompile(`^(.+):([0-9]{1,9})(?:[-,]([0-9]{1,9}))?:?$`).FindStringSubmatch(arg)
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

// maxBlamed is the size of the largest file that is read, in bytes.
const maxBlamed = 32 << 20

func (o *blameOptions) run(a *app, arg string) error {
	file, from, to, err := a.lineRange(arg)
	if err != nil {
		return err
	}
	b, err := readBlamed(a.path(file))
	if err != nil {
		return err
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	asked, err := a.fileQuery(s, view, file, o.session, !o.noGit)
	if err != nil {
		return err
	}
	asked.Rewound = o.rewound
	calls, err := s.Blame.Calls(view, asked.Query)
	if err != nil {
		return err
	}
	list := asked.blamed(calls, string(b))
	if len(list) == 0 {
		return exitIf(true, exitFailed)
	}
	if from == 0 {
		return o.print(a, s, view, asked, list)
	}
	if from > len(list) {
		return usagef("bad line: %.80q has %s", file, plural(len(list), "line", "lines"))
	}
	list = list[from-1 : min(to, len(list))]
	if err := o.print(a, s, view, asked, list); err != nil || a.json || to > from ||
		list[0].call == nil {
		return err
	}
	return o.explain(a, s, view, file, list[0].call)
}

func readBlamed(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, usagef("cannot read %.200q: no such file", name)
	case !info.Mode().IsRegular() || info.Size() > maxBlamed:
		return nil, usagef("cannot read %.200q: no file of at most %d bytes", name, maxBlamed)
	}
	b, err := os.ReadFile(name)
	if err == nil && bytes.IndexByte(b, 0) >= 0 {
		return nil, usagef("cannot read %.200q: it has no lines of text", name)
	}
	return b, err
}

// askedFile is a file that is asked about, with what git knows of it.
type askedFile struct {
	blame.Query
	// git returns what git knows of it, nil if that is nothing. It waits for git, which is asked
	// while the store is read.
	git func() *gitfile.File
}

// fileQuery returns what is asked about a file: its name in the project, and its earlier names.
func (a *app) fileQuery(
	s *session.Store, view *refs.View, file, only string, ask bool,
) (askedFile, error) {
	path, err := filepath.Abs(a.path(file))
	if err != nil {
		return askedFile{}, err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	root, inGit := gitfile.Top(filepath.Dir(path))
	if !inGit {
		root = filepath.Dir(filepath.Dir(s.Dir))
		if dir, err := filepath.EvalSymlinks(root); err == nil {
			root = dir
		}
	}
	name, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(name) {
		return askedFile{}, usagef("%.200q is not in the project, which is %q", file, root)
	}
	asked := askedFile{Query: blame.Query{Name: filepath.ToSlash(name)},
		git: func() *gitfile.File { return nil }}
	asked.Project.Root = filepath.ToSlash(root)
	asked.Project.HasDir = func(name string) bool {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil && info.IsDir()
	}
	if only != "" {
		if err := checkName("session", only); err != nil {
			return asked, err
		}
		if asked.Session, err = sessionOr(view, only); err != nil {
			return asked, err
		}
		if len(view.Names("sessions/"+asked.Session+"/")) == 0 {
			return asked, history.UnknownSession(asked.Session, history.MainBranch)
		}
	}
	if !inGit || !ask {
		return asked, nil
	}
	asked.git = a.askGit(root, asked.Name)
	asked.Earlier = func() (names []blame.Name) {
		if f := asked.git(); f != nil {
			for _, n := range f.Names {
				names = append(names, blame.Name{Path: n.Path, Until: n.Until})
			}
		}
		return names
	}
	return asked, nil
}

// askGit begins to ask git about a file, and returns a function that waits for the answer.
func (a *app) askGit(root, name string) func() *gitfile.File {
	var file *gitfile.File
	var err error
	done := make(chan struct{})
	go func() {
		file, err = gitfile.Read(a.c, root, name)
		close(done)
	}()
	return sync.OnceValue(func() *gitfile.File {
		<-done
		if err != nil {
			a.say("ctx: blame: %v", err)
			return nil
		}
		return file
	})
}

// blamedLine is a line with its writer.
type blamedLine struct {
	number int
	text   string
	call   *blame.Call     // nil if no session wrote it
	commit *gitfile.Commit // nil if it is not committed
}

// blamed returns the lines of a text with their writers.
func (q *askedFile) blamed(calls []*blame.Call, text string) []blamedLine {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var commits []*gitfile.Commit
	if f := q.git(); f != nil {
		commits = commitsOf(f, lines)
	}
	times := make([]time.Time, len(commits))
	for i, c := range commits {
		if c != nil {
			times[i] = c.Time
		}
	}
	list := make([]blamedLine, len(lines))
	for i, call := range blame.Lines(q.Query, calls, text, times) {
		list[i] = blamedLine{number: i + 1, text: lines[i], call: call}
		if commits != nil {
			list[i].commit = commits[i]
		}
	}
	return list
}

// commitsOf returns the commits of lines; nil for a line that HEAD does not have.
func commitsOf(f *gitfile.File, lines []string) []*gitfile.Commit {
	head := make([]string, len(f.Lines))
	for i, l := range f.Lines {
		head[i] = l.Text
	}
	commits := make([]*gitfile.Commit, len(lines))
	for i, at := range replay.Pairs(head, lines) {
		if at >= 0 {
			commits[i] = f.Lines[at].Commit
		}
	}
	return commits
}

// print prints lines. It returns an error for exit code 1 if no session wrote any of them.
func (o *blameOptions) print(
	a *app, s *session.Store, view *refs.View, q askedFile, list []blamedLine,
) error {
	found := false
	prompts := map[format.ID]format.ID{}
	rows := make([][]string, len(list))
	width := len(strconv.Itoa(list[len(list)-1].number))
	for i, l := range list {
		found = found || l.call != nil
		if a.json {
			d := document.LineOf(q.Name, l.number, l.text, l.call, l.commit)
			if l.call != nil {
				prompt, known := prompts[l.call.Entry]
				if !known {
					var err error
					if prompt, err = s.Blame.Prompt(l.call.Entry); err != nil {
						return err
					}
					prompts[l.call.Entry] = prompt
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
		case l.call != nil:
			id, name, agent = l.call.Entry.Short(shortLen),
				shortSession(view, l.call.Header.Session),
				oneLine(cmp.Or(document.AgentOf(l.call), "-"))
			when = l.call.Header.Time.Format("2006-01-02 15:04")
		case l.commit != nil:
			id, name, agent = l.commit.ID[:shortLen], "commit", oneLine(l.commit.Author)
			when = l.commit.Time.Format("2006-01-02 15:04")
		}
		rows[i] = []string{id, name, agent, when,
			fmt.Sprintf("%*d) %s", width, l.number, cleanLines(l.text))}
	}
	if !a.json {
		a.table(rows)
	}
	return exitIf(!found, exitFailed)
}

// shortSession returns the shortest beginning of a session's name that names no other, of at least
// 8 bytes.
func shortSession(view *refs.View, name string) string {
	for n := 8; n < len(name); n++ {
		same := true
		for _, ref := range view.Names("sessions/" + name[:n]) {
			same = same && strings.HasPrefix(ref, "sessions/"+name+"/")
		}
		if same {
			return oneLine(name[:n])
		}
	}
	return oneLine(name)
}

// explain prints the turn of a call, and the commands to go on with. file is as it was given.
func (o *blameOptions) explain(
	a *app, s *session.Store, view *refs.View, file string, c *blame.Call,
) error {
	id, err := s.Blame.Prompt(c.Entry)
	if err != nil {
		return err
	}
	name := oneLine(c.Header.Session)
	if parent, ok, err := s.History.ParentOf(view, c.Header.Session); err != nil {
		return err
	} else if ok {
		a.line("\nsession  %s, which works for %s", name, oneLine(parent.Session))
	} else {
		a.line("\nsession  %s", name)
	}
	if !id.IsZero() {
		shown, err := s.History.Latest(view, id)
		if err != nil {
			return err
		}
		a.line("prompt   %s\n%s", a.heading(shown), strings.TrimSuffix(entryBody(shown), "\n"))
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
