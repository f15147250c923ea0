package command

import (
	_ "embed" // the flags
	"errors"
	"slices"
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
		if hint := Other(otherFlags, name+" "+unknown.GetSpecifiedName()); hint != "" {
			return clierr.WithHint(clierr.Usagef("%v", err), "%s", hint)
		}
		if near := nearFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			return clierr.WithHint(clierr.Usagef("%v", err), "did you mean --%s?", near)
		}
		switch long := unknown.GetSpecifiedName(); name {
		case "search", "grep", "how", "fix":
			if len(long) > 1 {
				return clierr.WithHint(clierr.Usagef("%v", err),
					"`ctx %s -- --%s` takes it as words", name, long)
			}
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

// otherFlags says what does here what a flag does that other programs have, and somebody gives to a
// command: the command, a space and the flag. After = come names that programs have for a flag, and
// what a command of ctx may call it.
//
//go:embed otherflags.txt
var otherFlags string

// Other returns what a table says of a name; "" for nothing. A line has names with commas between
// them, a colon, and a text.
func Other(table, name string) string {
	for line := range strings.Lines(table) {
		names, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if slices.Contains(strings.Split(names, ", "), name) {
			return text
		}
	}
	return ""
}

// nearFlag returns the flag of a command that other programs call by a name, or whose name is
// nearest to a misspelled one that begins like it; "" for none.
func nearFlag(cmd *cobra.Command, name string) string {
	for line := range strings.Lines(otherFlags) {
		names, is := strings.CutPrefix(line, "= ")
		names, own, _ := strings.Cut(strings.TrimSpace(names), ": ")
		if is && slices.Contains(strings.Split(names, ", "), name) {
			for flag := range strings.SplitSeq(own, ", ") {
				if cmd.Flag(flag) != nil {
					return flag
				}
			}
		}
	}
	if len(name) < 2 {
		return "" // any other letter is as near
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	near := repo.Nearest(name, known)
	if near != "" && !strings.Contains(near[:2], name[:1]) {
		return ""
	}
	return near
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
