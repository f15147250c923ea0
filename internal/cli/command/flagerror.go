package command

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/gemini-ctx/ctx/internal/cli/clierr"
)

// FlagError turns an error of pflag into a usage error that says which values the flag takes.
func FlagError(err error) error {
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
