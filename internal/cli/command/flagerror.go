package command

import (
	_ "embed" // the flags
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// FlagError turns an error of pflag into a usage error that says which values the flag takes.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		hint := insteadOf(cmd, unknown.GetSpecifiedName())
		return WithHint(Usagef("%v", err), "%s", hint)
	}
	var bad *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &bad) || !errors.As(err, &number) {
		return Usagef("%v", err)
	}
	flag, value := bad.GetFlag(), bad.GetValue()
	kind := flagKind(flag.Value.Type())
	if errors.Is(number, strconv.ErrRange) {
		return Usagef("bad --%s: %.80q is too large for %s", flag.Name, value, kind)
	}
	return Usagef("bad --%s: %.80q is not %s", flag.Name, value, kind)
}

// insteadOf says what a command takes instead of a flag that it does not have.
func insteadOf(cmd *cobra.Command, flag string) string {
	name := strings.TrimPrefix(cmd.CommandPath(), "ctx ")
	if hint := Other(otherFlags, name+" "+flag); hint != "" {
		return hint
	}
	if near := nearFlag(cmd, flag); near != "" {
		return "did you mean --" + near + "?"
	}
	if len(flag) > 1 && slices.Contains([]string{"search", "grep", "how", "fix"}, name) {
		return "`ctx " + name + " -- --" + flag + "` takes it as words"
	}
	own := "takes no flag of its own"
	if flags := flagNames(cmd.LocalNonPersistentFlags()); len(flags) > 0 {
		own = "takes --" + strings.Join(flags, ", --")
	}
	return "`" + cmd.CommandPath() + "` " + own
}

// flagNames returns the names of flags that help lists.
func flagNames(set *pflag.FlagSet) (names []string) {
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	return names
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
	near := repo.Nearest(name, flagNames(cmd.Flags()))
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
