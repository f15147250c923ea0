package main

import (
	"cmp"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

// transcript returns a reader of the file of an agent, which source reads.
func (a *app) transcript(agent *catalog.Agent, file string, source *watched) transcript.Read {
	if agent.ReadFile != nil && file != "-" {
		if read := agent.ReadFile(a.path(file)); read != nil {
			return read
		}
	}
	path := a.path(file)
	own := agent.NameOf(path)
	if file == "-" {
		own, path = file, ""
	}
	return func(emit func(transcript.Step) error) (transcript.Stats, error) {
		stats, err := agent.Read(own, source, agent.WithBeside(path, emit))
		agent.Placed(path, &stats)
		if source.packed != nil {
			source.packed.CountIn(&stats)
		}
		return stats, err
	}
}

// projectDir returns the project directory of a store.
func (a *app) projectDir(s *session.Store) string {
	return cmp.Or(repo.ProjectOf(s.Dir), a.dir)
}

// writeOptions returns the options for the transcript of a session.
func writeOptions(
	s *session.Store, name, id, dir string, newest time.Time,
) transcript.WriteOptions {
	return transcript.WriteOptions{Session: id, Home: s.Exporter.TranscriptHome(name), Dir: dir,
		Title: name, Now: newest, Keeps: catalog.Keeps}
}

func (a *app) agentEnv() catalog.Env { return catalog.Env{Get: a.getenv, Home: a.home} }

// found is a transcript of the project.
type found struct {
	agent, file string
	listed      *catalog.Listed // of one in a database; nil for a file
}
