package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

func newAvailCheckCmd(a *app) *cobra.Command {
	return namesOnly(a.newCmd("check [NAME...]", a.onStore(a.checkSummarizers)))
}

type checkDoc struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Kind    string `json:"kind,omitempty"` // of the failure
	Why     string `json:"why,omitempty"`
	Version string `json:"version,omitempty"`
	Tokens  int    `json:"tokens"` // of the summary
	Text    string `json:"text,omitempty"`
}

func (a *app) checkSummarizers(s *session.Store, names []string) error {
	if len(names) == 0 {
		names = s.Config.Summarize.Chain
	}
	bad := false
	for _, name := range names {
		d, err := checkOne(a, s, name)
		if err != nil {
			return err
		}
		bad = bad || !d.OK
		if a.json {
			err = a.answer(d)
		} else {
			printCheck(a, d)
		}
		if err != nil {
			return err
		}
	}
	return exitIf(bad, exitFailed)
}

func checkOne(a *app, s *session.Store, name string) (checkDoc, error) {
	set, ok := s.Config.Summarizers[name]
	if name != summarizer.Extractive && (!ok || len(set.Command) == 0) {
		return checkDoc{},
			withHint(usagef("no such summarizer: %q", name),
				"see `ctx help environment` for your config file, and docs/summarizers.md "+
					"for its content")
	}
	told, err := summarizer.Check(a.c,
		summarizer.Config{Health: a.health(s), Now: a.now, Beside: environ.Beside()},
		summarizer.Member{Name: name, Command: set.Command, Timeout: set.Timeout}, sample())
	if a.c.Err() != nil {
		return checkDoc{}, a.c.Err()
	}
	d := checkDoc{Name: name, OK: err == nil}
	var f *summarizer.Failure
	if errors.As(err, &f) {
		d.Kind, d.Why = string(f.Kind), f.Why
		return d, nil
	}
	if err != nil {
		return d, err
	}
	d.Version, d.Text, d.Tokens = told.Version, told.Text, summarize.Tokens(told.Text)
	return d, nil
}

func printCheck(a *app, d checkDoc) {
	if !d.OK {
		a.line("%s: no: %s: %s", d.Name, d.Kind, oneLine(d.Why))
		return
	}
	a.line("%s: ok: %s, %s", d.Name, oneLine(d.Version), plural(d.Tokens, "token", "tokens"))
	if !a.quiet {
		for line := range strings.Lines(d.Text) {
			a.line("  %s", oneLine(strings.TrimRight(line, "\n")))
		}
	}
}

// sample is the request of a check: enough text for a shorter summary, with one fact that changes.
func sample() summarize.Request {
	said := []summarize.Input{
		{Role: "user",
			Text: "Let us set up the database for the shop. I would like PostgreSQL 16.2 on port " +
				"5432, the schema called shop_core, and please no extensions besides pgcrypto, " +
				"because the hosting company allows nothing else."},
		{Role: "model",
			Text: "Port 5432 is taken by the old server, so the first start failed: could not " +
				"bind IPv4 address \"127.0.0.1\": Address already in use. I would suggest 5433. " +
				"Shall I write that into deploy/database.yaml?"},
		{Role: "user",
			Text: "Yes, take port 5433 then, and keep it there also after the old server is " +
				"gone, so that nobody has to change connection strings twice."},
		{Role: "model",
			Text: "Done: deploy/database.yaml has port 5433 and schema shop_core now, and " +
				"scripts/migrate.sh --schema shop_core ran through with exit code 0. The old " +
				"server is still running and nothing was changed there."},
	}
	for i := range said {
		said[i].ID = format.ID{byte(i + 1)}
	}
	return summarize.Request{Claim: format.ID{0xc4, 0xec, 0x4},
		Inputs: slices.Clone(said), Tokens: 150}
}
