package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/history"
)

// upTo is the transcript as it was when the file had so many bytes.
func (t Transcript) upTo(end int) Transcript {
	t.Data = t.Data[:end]
	return t
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
	agent, ok := catalog.Named(t.Agent)
	if !ok {
		return "", fmt.Errorf("no agent %q", t.Agent)
	}
	read := func(emit func(transcript.Step) error) (transcript.Stats, error) {
		return agent.Read("", bytes.NewReader(t.Data), emit)
	}
	done, err := s.Exchange.ImportTranscript(ctx, read, "")
	if err != nil {
		return "", err
	}
	if _, err := s.Exchange.LinkChildren(ctx, done.Children); err != nil {
		return "", err
	}
	for _, name := range done.Changed {
		if _, err := s.Conversation.Graduate(ctx, name, history.MainBranch); err != nil {
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
	list, err := s.Recall.Sessions(v)
	if err != nil {
		return err
	}
	var all []history.BranchName
	for _, one := range list {
		for _, b := range one.Branches {
			all = append(all, history.BranchName{Session: one.Name, Branch: b.Name})
		}
	}
	_, err = s.Compaction.Compact(ctx, compaction.CompactOptions{Branches: all, Summarizer: s.lab.summarizer})
	return err
}
