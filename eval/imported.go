package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/agent/claudecode"
	"github.com/gemini-ctx/ctx/agent/codex"
	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/session"
)

// upTo is the transcript as it was when the file had so many bytes.
func (t Transcript) upTo(end int) Transcript {
	t.Data = t.Data[:end]
	return t
}

// read gives the steps of the transcript, as the importer takes them.
func (t Transcript) read(emit func(transcript.Step) error) (transcript.Stats, error) {
	if t.Agent == codex.Agent {
		return codex.Read(bytes.NewReader(t.Data), emit)
	}
	return claudecode.Read(bytes.NewReader(t.Data), emit)
}

// imported imports a transcript into a new store, and returns the session that it became.
func (l *lab) imported(ctx context.Context, t Transcript) (*stand, string, error) {
	s, err := l.open()
	if err != nil {
		return nil, "", err
	}
	name, err := s.takeIn(ctx, t)
	if err != nil {
		return nil, "", errors.Join(err, s.close())
	}
	return s, name, nil
}

// takeIn imports a transcript as `ctx import` does.
func (s *stand) takeIn(ctx context.Context, t Transcript) (string, error) {
	if t.Agent != claudecode.Agent && t.Agent != codex.Agent {
		return "", fmt.Errorf("no agent that is known: %q", t.Agent)
	}
	done, err := s.ImportTranscript(ctx, t.read, "")
	if err != nil {
		return "", err
	}
	if _, err := s.LinkChildren(ctx, done.Children); err != nil {
		return "", err
	}
	for _, name := range done.Changed {
		if _, err := s.Graduate(ctx, name, session.MainBranch); err != nil {
			return "", err
		}
	}
	return done.Session, nil
}

// compactAll does what `ctx compact --all` does.
func (s *stand) compactAll(ctx context.Context) error {
	v, err := s.view()
	if err != nil {
		return err
	}
	list, err := s.Sessions(v)
	if err != nil {
		return err
	}
	var all []session.BranchName
	for _, one := range list {
		for _, b := range one.Branches {
			all = append(all, session.BranchName{Session: one.Name, Branch: b.Name})
		}
	}
	_, err = s.Compact(ctx, session.CompactOptions{Branches: all, Summarizer: s.lab.summarizer})
	return err
}
