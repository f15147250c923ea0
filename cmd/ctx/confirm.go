package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// errNotConfirmed says that somebody was asked and did not say yes.
var errNotConfirmed = errors.New("not confirmed: nothing was changed")

// confirm asks before something that is hard to take back. Where nobody can be asked, --force has to be given.
func (a *app) confirm(what string, args ...any) error {
	text := fmt.Sprintf(what, args...)
	if !asked(a.inTerm) {
		return withHint(usagef("will not %s without being sure", text), "--force does it without asking")
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
