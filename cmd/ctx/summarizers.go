package main

import (
	"context"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/machine"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/summarizer"
)

// summarizers returns the chain that the user has configured, or nil where that is the extractive summariser alone; run ends its helpers.
func (a *app) summarizers(ctx context.Context, s *session.Store) (*summarizer.Chain, error) {
	set := s.Config.Summarizers
	c := summarizer.Config{Context: ctx, Health: a.health(s), Now: a.now, Beside: machine.Beside(), Warn: a.warn}
	for _, name := range s.Config.Summarize.Chain {
		c.Members = append(c.Members, summarizer.Member{Name: name, Command: set[name].Command, Timeout: set[name].Timeout})
	}
	chain, err := summarizer.New(c)
	if chain != nil {
		a.opened = append(a.opened, chain)
	}
	return chain, err
}

// summarizer is summarizers for who asks: nil, the extractive summariser, where nothing else is configured.
func (a *app) summarizer(ctx context.Context, s *session.Store) (summarize.Summarizer, error) {
	chain, err := a.summarizers(ctx, s)
	if chain == nil {
		return nil, err
	}
	return chain, err
}

// health is where a store keeps who can be asked.
func (a *app) health(s *session.Store) *summarizer.HealthFile {
	return &summarizer.HealthFile{Path: summarizer.HealthPath(s.Dir), FS: a.fs}
}
