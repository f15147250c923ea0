package command

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gemini-ctx/ctx/internal/cli/clierr"
	"github.com/gemini-ctx/ctx/internal/repo"
)

// FlagError turns an error of pflag into a usage error that says which values the flag takes.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name := strings.TrimPrefix(cmd.CommandPath(), "ctx ")
		if hint := otherFlag(name + " " + unknown.GetSpecifiedName()); hint != "" {
			return clierr.WithHint(clierr.Usagef("%v", err), "%s", hint)
		}
		if near := nearFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			return clierr.WithHint(clierr.Usagef("%v", err), "did you mean --%s?", near)
		}
	}
	var bad *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &bad) || !errors.As(err, &number) {
		return clierr.Usagef("%v", err)
	}
	flag, value := bad.GetFlag(), bad.GetValue()
	kind := flagKind(flag.Value.Type())
	if errors.Is(number, strconv.ErrRange) {
		return clierr.Usagef("bad --%s: %.80q is too large for %s", flag.Name, value, kind)
	}
	return clierr.Usagef("bad --%s: %.80q is not %s", flag.Name, value, kind)
}

// otherFlag returns what does here what a flag does that other programs have, and somebody gives to
// a command; "" for one that is not known. key is the command, a space and the flag.
func otherFlag(key string) string {
	switch key {
	case "blame L":
		return "lines stand behind the file: `ctx blame FILE:FIRST-LAST`"
	case "ctx v":
		return "`ctx version` prints the version"
	case "doctor fix":
		return "`ctx install AGENT` sets up hooks, `ctx fsck --repair` mends a store"
	case "fsck fix":
		return "`ctx fsck --repair` repairs"
	case "gc prune":
		return "`ctx -c gc.grace=0s gc` removes at once what nothing names"
	case "grep color":
		return "`ctx -c color.ui=always grep PATTERN` paints, also into a pipe"
	case "grep E", "grep P", "grep r":
		return "patterns are of RE2 and look at all messages: leave it out"
	case "grep n":
		return "each line has the id of its message, which `ctx expand ID` prints whole"
	case "log p":
		return "`ctx log` prints whole messages, and `ctx log --oneline` a line of each"
	case "brief n":
		return "`ctx brief --budget TOKENS` says how long it may be"
	case "push s", "push session":
		return "`ctx config set remote.NAME.share PATTERN` says which sessions go"
	case "session list since":
		return "the newest stand first: `ctx list -n N`"
	case "undo dry-run", "undo n":
		return "`ctx op log` lists what was done, the newest first: `ctx undo` takes back the first " +
			"that changed a session, `ctx undo NUMBER` another"
	case "status porcelain":
		return "`ctx status --json` is for programs"
	case "status s", "status short":
		return "`ctx list` is short, and `ctx status --json` is for programs"
	}
	return ""
}

// nearFlag returns the flag of a command whose name is nearest to a misspelled one, or "".
func nearFlag(cmd *cobra.Command, name string) string {
	if len(name) < 2 {
		return "" // any other letter is as near
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	return repo.Nearest(name, known)
}

// flagKind names the values of a flag by pflag's name of its type.
func flagKind(of string) string {
	switch of {
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number from 0"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	}
	return "a value of the kind " + of
}
