package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

type appendOptions struct {
	branchFlags
	role, author, invocation, source, when string
	text, file, parts, expect, parentCall  string
	note, orphan, jsonl                    bool
}

func newAppendCmd(a *app) *cobra.Command {
	o := &appendOptions{}
	cmd := &cobra.Command{
		Use:   "append -s SESSION (--role ROLE [-m TEXT | -F FILE] | --jsonl [FILE])",
		Short: "Add messages to the end of a session",
		Long: long(`Adds one message, from -m, a file or standard input, and prints the id of its entry; or, with --jsonl, any number of messages, one a line:

  {"role":"user","text":"…","author":"…","time":"2026-11-21T00:42:09Z","source":"…","invocation":"…"}

A session that does not exist is created. With --jsonl, "parts" (an array of message parts) may stand for "text", everything but the
role and one of these two may be left out (a message without a time was said now), and the ids are printed, one a line, when their batch is on the disk: after 4,096 lines, 1 MiB,
the end of the input, or 50 ms without input. A message whose "source" is known in the session is not added again: its old id is
printed, and where its content has changed it amends the old one. With --json an answer has the number of its "line".
Lines that cannot be used are counted and told. So are lines with "partial":true: pieces of a message that comes as a whole later are not stored, and have no id.

What looks like a secret is replaced by [REDACTED:<class>] and control characters are taken out before anything is stored.`,
			exitNoStore, exitLocked, exitStale, exitCorrupt, exitNotFound),
		Example: `  ctx append -s work --role user -m 'port 5433, not 5432'
  ctx append -s work --role model -F answer.md
  ctx append -s work --jsonl < messages.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !o.jsonl {
				return usagef("unexpected argument %.80q", args[len(args)-1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.jsonl {
				return o.runBulk(cmd.Context(), a, append(args, "-")[0])
			}
			return o.runOne(cmd.Context(), a)
		},
	}
	o.add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.role, "role", "", "who says it: user, model, tool or system")
	f.StringVarP(&o.text, "message", "m", "", "the text")
	f.StringVarP(&o.file, "file", "F", "", "a file with the text, - for standard input")
	f.StringVar(&o.parts, "parts", "", "a JSON array of message parts instead of a text")
	f.StringVar(&o.author, "author", "", "who says it, by name")
	f.StringVar(&o.when, "time", "", "when it was said, RFC 3339 (default: now)")
	f.StringVar(&o.source, "source", "", "the message's own name: one that is known is not added again")
	f.StringVar(&o.invocation, "invocation", "", "the run of the agent that it belongs to")
	f.StringVar(&o.expect, "expect", "", "fail if the branch's tip is not this entry")
	f.StringVar(&o.parentCall, "parent-call", "", "the `SESSION/CALL` that the session works for, as `ctx session link` says it")
	f.BoolVar(&o.note, "note", false, "something said about the conversation, not in it")
	f.BoolVar(&o.orphan, "orphan", false, "accept the result of a call that is not in the branch")
	f.BoolVar(&o.jsonl, "jsonl", false, "a message a line, from a file or standard input")
	return cmd
}

// open opens the store and chooses the branch.
func (o *appendOptions) open(a *app) (s *session.Store, name string, expect format.ID, err error) {
	if err := o.check(); err != nil {
		return nil, "", expect, err
	}
	s, err = a.openStore()
	if err != nil || o.session != "" && o.expect == "" {
		return s, o.session, expect, err
	}
	view, err := s.Refs.Read()
	if err != nil {
		return nil, "", expect, err
	}
	if name = o.session; name == "" { // a name that is given is whole: the session need not exist
		name, err = session.HEAD(view)
	}
	if session.IsMissing(err) {
		err = withHint(usagef("no session named"), "-s NAME names one; it need not exist")
	}
	if err == nil && o.expect != "" {
		expect, err = o.expected(s, view, name)
	}
	return s, name, expect, err
}

func (o *appendOptions) expected(s *session.Store, view *refs.View, name string) (format.ID, error) {
	return resolve(s, view, inBranch(o.expect, name, o.branch))
}

// runOne appends one message.
func (o *appendOptions) runOne(c context.Context, a *app) error {
	m, err := o.read(a)
	if err != nil {
		return err
	}
	s, name, expect, err := o.open(a)
	if err != nil {
		return err
	}
	if o.source != "" {
		m.Source = jsonlSource(name, o.source)
	}
	parent, err := o.parent()
	if err != nil {
		return err
	}
	set := session.AppendOptions{Expect: expect, Orphan: o.orphan, Parent: parent}
	done, found, err := s.Append(c, name, o.branch, []session.Message{m}, set)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		a.say("ctx: append: cleaned: %s", counts(byClass(found)))
	}
	if a.json {
		return a.printJSON(appendedDocOf(done[0], 0))
	}
	a.line("%v", done[0].ID)
	return nil
}

// parent reads --parent-call.
func (o *appendOptions) parent() (*session.Parent, error) {
	if !o.cmd.Flags().Changed("parent-call") {
		return nil, nil
	}
	return readParentCall(o.parentCall)
}

// appendedDoc is what became of a message.
type appendedDoc struct {
	V       int    `json:"v"`
	ID      string `json:"id"`
	Known   bool   `json:"known"`
	Amended bool   `json:"amended"`
	// Forgotten says that it is there without its words.
	Forgotten bool `json:"forgotten,omitempty"`
	// Line is the number of its line in the input of --jsonl, from 1; lines that are skipped have no document.
	Line int `json:"line,omitempty"`
}

func appendedDocOf(done session.Appended, line int) appendedDoc {
	return appendedDoc{1, done.ID.String(), done.Known, done.Amended, done.Forgotten, line}
}

// read makes the message of the flags and the input.
func (o *appendOptions) read(a *app) (session.Message, error) {
	m := session.Message{Note: o.note, Role: o.role, Author: o.author, Invocation: o.invocation, Time: a.now()}
	flags := o.cmd.Flags()
	switch {
	case o.role == "":
		return m, usagef("no --role: user, model, tool or system")
	case !format.IsRole(o.role):
		return m, usagef("unknown role %.40q: user, model, tool and system are the roles", o.role)
	case flags.Changed("source") && o.source == "":
		return m, usagef("--source is empty")
	}
	if flags.Changed("time") {
		t, err := time.Parse(time.RFC3339Nano, o.when)
		if err != nil {
			return m, usagef("bad --time: %.80q: a time is like 2026-11-21T00:42:09Z", o.when)
		}
		if !session.IsTime(t) {
			return m, usagef("bad --time: %.80q: such a time cannot be stored", o.when)
		}
		m.Time = t
	}
	if flags.Changed("parts") {
		if flags.Changed("message") || flags.Changed("file") {
			return m, usagef("--parts stands for a text: -m or -F cannot be given with it")
		}
		parts, err := partsOf(o.parts)
		m.Parts = parts
		return m, err
	}
	text, err := o.readText(a)
	m.Text = string(text)
	return m, err
}

// readText takes the text from where the flags say, and refuses what would not be stored as it was given.
func (o *appendOptions) readText(a *app) ([]byte, error) {
	text := []byte(o.text)
	switch fromFlag, fromFile := o.cmd.Flags().Changed("message"), o.cmd.Flags().Changed("file"); {
	case fromFlag && fromFile:
		return nil, usagef("both -m and -F")
	case !fromFlag:
		if !fromFile {
			o.file = "-"
		}
		var err error
		if text, err = a.readInput(o.file, session.MaxMessage); err != nil {
			return nil, fmt.Errorf("cannot read the message: %w", err)
		}
	}
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return nil, usagef("empty message")
	case len(text) > session.MaxMessage:
		return nil, usagef("message of more than %d bytes", session.MaxMessage)
	case bytes.IndexByte(text, 0) >= 0:
		return nil, usagef("message holds a NUL byte at byte %d", bytes.IndexByte(text, 0))
	case !utf8.Valid(text):
		return nil, usagef("message is not UTF-8")
	}
	return text, nil
}

// partsOf checks parts, and takes out white space between tokens: what is printed again is then the same, byte for byte.
func partsOf(text string) (json.RawMessage, error) {
	value := bytes.TrimSpace([]byte(text))
	if !utf8.Valid(value) || !json.Valid(value) || value[0] != '[' {
		return nil, usagef("--parts is not a JSON array: %.80q", text)
	}
	return readParts(value)
}

// graduatedAtOnce is how many messages a bulk append moves on into clusters before it ends, a second's work. More are left to a command of
// their own: whoever pours in a million messages is not kept waiting for it.
const graduatedAtOnce = 16384

// runBulk appends a message a line.
func (o *appendOptions) runBulk(c context.Context, a *app, file string) error {
	for _, name := range []string{"role", "message", "file", "parts", "author", "time", "source", "invocation", "expect", "note"} {
		if o.cmd.Flags().Changed(name) {
			return usagef("--%s is for one message; with --jsonl each line says it", name)
		}
	}
	s, name, _, err := o.open(a)
	if err != nil {
		return err
	}
	parent, err := o.parent()
	if err != nil {
		return err
	}
	in, closeInput, err := a.input(file)
	if err != nil {
		return err
	}
	defer closeInput()
	b := &bulk{
		store: s, session: name, branch: o.branch, a: a, report: bulkReport{a: a},
		options: session.AppendOptions{Orphan: o.orphan, NoGraduation: true, Parent: parent},
	}
	err = b.run(c, in)
	b.report.tell()
	if err != nil {
		return err
	}
	switch n := b.report.added; {
	case n > graduatedAtOnce:
		a.say("ctx: append: what is older than the window waits to graduate: `ctx graduate` or `ctx compact` does it")
	case n > 0:
		if _, err := s.GraduateAndLeave(c, name, o.branch); err != nil {
			return err
		}
	}
	if n := b.report.skipped; n > 0 {
		return fmt.Errorf("%d of %d lines were not appended", n, b.report.lines)
	}
	return nil
}
