package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/eval/fixture"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/hooks"
)

// Whose prompts a store is asked.
const (
	ofProject = "prompts"
	ofOthers  = "prompts of other sets" // a false alarm, if anything is given
)

// The halves of the sessions, in the order in which they began: thresholds are chosen on the first
// one, and the other says what they are worth.
var halves = [...]string{"tuned on", "held out"}

// heldRecords is how many records after a prompt say what it needed.
const heldRecords = 20

// prompted is a prompt of a transcript, or its end if there is no prompt.
type prompted struct {
	of, half   int // the transcript, and its half
	end        int // of what was said before, in bytes of the file
	time       string
	prompt     string
	said, next []sets.Record // since the prompt before, and from this one on
}

// prompts returns the prompts of transcripts and their ends, in the order of time.
func prompts(list []sets.Transcript) (all []prompted) {
	order := make([]int, len(list))
	records := make([][]sets.Record, len(list))
	began := func(i int) string {
		if len(records[i]) == 0 {
			return ""
		}
		return records[i][0].Time
	}
	for i, t := range list {
		order[i], records[i] = i, t.Records()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(began(a), began(b)) })
	for n, i := range order {
		time, from := "", 0
		for k, r := range records[i] {
			time = max(time, r.Time)
			if r.Prompt && !strings.HasPrefix(r.Said, "<") && !strings.HasPrefix(r.Said, "[") {
				all = append(all, prompted{i, n % len(halves), r.Start, time, r.Said,
					records[i][from:k], records[i][k+1 : min(k+1+heldRecords, len(records[i]))]})
				from = k
			}
		}
		all = append(all, prompted{of: i, end: len(list[i].Data), time: time,
			said: records[i][from:]})
	}
	slices.SortStableFunc(all, func(a, b prompted) int { return cmp.Compare(a.time, b.time) })
	return all
}

// recalled measures what the hook of Claude Code gives at each prompt of a set, with what was said
// before it as the store, and at the prompts of other sets.
func (u *runner) recalled(ctx context.Context, set sets.Set, list []sets.Set) (
	rows []report.Recalled, err error,
) {
	s, err := u.Open("hook.deadline=1h")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, of := range []string{ofProject, ofOthers} {
		for _, half := range halves {
			rows = append(rows, report.Recalled{Of: of, Half: half})
		}
	}
	var before []sets.Record // in all transcripts
	var given [2]struct {    // the newest text, and the newest of another transcript
		of   int
		text string
	}
	for _, p := range prompts(set.Transcripts) {
		session, err := s.TakeIn(ctx, set.Transcripts[p.of].UpTo(p.end))
		if err != nil {
			return nil, fmt.Errorf("transcript %q: %w", set.Transcripts[p.of].Name, err)
		}
		if before = append(before, p.said...); p.prompt == "" {
			continue
		}
		session = cmp.Or(session, fmt.Sprintf("new-%d", p.of)) // nothing was said before
		text, err := toldAt(ctx, s, session, p.prompt)
		if err != nil {
			return nil, err
		}
		row := &rows[p.half]
		row.Add(summarize.Tokens(text))
		if text == "" {
			continue
		}
		ref := referenceOf(before, p.next).beyond(p.prompt)
		row.Held += stats.One(ref.touches(text))
		if given[0].of != p.of {
			given[1] = given[0]
		}
		given[0].of, given[0].text = p.of, text
		row.Chance += stats.One(ref.touches(given[1].text))
	}
	for i := range list {
		if list[i].Name == set.Name {
			continue
		}
		for n, p := range prompts(list[i].Transcripts) {
			if p.prompt == "" {
				continue
			}
			text, err := toldAt(ctx, s, fmt.Sprintf("other-%d-%d", i, n), p.prompt)
			if err != nil {
				return nil, err
			}
			rows[len(halves)+p.half].Add(summarize.Tokens(text))
		}
	}
	return rows, nil
}

// toldAt returns what the hook of Claude Code tells a session at a prompt.
func toldAt(ctx context.Context, s *fixture.Store, session, prompt string) (string, error) {
	agent, _ := hooks.AgentNamed(claudecode.Agent)
	call, err := json.Marshal(map[string]string{"hook_event_name": agent.Answers(),
		"session_id": session, "prompt": prompt})
	if err != nil {
		return "", err
	}
	out := hooks.Run(ctx, s.Store, &agent, hooks.Hear(&agent, strings.NewReader(string(call))))
	if out == nil {
		return "", nil
	}
	var printed struct {
		Specific struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	err = json.Unmarshal(out, &printed)
	return printed.Specific.Context, err
}
