package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/session"
)

// transcript returns a reader of the file of an agent, which source reads.
func (a *app) transcript(agent *catalog.Agent, file string, source *watched) transcript.Read {
	if agent.ReadFile != nil && file != "-" {
		if read := agent.ReadFile(a.path(file)); read != nil {
			return read
		}
	}
	own := agent.NameOf(a.path(file))
	if file == "-" {
		own = file
	}
	return func(emit func(transcript.Step) error) (transcript.Stats, error) {
		return agent.Read(own, source, emit)
	}
}

// projectDir returns the project directory of a store.
func (a *app) projectDir(s *session.Store) string {
	if up := filepath.Dir(s.Dir); filepath.Base(s.Dir) == "context" &&
		filepath.Base(up) == ".gemini" {
		return filepath.Dir(up)
	}
	return a.dir
}

// writeOptions returns the options for the transcript of a session.
func writeOptions(
	s *session.Store, name, id, dir string, newest time.Time,
) transcript.WriteOptions {
	return transcript.WriteOptions{Session: id, Home: s.Exchange.TranscriptHome(name), Dir: dir,
		Title: name, Now: newest, Keeps: catalog.Keeps}
}

func (a *app) agentEnv() catalog.Env { return catalog.Env{Get: a.getenv, Home: a.home} }

// found is a transcript of the project.
type found struct {
	agent, file string
	listed      *catalog.Listed // of one in a database; nil for a file
}

// findTranscripts lists the transcripts of a project, agent by agent. notes are remarks for a
// person, and looked names the directories that were searched.
func (a *app) findTranscripts(p catalog.Project) (list []found, notes []string, looked string) {
	var dirs []string
	for _, agent := range catalog.All() {
		if agent.Discover == nil {
			continue
		}
		root := agent.Root(a.agentEnv())
		if root == "" {
			continue
		}
		dirs = append(dirs, fmt.Sprintf("%q", root))
		files, more := agent.Discover(root, p)
		notes = append(notes, more...)
		for _, file := range files {
			list = append(list, found{agent: agent.Name, file: file})
		}
	}
	if len(dirs) == 0 {
		return list, notes, "no directory: there is no home directory"
	}
	return list, notes, strings.Join(dirs, ", ")
}
