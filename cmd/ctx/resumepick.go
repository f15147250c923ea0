package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/sessions"
)

// errNothingChosen is the error of a question without an answer.
var errNothingChosen = errors.New("nothing was chosen: nothing was written")

// mostChoices is how many sessions a person chooses from.
const mostChoices = 15

// maxAsked is how often a question is asked again.
const maxAsked = 3

// ask asks on a terminal for the session, unless -s names it, and for the agent. Elsewhere it
// refuses.
func (o *resumeOptions) ask(a *app) error {
	noTo := usagef("no --to: the agents are %s", wordsAnd(catalog.Resumable()))
	for _, agent := range catalog.Resumable() {
		if o.session != "" && strings.HasPrefix(agent, strings.ToLower(o.session)) {
			return withHint(noTo, "`ctx resume --to %s` continues the current session there", agent)
		}
	}
	named, quiet := o.cmd.Flags().Changed("session"), a.json || !asked(a.inTerm)
	noTo = withHint(noTo, "`ctx resume [SESSION] --to AGENT`; `ctx list` lists the sessions")
	if quiet && !named {
		return noTo
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	list, err := s.Recall.Overviews(view)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return withHint(notFound("no session yet"),
			"`ctx import --all` brings what agents have of this project")
	}
	q := &question{a: a, in: bufio.NewReader(a.stdin)}
	var one *sessions.Overview
	if named {
		found, err := sessionNamed(s, view, []string{o.session})
		switch {
		case err != nil:
			return err
		case quiet:
			return noTo
		}
		one = &found
	} else if one, err = q.session(list); err != nil {
		return err
	}
	o.session = one.Name
	o.to, err = q.agent(agentNamed(one.Agent))
	return err
}

// question asks a person.
type question struct {
	a  *app
	in *bufio.Reader
}

// session lists the newest sessions and asks for one of them.
func (q *question) session(list []sessions.Overview) (*sessions.Overview, error) {
	top := newest(newSessionTree(list).top, mostChoices)
	p := q.a.sessionPrinter(list, len("12  "))
	for n, i := range top {
		p.print(fmt.Sprintf("%2d  ", n+1), "", &list[i], 0)
	}
	if err := q.a.out.Flush(); err != nil {
		return nil, err
	}
	n := 0
	err := q.ask("Session [1]: ", func(answer string) (err error) {
		answer = cmp.Or(answer, "1")
		if n, err = strconv.Atoi(answer); err != nil || n < 1 || n > len(top) {
			return fmt.Errorf("a number from 1 to %d, please", len(top))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &list[top[n-1]], nil
}

// agent asks for an agent. The session's own one is the default, if it can go on with sessions.
func (q *question) agent(own string) (name string, err error) {
	names := catalog.Resumable()
	prompt := "Agent (" + strings.Join(names, ", ") + "): "
	if slices.Contains(names, own) {
		prompt = "Agent (" + strings.Join(names, ", ") + ") [" + own + "]: "
	} else {
		own = ""
	}
	err = q.ask(prompt, func(answer string) error {
		if name = answer; name == "" {
			name = own
		}
		if !slices.Contains(names, name) {
			return fmt.Errorf("one of %s, please", wordsAnd(catalog.Resumable()))
		}
		return nil
	})
	return name, err
}

// ask prints a prompt, and passes the answer to take until take accepts it.
func (q *question) ask(prompt string, take func(answer string) error) error {
	for range maxAsked {
		fmt.Fprint(q.a.stderr, prompt)
		answer, err := q.in.ReadString('\n')
		if err != nil && (answer == "" || !errors.Is(err, io.EOF)) {
			fmt.Fprintln(q.a.stderr)
			return errNothingChosen
		}
		if err = take(strings.TrimSpace(answer)); err == nil {
			return nil
		}
		fmt.Fprintln(q.a.stderr, oneLine(err.Error()))
	}
	return errNothingChosen
}
