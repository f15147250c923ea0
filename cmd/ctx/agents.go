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
	// root is where the agent keeps its files, and file where it finds a session there: in a project's directory, changed last at some time.
	root func(*places) string
	file func(root, id, dir, when string) (string, error)
	// command is what goes on with a session; nil where nothing does.
	command func(id, file string) []string
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
			root: func(p *places) string { return p.claude }, file: claudeFile,
			command: func(id, _ string) []string { return []string{"claude", "--resume", id} },
		},
		{
			name: "codex", source: codex.Agent, title: "Codex CLI", example: "~/.codex/sessions/*/*/*/rollout-*.jsonl", read: nameless(codex.Read),
			write: func(w io.Writer, o transcript.WriteOptions) session.TranscriptWriter { return codex.NewWriter(w, o) },
			id:    transcript.UUID, isID: transcript.IsUUID,
			root: func(p *places) string { return p.codex }, file: codexFile,
			command: func(id, _ string) []string { return []string{"codex", "resume", id} },
		},
		{
			name: "opencode", source: opencode.Agent, title: "opencode", example: "session.json", read: nameless(opencode.Read),
			write:   func(w io.Writer, o transcript.WriteOptions) session.TranscriptWriter { return opencode.NewWriter(w, o) },
			id:      func(of ...string) string { return "ses_" + transcript.Derive(26, of...) },
			isID:    func(s string) bool { return strings.HasPrefix(s, "ses_") },
			root:    func(p *places) string { return p.open },
			file:    func(root, id, _, _ string) (string, error) { return filepath.Join(root, "ctx", id+".json"), nil },
			command: func(_, file string) []string { return []string{"opencode", "import", file} },
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
		root:    func(p *places) string { return p.gemini },
		file:    func(root, id, _, _ string) (string, error) { return filepath.Join(root, "ctx", id+".jsonl"), nil },
		command: func(_, file string) []string { return []string{"gemini", "--session-file", file} },
	}
}

// reader opens a file of the form. opencode's may be the file of a session in its storage directory, with the messages in files beside it.
func (f *agentForm) reader(c context.Context, a *app, file string) (read transcript.Read, source *watched, closeIt func(), err error) {
	in, closeIt, err := a.input(file)
	if err != nil {
		return nil, nil, nil, err
	}
	source = &watched{c: c, from: in}
	if root, name, ok := storageOf(a.path(file)); ok && f.name == "opencode" && file != "-" {
		storage := lock.InputFS(root, lock.MaxInput)
		return func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return opencode.ReadStorage(storage, name, emit)
		}, source, closeIt, nil
	}
	own := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	return func(emit func(transcript.Step) error) (transcript.Stats, error) { return f.read(own, source, emit) }, source, closeIt, nil
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
