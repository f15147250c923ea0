package secrets

import (
	_ "embed" // the commands
	"strings"
)

// command is how a program takes secrets in its arguments. text is what its command line begins
// with, at least three bytes. takes names the arguments, with blanks between:
//
//	-p        the argument after -p, or the rest of it after -p=
//	-p+       the rest of the argument that begins with -p
//	-p*       either
//	-u:       what is behind the first colon in the argument of -u, before which a user stands; so
//	          with a percent sign, a comma, a slash and an equals sign
//	/user:>   the argument behind the one that begins with /user:
//	2         the second argument that is no flag
//	$         the last argument, of six at most
//	$: 1/     the same with a user before it
//
// Behind a flag, and where an argument stands alone, it must look like a password, since commands
// are quoted in prose. With a user before it, or joined to its flag, only a password can stand
// there.
type command struct{ text, takes string }

//go:embed commands.txt
var commandLines string

// commandsIn reads a list of commands.
func commandsIn(lines string) (list []command) {
	for line := range strings.SplitSeq(lines, "\n") {
		takes, texts, _ := strings.Cut(line, "\t")
		for texts != "" {
			var text string
			text, texts, _ = strings.Cut(texts, "|")
			list = append(list, command{text, takes})
		}
	}
	return list
}
