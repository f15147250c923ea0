package transcripts

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// script is an agent session as it was written down by hand: what was said and done, without the
// parts of a transcript that are made by machine.
type script struct {
	agent   string // claude-code or codex
	id      string // of the session
	dir     string // of the project
	branch  string
	start   time.Time
	steps   []step
	replace map[string][]string // by path, the lines that edits take for granted
}

// step is one thing that happened.
type step struct {
	kind string // one of stepKinds
	arg  string // a path, a command, a description
	body string // words, output, or lines of an edit
}

// The kinds of steps. A call and its result are one step.
const (
	stepUser   = "user"   // a prompt
	stepQueue  = "queue"  // a prompt that was typed while the agent worked
	stepSay    = "say"    // words of the model
	stepThink  = "think"  // thoughts of the model
	stepRead   = "read"   // arg: PATH, or PATH FROM COUNT; the body is generated
	stepSearch = "search" // arg: PATTERN in PATH; body: matches
	stepRun    = "run"    // arg: a command; body: what it printed
	stepFail   = "fail"   // a command that fails, with the exit code 1
	stepEdit   = "edit"   // arg: PATH; body: lines with - and +
	stepWrite  = "write"  // arg: PATH; body: the file
	stepPlan   = "plan"   // body: lines with [x], [>] and [ ]
	// a subagent. arg: description; body: prompt, a line of three dashes, answer
	stepHelper  = "helper"
	stepSummary = "summary" // the client compacts; body: its summary
)

func stepKinds() []string {
	return []string{
		stepUser, stepQueue, stepSay, stepThink, stepRead, stepSearch, stepRun, stepFail, stepEdit,
		stepWrite, stepPlan, stepHelper, stepSummary,
	}
}

// parse reads a script: lines "name: value", an empty line, and steps. A step begins with a line
// "@KIND ARG", and what follows up to the next is its body.
func parse(text string) (*script, error) {
	head, rest, _ := strings.Cut(text, "\n\n")
	s := &script{replace: map[string][]string{}}
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if err := s.set(name, value); err != nil {
			return nil, err
		}
	}
	for line := range strings.Lines(rest) {
		if at, ok := strings.CutPrefix(line, "@"); ok {
			kind, arg, _ := strings.Cut(strings.TrimSpace(at), " ")
			if !slices.Contains(stepKinds(), kind) {
				return nil, fmt.Errorf("unknown step: %q", kind)
			}
			s.steps = append(s.steps, step{kind: kind, arg: arg})
			continue
		}
		if len(s.steps) == 0 {
			return nil, fmt.Errorf("no step: %q", line)
		}
		s.steps[len(s.steps)-1].body += line
	}
	s.expect()
	return s, nil
}

func (s *script) set(name, value string) (err error) {
	switch name {
	case "agent":
		s.agent = value
	case "id":
		s.id = value
	case "dir":
		s.dir = value
	case "branch":
		s.branch = value
	case "start":
		s.start, err = time.Parse(time.RFC3339, value)
	default:
		err = fmt.Errorf("unknown name: %q", name)
	}
	return err
}

// expect trims the bodies, and notes which lines edits replace that no step before them wrote.
func (s *script) expect() {
	written := map[string]string{}
	for i := range s.steps {
		st := &s.steps[i]
		st.body = strings.Trim(st.body, "\n")
		switch st.kind {
		case stepWrite:
			written[st.arg] = st.body
		case stepEdit:
			before, after := hunk(st.body)
			for _, line := range before {
				if !strings.Contains(written[st.arg], line) {
					s.replace[st.arg] = append(s.replace[st.arg], line)
				}
			}
			written[st.arg] += "\n" + strings.Join(after, "\n")
		}
	}
}

// hunk returns the lines that an edit takes out, and those that it puts in their place.
func hunk(body string) (before, after []string) {
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case strings.HasPrefix(line, "-"):
			before = append(before, line[1:])
		case strings.HasPrefix(line, "+"):
			after = append(after, line[1:])
		}
	}
	return before, after
}
