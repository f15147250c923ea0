package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// errNotConfirmed is the error of a question that was not answered with yes.
var errNotConfirmed = errors.New("not confirmed: nothing was changed")

// confirm asks before a change that is hard to revert. Without a terminal it requires --force.
func (a *app) confirm(what string, args ...any) error {
	text := fmt.Sprintf(what, args...)
	if !asked(a.inTerm) {
		return withHint(usagef("refusing to %s without confirmation", text),
			"use --force to do it without asking")
	}
	fmt.Fprintf(a.stderr, "%s? [y/N] ", oneLine(text))
	answer, err := bufio.NewReader(a.stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return nil
	}
	if err != nil && answer == "" {
		fmt.Fprintln(a.stderr)
	}
	return errNotConfirmed
}
