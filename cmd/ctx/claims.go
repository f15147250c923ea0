package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/cli/jsonl"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

type claimInputDoc struct {
	Kind   string    `json:"kind"` // entry or summary
	ID     format.ID `json:"id"`
	Role   string    `json:"role,omitempty"`
	Author string    `json:"author,omitempty"`
	Time   string    `json:"time,omitempty"`
	Text   string    `json:"text"`
}

// printClaims prints a claim for each summary that is needed.
func printClaims(a *app, s *session.Store, view *refs.View, limit int) error {
	return s.Compaction.Claims(a.c, view, limit, func(claim compaction.Claim) error {
		if !a.json {
			a.line("%s  cluster %d, %s, at most %s", claim.ID, claim.Cluster,
				plural(len(claim.Inputs), "input", "inputs"),
				plural(claim.Tokens, "token", "tokens"))
			return nil
		}
		var inputs []claimInputDoc
		for _, in := range claim.Inputs {
			if in.Summary {
				inputs = append(inputs, claimInputDoc{Kind: "summary", ID: in.ID, Text: in.Text})
				continue
			}
			inputs = append(inputs,
				claimInputDoc{"entry", in.ID, in.Role, in.Author,
					document.TimeText(in.Time), in.Text})
		}
		return a.answer("claim", claim.ID, "cluster", claim.Cluster, "tokens", claim.Tokens,
			"generation", claim.Generation, "inputs", inputs)
	})
}

// runCommit reads all answers and then commits them.
func (o *compactOptions) runCommit(a *app) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	answers, err := a.readAnswers(o.commit, "compact", checkSummary)
	if err != nil {
		return err
	}
	d, err := s.Compaction.Commit(a.c, answers)
	tellReasons(a, d)
	if err != nil {
		return err
	}
	defer a.tidy(s)
	if err := printCompaction(a, d); err != nil {
		return err
	}
	switch {
	case d.Failed > 0:
		return &exitError{exitFailed}
	case d.Lost > 0:
		return &exitError{exitStale}
	}
	return nil
}

// checkSummary validates an answer for a claim of compact.
func checkSummary(answer *summaries.Answer) error {
	if answer.Texts != nil {
		return errors.New(`unknown key "texts"`)
	}
	return summaries.CheckSummary(answer.Claim)
}

// maxAnswers is the maximum bytes of the input of a commit, which stays in memory.
const maxAnswers = 256 << 20

// readAnswers reads an answer from each line of the file that --commit names. check validates the
// answer. One bad line makes all answers an error, since its author may have meant something
// else with the others, too.
func (a *app) readAnswers(
	file, command string, check func(*summaries.Answer) error,
) (list []summaries.Answer, err error) {
	in, closeInput, err := a.inputText(file)
	if err != nil {
		return nil, err
	}
	defer closeInput()
	size := 0
	err = jsonl.Each(a.c, in, func(line []byte) error {
		answer, err := readAnswer(line, check)
		if size += len(line); err == nil && size > maxAnswers {
			err = fmt.Errorf("more than %d MiB of answers", maxAnswers>>20)
		}
		list = append(list, answer)
		return err
	})
	var bad *jsonl.LineError
	if errors.As(err, &bad) {
		err = withHint(usagef("%v", bad),
			"no answer was accepted: `ctx help %s` shows the form of an answer", command)
	}
	return list, err
}

// A worker that gives no name and version gets these.
const (
	unnamedWorker  = "external"
	unnamedVersion = "0"
)

// answerLine is an answer as a worker writes it.
type answerLine struct {
	V          json.Number   `json:"v"`
	Claim      string        `json:"claim"`
	Text       *string       `json:"text"`
	Texts      []partialLine `json:"texts"`
	Summarizer string        `json:"summarizer"`
	Version    string        `json:"version"`
	Prompt     string        `json:"prompt"` // its digest
}

// partialLine is a text with what it replaces: ids of entries and parts, as claims have them.
type partialLine struct {
	Text     string   `json:"text"`
	Replaces []string `json:"replaces"`
}

// readAnswer reads one answer, and validates it with check.
func readAnswer(
	line []byte, check func(*summaries.Answer) error,
) (out summaries.Answer, err error) {
	in := answerLine{Summarizer: unnamedWorker, Version: unnamedVersion}
	if err := jsonvalue.Exact(line, &in); err != nil {
		return out, err
	}
	switch {
	case in.V != "" && in.V != "1":
		return out, fmt.Errorf("v: version %.20s, 1 is known here", in.V)
	case in.Claim == "":
		return out, errors.New(`no "claim"`)
	case in.Text != nil && in.Texts != nil:
		return out, errors.New(`"text" and "texts"`)
	case in.Text == nil && len(in.Texts) == 0:
		return out, errors.New(`no "text"`)
	}
	out.Claim = in.Claim
	out.Response = summarize.Response{Summarizer: in.Summarizer, Version: in.Version}
	if in.Text != nil {
		out.Text = *in.Text
	}
	if in.Prompt != "" {
		if out.Prompt, err = format.ParseID(in.Prompt); err != nil {
			return out, fmt.Errorf("prompt: %w", err)
		}
	}
	for _, one := range in.Texts {
		p := summaries.PartialText{Text: one.Text}
		for _, name := range one.Replaces {
			t, err := summaries.ParseTarget(name)
			if err != nil {
				return out, fmt.Errorf("replaces: %w", err)
			}
			p.Replaces = append(p.Replaces, t)
		}
		out.Texts = append(out.Texts, p)
	}
	return out, check(&out)
}
