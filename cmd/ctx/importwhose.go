package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/session"
)

// importWhosever imports transcripts of any agents, into one session if that is not "". A file of
// nobody does not stop the others.
func importWhosever(a *app, files []string, into string) error {
	q := a.asker()
	files, listed, of, err := a.withoutDatabases(q, files, nil)
	if err != nil {
		return err
	}
	failed := map[string]error{}
	exported := map[string]func(*session.Store, string) (importedFile, error){}
	for _, file := range files {
		if of[file] == nil {
			name, err := a.whose(file)
			if exported[file] = a.importExport(name, into); exported[file] != nil {
				continue
			}
			if of[file], failed[file] = nil, err; err == nil {
				of[file], failed[file] = a.agentOf(file, name)
			}
		}
	}
	agent := func(file string) *catalog.Agent { return of[file] }
	inOrderOfForks(files, agent, a.path)
	known := slices.DeleteFunc(slices.Clone(files),
		func(file string) bool { return of[file] == nil })
	l := &linker{ahead: readAhead{files: known, named: into, listed: listed, asker: q,
		agent: agent}}
	next := l.importNext(a)
	return importFiles(a, files,
		func(s *session.Store, file string, then func(importedFile, error) error) error {
			if one := exported[file]; one != nil {
				return then(one(s, file))
			}
			if of[file] == nil {
				return then(importedFile{file: file}, failed[file])
			}
			return next(s, file, then)
		}, l)
}

// importExport returns what imports a file that no agent writes, of the form with a name; nil for
// the transcript of an agent.
func (a *app) importExport(name, into string) func(*session.Store, string) (importedFile, error) {
	switch {
	case name == catalog.PageForm && into == "":
		return func(s *session.Store, file string) (importedFile, error) {
			return importPage(a, s, file)
		}
	case name == adkEvents:
		return func(s *session.Store, file string) (importedFile, error) {
			return importADK(a, s, into, adk.Detect, file)
		}
	}
	return nil
}

// agentOf returns the agent of a transcript, by its form; nil for a file without a byte, which it
// says.
func (a *app) agentOf(file, name string) (*catalog.Agent, error) {
	f, ok := catalog.Named(name)
	s, strange := catalog.StrangerOf(a.path(file))
	switch {
	case ok:
		return &f, nil
	case name == catalog.PageForm:
		return nil, &fileError{usagef("%q is a page, which has a session: give no --session", file)}
	case a.isEmpty(file):
		a.say("ctx: import: %q: nothing was said in it", file)
		return nil, nil
	case strange:
		return nil, &fileError{withHint(
			usagef("%q is of %s, whose sessions ctx cannot read yet", file, s.Title),
			"`ctx import --help` lists the agents that it reads")}
	}
	if err := a.other(file); err != nil {
		return nil, err
	}
	if jq := a.spread(file); jq != "" {
		return nil, &fileError{withHint(
			usagef("cannot tell whose transcript %q is: its records are not a line each", file),
			"`%s %s` writes it so", jq, oneLine(file))}
	}
	return nil, &fileError{withHint(usagef("cannot tell whose transcript %q is", file),
		"`ctx import NAME %s` says it; `ctx import --help` lists the names", oneLine(file))}
}

// whose returns the form of a transcript; "" if no agent that is known writes such a file.
func (a *app) whose(file string) (string, error) {
	in, closeIt, err := a.openImport(file)
	if err != nil {
		return "", err
	}
	defer closeIt()
	return catalog.Whose(in), nil
}

// ofAnother returns an error if the records of a transcript say that it is of another agent than
// the one that was named: read as the wrong one, its messages would have no words.
func (a *app) ofAnother(f *catalog.Agent, file string) error {
	whose, err := a.whose(file)
	if err != nil || whose == f.Name || !catalog.Marked(whose) || !catalog.Marked(f.Name) {
		return nil // whoever reads it says what is wrong
	}
	return &fileError{withHint(
		fmt.Errorf("nothing of %q is stored: it has no message of %s", file, f.Title),
		"`ctx import %s %s` reads it", whose, oneLine(file))}
}

// notOf returns an error if a transcript of which nothing was stored is not the agent's.
func (a *app) notOf(f *catalog.Agent, file string, stats *transcript.Stats) error {
	nothing := len(stats.Kept) == 0 && len(stats.Skipped) == 0
	if file == "-" && (nothing || stats.Records == 0) || nothing && a.isEmpty(file) {
		return nil
	}
	whose := ""
	if file != "-" && (f.ReadFile == nil || f.ReadFile(a.path(file)) == nil) {
		var err error
		whose, err = a.whose(file)
		if err != nil || whose == f.Name || whose == f.Page && whose != "" { // of one form
			return err
		}
	}
	if err := a.other(file); err != nil && file != "-" {
		return err
	}
	failed := fmt.Errorf("nothing of %q is stored: it has no message of %s", file, f.Title)
	if stats.Skipped[transcript.SkipTornTail] > 0 {
		failed = fmt.Errorf("%w, or was cut off before the first one ends", failed)
	}
	isLines := strings.HasSuffix(f.Example, ".jsonl")
	if stats.Skipped[transcript.SkipBadJSON] > 0 && whose == "" &&
		strings.HasSuffix(f.Example, ".json") {
		failed = fmt.Errorf("%w: it is no whole JSON document", failed)
	}
	if jq := a.spread(file); jq != "" && whose == "" && isLines {
		failed = withHint(fmt.Errorf("%w: its records are not a line each", failed),
			"`%s %s` writes it so", jq, oneLine(file))
	}
	if whose != "" {
		failed = withHint(failed, "`ctx import %s %s` reads it", whose, oneLine(file))
	}
	return &fileError{failed}
}

// other returns an error for a file that is known to be no transcript.
func (a *app) other(file string) error {
	in, closeIt, err := a.openImport(file)
	if err != nil {
		return nil //nolint:nilerr // who reads it says so
	}
	defer closeIt()
	if what, instead := catalog.Other(in); what != "" {
		return &fileError{withHint(usagef("%q is %s, no transcript", file, what), "%s", instead)}
	}
	return nil
}

// spread returns the command that writes the records of a file one a line, if somebody has made a
// list of them, or broken them into lines; "" for any other file.
func (a *app) spread(file string) string {
	in, closeIt, err := a.openImport(file)
	if err != nil {
		return "" // who reads it says so
	}
	defer closeIt()
	head, _ := bufio.NewReader(in).Peek(mostHead)
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	switch trimmed := bytes.TrimSpace(line); {
	case bytes.HasPrefix(trimmed, []byte("[")):
		return "jq -c '.[]'"
	case string(trimmed) == "{":
		return "jq -c ."
	}
	return ""
}

// mostHead is how many bytes of a file are looked at for its form.
const mostHead = 4096

// isEmpty reports whether a file has no byte.
func (a *app) isEmpty(file string) bool {
	info, err := os.Stat(a.path(file))
	return err == nil && info.Size() == 0
}
