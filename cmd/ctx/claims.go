package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/claims"
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
	return claims.CheckSummary(answer.Claim)
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

// readAnswer reads one answer, and validates it with check.
func readAnswer(line []byte, check func(*summaries.Answer) error) (summaries.Answer, error) {
	out := summaries.Answer{Response: summarize.Response{Summarizer: unnamedWorker,
		Version: unnamedVersion}}
	members, err := jsonvalue.Members(line)
	if err != nil {
		return out, err
	}
	seen := map[string]bool{}
	for _, m := range members {
		if seen[m.Name] {
			return out, fmt.Errorf("%.40q twice", m.Name)
		}
		seen[m.Name] = true
		if err := readAnswerField(&out, m.Name, m.Value); err != nil {
			return out, err
		}
	}
	switch {
	case !seen["claim"]:
		return out, errors.New(`no "claim"`)
	case seen["text"] && seen["texts"]:
		return out, errors.New(`"text" and "texts"`)
	case !seen["text"] && !seen["texts"]:
		return out, errors.New(`no "text"`)
	}
	return out, check(&out)
}

func readAnswerField(out *summaries.Answer, key string, value []byte) (err error) {
	switch key {
	case "v":
		if string(value) != "1" {
			err = fmt.Errorf("version %.20s, 1 is known here", value)
		}
	case "claim":
		out.Claim, err = jsonl.String(value)
	case "text":
		out.Text, err = readText(value)
	case "texts":
		out.Texts, err = readTexts(value)
	case "summarizer":
		out.Summarizer, err = jsonl.String(value)
	case "version":
		out.Version, err = jsonl.String(value)
	case "prompt":
		out.Prompt, err = readPrompt(value)
	default:
		return fmt.Errorf("unknown key %.40q", key)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func readText(value []byte) (string, error) {
	text, err := jsonl.String(value)
	if err == nil && jsonl.Broken(text, value) > 0 {
		err = errors.New("not Unicode")
	}
	return text, err
}

// readTexts reads several texts, each with what it replaces.
func readTexts(value []byte) (list []summaries.PartialText, err error) {
	var texts []json.RawMessage
	if err := json.Unmarshal(value, &texts); err != nil || len(texts) == 0 {
		return nil, errors.New("no array of texts")
	}
	for _, one := range texts {
		var p summaries.PartialText
		members, err := jsonvalue.Members(one)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			switch m.Name {
			case "text":
				p.Text, err = readText(m.Value)
			case "replaces":
				p.Replaces, err = readTargets(m.Value)
			default:
				err = fmt.Errorf("unknown key %.40q", m.Name)
			}
			if err != nil {
				return nil, err
			}
		}
		list = append(list, p)
	}
	return list, nil
}

// readTargets reads ids of entries and parts, as claims have them.
func readTargets(value []byte) (list []format.Target, err error) {
	var names []string
	if err := json.Unmarshal(value, &names); err != nil {
		return nil, errors.New("replaces: no array of ids")
	}
	for _, name := range names {
		t, err := claims.ParseTarget(name)
		if err != nil {
			return nil, fmt.Errorf("replaces: %w", err)
		}
		list = append(list, t)
	}
	return list, nil
}

// readPrompt reads the digest of a prompt. null and "" mean that there is none.
func readPrompt(value []byte) (format.ID, error) {
	if string(value) == "null" {
		return format.ID{}, nil
	}
	s, err := jsonl.String(value)
	if err != nil || s == "" {
		return format.ID{}, err
	}
	return format.ParseID(s)
}
