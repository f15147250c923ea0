package main

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// flagError is an error about a flag in the words of ctx: what a value has to be, not which
// function could not read it.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &bad) || !errors.As(err, &number) {
		return usagef("%v", err)
	}
	flag, value := bad.GetFlag(), bad.GetValue()
	kind := flagKind(flag.Value.Type())
	if errors.Is(number, strconv.ErrRange) {
		return usagef("bad --%s: %.80q is too large for %s", flag.Name, value, kind)
	}
	return usagef("bad --%s: %.80q is not %s", flag.Name, value, kind)
}

// flagKind says what a flag of a type of pflag takes.
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
