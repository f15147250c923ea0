package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/jsonl"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
)

type appendOptions struct {
	branchFlags
	role, author, invocation, source, when string
	text, file, parts, expect, parentCall  string
	note, orphan, jsonl                    bool
}

func newAppendCmd(a *app) *cobra.Command {
	o := &appendOptions{}
	o.whole = true
	cmd := a.newCmd("append -s SESSION (--role ROLE [-m TEXT | -F FILE] | --jsonl [FILE])",
		func(args []string) error {
			if o.jsonl {
				return o.runBulk(a, append(args, "-")[0])
			}
			return o.runOne(a)
		})
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 || len(args) == 1 && !o.jsonl {
			return usagef("unexpected argument %.80q", args[len(args)-1])
		}
		return nil
	}
	o.add(a, cmd)
	f := cmd.Flags()
	f.StringVar(&o.role, "role", "", "the speaker: user, model, tool or system")
	a.completeWords(cmd, "role", searchRoles...)
	f.StringVarP(&o.text, "message", "m", "", "the text of the message")
	f.StringVarP(&o.file, "file", "F", "", "read the text from a file; - is standard input")
	f.StringVar(&o.parts, "parts", "", "a JSON array of message parts instead of a text")
	f.StringVar(&o.author, "author", "", "the name of the speaker")
	f.StringVar(&o.when, "time", "", "the time of the message, RFC 3339 (default: now)")
	f.StringVar(&o.source, "source", "", "the message's own name")
	f.StringVar(&o.invocation, "invocation", "", "the agent's run that the message belongs to")
	f.StringVar(&o.expect, "expect", "", "fail unless this entry is the tip")
	f.StringVar(&o.parentCall, "parent-call", "",
		"link a new session to the tool call that it works for, `SESSION/CALL`")
	f.BoolVar(&o.note, "note", false, "append a note about the conversation instead of a message")
	f.BoolVar(&o.orphan, "orphan", false, "accept the result of a missing tool call")
	f.BoolVar(&o.jsonl, "jsonl", false, "read a message from each line of a file or standard input")
	return cmd
}

// open opens the store and chooses the session. The entry is that of --expect.
func (o *appendOptions) open(a *app) (s *session.Store, name string, expect format.ID, err error) {
	if err := o.check(); err != nil {
		return nil, "", expect, err
	}
	s, err = a.openStore()
	stands := o.session == "" || sessions.IsSign(o.session)
	if err != nil || !stands && o.expect == "" {
		return s, o.session, expect, err
	}
	view, err := s.Refs.Read()
	if err != nil {
		return nil, "", expect, err
	}
	if name = o.session; stands { // a name is whole: the session need not exist
		name, err = s.Recall.Named(view, name)
	}
	if clusters.IsMissing(err) {
		err = withHint(usagef("no session named"), "name a session with -s; it need not exist")
	}
	if err == nil && o.expect != "" {
		expect, err = o.expected(s, view, name)
	}
	return s, name, expect, err
}

func (o *appendOptions) expected(
	s *session.Store, view *refs.View, name string,
) (format.ID, error) {
	return resolve(s, view, clusters.InBranch(o.expect, name, o.branch))
}

// runOne appends one message.
func (o *appendOptions) runOne(a *app) error {
	m, err := o.read(a)
	if err != nil {
		return err
	}
	s, name, expect, err := o.open(a)
	if err != nil {
		return err
	}
	if o.source != "" {
		m.Source = jsonl.Source(name, o.source)
	}
	parent, err := o.parent()
	if err != nil {
		return err
	}
	set := conversation.AppendOptions{Expect: expect, Orphan: o.orphan, Parent: parent}
	done, found, err := s.Conversation.Append(a.c, name, o.branch, []conversation.Message{m}, set)
	if err != nil {
		return err
	}
	a.sayCleaned("append", found)
	return a.result(fields(done[0]), "%v", done[0].ID)
}

