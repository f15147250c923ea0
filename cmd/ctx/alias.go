package main

import (
	"slices"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// withAlias puts the command line that the user's config file has for a name in the place of that
// name. Names of commands and programs stay what they are, and an alias stands for a command, not
// for another alias or a program.
func (a *app) withAlias(args []string) ([]string, error) {
	name := commandName(args)
	if name == "" || isCommand(name) {
		return args, nil
	}
	if _, found, err := a.findExternal(args); found || err != nil {
		return args, nil //nolint:nilerr // run finds it again, and says what is wrong
	}
	words, err := repo.Alias(repo.Env{UserConfig: a.userConf}, name)
	if err != nil || len(words) == 0 {
		return args, err
	}
	if !isCommand(words[0]) {
		return args, usagef("alias.%s: %q is not a command of ctx", name, oneLine(words[0]))
	}
	at := slices.Index(args, name)
	return slices.Concat(args[:at], words, args[at+1:]), nil
}
