package command

import (
	"context"
	"time"

	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// Chain starts the summarizers that the settings of a store name. It returns nil where the built-in
// summarizer is the only one. The caller closes the chain, which ends the helpers.
func Chain(
	c context.Context, s *session.Store, health *summarizer.HealthFile, now func() time.Time,
	warn func(string),
) (*summarizer.Chain, error) {
	conf := summarizer.Config{
		Context: c, Health: health, Now: now, Beside: environ.Beside(), Warn: warn,
	}
	for _, name := range s.Config.Summarize.Chain {
		helper := s.Config.Summarizers[name]
		conf.Members = append(conf.Members, summarizer.Member{
			Name: name, Command: helper.Command, Timeout: helper.Timeout,
		})
	}
	return summarizer.New(conf)
}