// parent returns the parent that --parent-call names, and nil without the flag.
func (o *appendOptions) parent() (*history.Parent, error) {
	if !o.cmd.Flags().Changed("parent-call") {
		return nil, nil
	}
	return readParentCall(o.parentCall)
}

// read returns the message that the flags and the input describe.
func (o *appendOptions) read(a *app) (conversation.Message, error) {
	m := conversation.Message{Note: o.note, Role: o.role, Author: o.author,
		Invocation: o.invocation, Time: a.now()}
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
		if !format.IsTime(t) {
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

// readText reads the text from the source that the flags name. It refuses text that the store would
// change.
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
		if text, err = a.readText(o.file, history.MaxMessage); err != nil {
			return nil, fmt.Errorf("cannot read the message: %w", err)
		}
	}
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return nil, usagef("empty message")
	case len(text) > history.MaxMessage:
		return nil, usagef("message of more than %d bytes", history.MaxMessage)
	case bytes.IndexByte(text, 0) >= 0:
		return nil, usagef("message holds a NUL byte at byte %d", bytes.IndexByte(text, 0))
	case !utf8.Valid(text):
		return nil, usagef("message is not UTF-8")
	}
	return text, nil
}

// partsOf checks an array of parts and removes white space between tokens. `ctx show` then prints
// the same bytes.
func partsOf(text string) (json.RawMessage, error) {
	value := bytes.TrimSpace([]byte(text))
	if !utf8.Valid(value) || !json.Valid(value) || value[0] != '[' {
		return nil, usagef("--parts is not a JSON array: %.80q", text)
	}
	return jsonl.Array(value)
}

// graduatedAtOnce is how many messages a bulk append moves into clusters before it ends, which
// takes about a second. After a larger append, a separate command moves them.
const graduatedAtOnce = 16384

// longLoad is from how many batches on a load has an end of its own.
const longLoad = 4

// endLoad makes the store quick to read after a load of a number of batches. The messages are
// stored without it: a failure is only a warning.
func (a *app) endLoad(s *session.Store, batches int) {
	if batches < longLoad || a.out.Flush() != nil {
		return
	}
	if err := s.Store.EndLoad(a.c); err != nil && a.c.Err() == nil {
		a.warn("the packs of the load are not joined: " + err.Error())
	}
}

// runBulk appends one message for each line of a file.
func (o *appendOptions) runBulk(a *app, file string) error {
	for _, name := range []string{"role", "message", "file", "parts", "author", "time", "source",
		"invocation", "expect", "note"} {
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
	in, closeInput, err := a.inputText(file)
	if err != nil {
		return err
	}
	defer closeInput()
	a.expectMuch()
	index := a.indexes(s)
	b := &jsonl.Append{
		Store: s, Session: name, Branch: o.branch, Now: a.now, Flush: a.out.Flush,
		Print: func(done conversation.Appended, line int) error {
			if a.json {
				return a.answer(done, "line", line)
			}
			a.line("%v", done.ID)
			return a.out.err
		},
		Report: jsonl.Report{Skip: func(line int, why error) {
			fmt.Fprintf(a.stderr, "ctx: append: line %d: skipped: %s\n", line, oneLine(why.Error()))
		}},
		Options: conversation.AppendOptions{Orphan: o.orphan, NoGraduation: true, Parent: parent},
	}
	defer func() { index(b.Report.Added) }()
	err = b.Run(a.c, in)
	for _, text := range b.Report.Text() {
		a.say("ctx: append: %s", text)
	}
	if err != nil {
		return err
	}
	a.endLoad(s, b.Batches)
	switch n := b.Report.Added; {
	case n > graduatedAtOnce:
		a.say(
			"ctx: append: messages older than the window wait to graduate: run `ctx graduate` " +
				"or `ctx compact`")
	case n > 0:
		if _, err := s.Conversation.GraduateAndAdopt(a.c, name, o.branch); err != nil {
			return err
		}
	}
	if n := b.Report.Skipped; n > 0 {
		return fmt.Errorf("%d of %d lines were not appended", n, b.Report.Lines)
	}
	return nil
}
