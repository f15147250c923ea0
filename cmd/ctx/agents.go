package main

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/agent/claudecode"
	"github.com/gemini-ctx/ctx/agent/codex"
	"github.com/gemini-ctx/ctx/agent/geminicli"
	"github.com/gemini-ctx/ctx/agent/opencode"
	"github.com/gemini-ctx/ctx/agent/plain"
	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/session"
)

// agentForm is a form of transcripts that is read and written.
type agentForm struct {
	name    string // of the form, as commands have it
	source  string // of the agent, as sources have it
	title   string
	example string // of the files that are read
	// read reads a transcript. name is that of its file without its ending, "" where there is none.
	read  func(name string, r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error)
	write func(w io.Writer, o transcript.WriteOptions) session.TranscriptWriter
	// id is a name for a session that the agent takes, made of what makes it what it is.
	id func(of ...string) string
	// isID reports whether the agent would take a name.
	isID func(string) bool
}

// agentForms lists the forms that go both ways through package transcript. Gemini CLI's own is beside them.
func agentForms() []agentForm {
	return []agentForm{
		{
			name: "claude-code", source: claudecode.Agent, title: "Claude Code", example: "~/.claude/projects/*/*.jsonl", read: claudecode.ReadAs,
			write: func(w io.Writer, o transcript.WriteOptions) session.TranscriptWriter {
				return claudecode.NewWriter(w, o)
			},
			id: transcript.UUID, isID: transcript.IsUUID,
		},
		{
			name: "codex", source: codex.Agent, title: "Codex CLI", example: "~/.codex/sessions/*/*/*/rollout-*.jsonl", read: nameless(codex.Read),
			write: func(w io.Writer, o transcript.WriteOptions) session.TranscriptWriter { return codex.NewWriter(w, o) },
			id:    transcript.UUID, isID: transcript.IsUUID,
		},
		{
			name: "opencode", source: opencode.Agent, title: "opencode", example: "session.json", read: nameless(opencode.Read),
			write: func(w io.Writer, o transcript.WriteOptions) session.TranscriptWriter { return opencode.NewWriter(w, o) },
			id:    func(of ...string) string { return "ses_" + transcript.Derive(26, of...) },
			isID:  func(s string) bool { return strings.HasPrefix(s, "ses_") },
		},
		{
			name: "jsonl", source: plain.Agent, title: "any program, as JSON lines", example: "chat.jsonl", read: nameless(plain.Read),
			write: func(w io.Writer, o transcript.WriteOptions) session.TranscriptWriter { return plain.NewWriter(w, o) },
			id:    func(...string) string { return "" }, isID: func(string) bool { return true },
		},
	}
}

// nameless is a reader to which the name of a file says nothing.
func nameless(read func(io.Reader, func(transcript.Step) error) (transcript.Stats, error)) func(string, io.Reader, func(transcript.Step) error) (transcript.Stats, error) {
	return func(_ string, r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
		return read(r, emit)
	}
}

// geminiForm is the form of Gemini CLI, for writing.
func geminiForm(before string) agentForm {
	return agentForm{
		name: "gemini-cli", source: geminicli.Agent, title: "Gemini CLI",
		write: func(w io.Writer, o transcript.WriteOptions) session.TranscriptWriter {
			return geminicli.NewWriter(w, geminicli.WriteOptions{WriteOptions: o, Before: before})
		},
		id: transcript.UUID, isID: func(string) bool { return true }, // it gives what it reads an id of its own
	}
}

// reader opens a file of the form. opencode's may be the file of a session in its storage directory, with the messages in files beside it.
func (f *agentForm) reader(c context.Context, a *app, file string) (read transcript.Read, source *watched, closeIt func(), err error) {
	in, closeIt, err := a.transcriptFile(file)
	if err != nil {
		return nil, nil, nil, err
	}
	source = &watched{c: c, from: in}
	if root, name, ok := storageOf(a.path(file)); ok && f.name == "opencode" && file != "-" {
		storage := regularFiles(root)
		return func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return opencode.ReadStorage(storage, name, emit)
		}, source, closeIt, nil
	}
	own := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	return func(emit func(transcript.Step) error) (transcript.Stats, error) { return f.read(own, source, emit) }, source, closeIt, nil
}

// regularFiles are the directories and regular files of a directory. Nothing else in it is opened.
type regularFiles string

// Open implements fs.FS.
func (dir regularFiles) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	path := filepath.Join(string(dir), filepath.FromSlash(name))
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return os.Open(path)
	}
	return lock.Open(path)
}

// storageOf finds the storage directory that the file of a session is in, and the file's name there.
func storageOf(path string) (root, name string, ok bool) {
	project := filepath.Dir(path)
	if filepath.Base(filepath.Dir(project)) != "session" {
		return "", "", false
	}
	root = filepath.Dir(filepath.Dir(project))
	name = filepath.ToSlash(filepath.Join("session", filepath.Base(project), filepath.Base(path)))
	if info, err := os.Stat(filepath.Join(root, "message")); err != nil || !info.IsDir() {
		return "", "", false
	}
	return root, name, fs.ValidPath(name)
}

// projectDir is the directory that a store is for.
func (a *app) projectDir(s *session.Store) string {
	if up := filepath.Dir(s.Dir); filepath.Base(s.Dir) == "context" && filepath.Base(up) == ".gemini" {
		return filepath.Dir(up)
	}
	return a.dir
}

// writeOptions are those for a branch of a session.
func writeOptions(s *session.Store, name, id, dir string, newest time.Time) transcript.WriteOptions {
	return transcript.WriteOptions{Session: id, Home: s.TranscriptHome(name), Dir: dir, Title: name, Now: newest}
}
