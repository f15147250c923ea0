package main

import (
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// summarizers returns the configured chain, or nil if that is only the extractive summarizer. run
// ends its helper processes.
func (a *app) summarizers(s *session.Store) (*summarizer.Chain, error) {
	chain, err := command.Chain(a.c, s, a.health(s), a.now, a.warn)
	if chain != nil {
		a.opened = append(a.opened, chain)
	}
	return chain, err
}

// summarizer returns the chain as an interface: nil means the extractive summarizer.
func (a *app) summarizer(s *session.Store) (summarize.Summarizer, error) {
	chain, err := a.summarizers(s)
	if chain == nil {
		return nil, err
	}
	return chain, err
}

// health returns the file that has the availability of summarizers.
func (a *app) health(s *session.Store) *summarizer.HealthFile {
	return &summarizer.HealthFile{Path: summarizer.HealthPath(s.Dir), FS: a.fs}
}
