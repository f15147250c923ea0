package command

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
)

// Between accepts at least low and at most high arguments; high below 0 is no limit.
func Between(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < low && len(args) == 0:
			return Usagef("%s needs an argument: `%s`", cmd.CommandPath(), cmd.UseLine())
		case len(args) < low:
			return Usagef("%s needs %d arguments and got %d: `%s`",
				cmd.CommandPath(), low, len(args), cmd.UseLine())
		case high == 0 && len(args) > 0:
			return unasked(cmd, "%s takes no argument: %q", args[0], "")
		case high >= 0 && len(args) > high:
			return unasked(cmd, "too many arguments for %s: %q", args[high],
				"; quotes make one argument of several words")
		}
		return nil
	}
}

// unasked returns the error for an argument that a command does not take.
func unasked(cmd *cobra.Command, format, arg, more string) error {
	if cmd.Flag("session") != nil {
		more = "; -s names a session"
	}
	return WithHint(Usagef(format, cmd.CommandPath(), arg), "it is `%s`%s", cmd.UseLine(), more)
}

// CheckName returns a usage error for a name that no session and no branch can have. what is the
// kind of the name, such as "session".
func CheckName(what, name string) error {
	if err := format.CheckName(name); err != nil {
		return WithHint(Usagef("bad %s name: %.80q: %v", what, name, err),
			"a name has up to %d bytes and no slash, no control characters, no space at its ends",
			format.MaxName)
	}
	return nil
}

// HasFlag reports whether a command line that could not be parsed has the flag, such as "--json".
func HasFlag(args []string, flag string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == flag {
			return true
		}
	}
	return false
}
