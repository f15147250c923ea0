package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

type claimDoc struct {
	V          int             `json:"v"`
	Claim      string          `json:"claim"`
	Cluster    uint64          `json:"cluster"`
	Tokens     int             `json:"tokens"`
	Generation uint64          `json:"generation"`
	Inputs     []claimInputDoc `json:"inputs"`
}

type claimInputDoc struct {
	Kind   string `json:"kind"` // entry or summary
	ID     string `json:"id"`
	Role   string `json:"role,omitempty"`
	Author string `json:"author,omitempty"`
	Time   string `json:"time,omitempty"`
	Text   string `json:"text"`
}

// printClaims prints what wants a summary, a claim a line.
func printClaims(c context.Context, a *app, s *session.Store, view *refs.View, limit int) error {
	return s.Claims(c, view, limit, func(claim session.Claim) error {
		if !a.json {
			a.line("%s  cluster %d, %s, at most %s", claim.ID, claim.Cluster, plural(len(claim.Inputs), "input", "inputs"), plural(claim.Tokens, "token", "tokens"))
			return nil
		}
		d := claimDoc{1, claim.ID, claim.Cluster, claim.Tokens, claim.Generation, []claimInputDoc{}}
		for _, in := range claim.Inputs {
			if in.Summary {
				d.Inputs = append(d.Inputs, claimInputDoc{Kind: "summary", ID: in.ID.String(), Text: in.Text})
				continue
			}
			d.Inputs = append(d.Inputs, claimInputDoc{"entry", in.ID.String(), in.Role, in.Author, timeText(in.Time), in.Text})
		}
		return a.printJSON(d)
	})
}

// runCommit takes answers. All of them are read before the first is looked at.
func (o *compactOptions) runCommit(c context.Context, a *app) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	in, done, err := a.input(o.commit)
	if err != nil {
		return err
	}
	defer done()
	answers, err := readAnswers(in)
	if err != nil {
		return err
	}
	d, err := s.Commit(c, answers)
	tellReasons(a, d)
	if err != nil {
		return err
	}
	defer a.tidy(c, s)
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

// maxAnswers bounds the input of a commit, in bytes: it is held in memory until it has all been read.
const maxAnswers = 256 << 20

// readAnswers reads an answer a line. What is wrong with a line is told with its number, and then there are no answers at all: whoever wrote it
// may have meant something else with the others, too.
func readAnswers(in io.Reader) ([]session.Answer, error) {
	lines := newLineReader(in)
	var list []session.Answer
	size := 0
	for number := 1; ; number++ {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		var answer session.Answer
		if err == nil && len(strings.TrimSpace(string(line))) == 0 {
			continue
		}
		if err == nil {
			answer, err = readAnswer(line)
		} else if !errors.Is(err, errLongLine) {
			return nil, err
		}
		if size += len(line); err == nil && size > maxAnswers {
			err = fmt.Errorf("more than %d MiB of answers", maxAnswers>>20)
		}
		if err != nil {
			return nil, withHint(usagef("line %d: %v", number, err), "nothing was taken: `ctx help compact` shows what an answer is")
		}
		list = append(list, answer)
	}
}

// A worker that does not say who it is goes by these.
const (
	unnamedWorker  = "external"
	unnamedVersion = "0"
)

func readAnswer(line []byte) (session.Answer, error) { return readAnswerTo(line, session.CheckClaim) }

// readAnswerTo reads an answer to a claim whose name check knows.
func readAnswerTo(line []byte, check func(claim string) error) (session.Answer, error) {
	out := session.Answer{Told: summarize.Told{Summarizer: unnamedWorker, Version: unnamedVersion}}
	seen := map[string]bool{}
	err := eachMember(line, func(key, value []byte) error {
		k := string(key)
		if seen[k] {
			return fmt.Errorf("%.40q twice", k)
		}
		seen[k] = true
		var err error
		switch k {
		case "v":
			if string(value) != "1" {
				err = fmt.Errorf("version %.20s, 1 is known here", value)
			}
		case "claim":
			out.Claim, err = readString(value)
		case "text":
			out.Text, err = readString(value)
			if err == nil && brokenIn(out.Text, value) > 0 {
				err = errors.New("not Unicode")
			}
		case "summarizer":
			out.Summarizer, err = readString(value)
		case "version":
			out.Version, err = readString(value)
		case "prompt":
			out.Prompt, err = readPrompt(value)
		default:
			return fmt.Errorf("unknown key %.40q", k)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	for _, k := range []string{"claim", "text"} {
		if !seen[k] {
			return out, fmt.Errorf("no %q", k)
		}
	}
	return out, check(out.Claim)
}

// readPrompt reads the digest of a prompt; null and "" stand for none.
func readPrompt(value []byte) (format.ID, error) {
	if string(value) == "null" {
		return format.ID{}, nil
	}
	s, err := readString(value)
	if err != nil || s == "" {
		return format.ID{}, err
	}
	return format.ParseID(s)
}
