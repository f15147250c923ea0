package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/refs"
)

// minPrefix is how many bytes of a session's name have to be given at least.
const minPrefix = 4

// AmbiguousNameError says that several sessions have names that begin so.
type AmbiguousNameError struct {
	Prefix string
	Names  []string
}

func (e *AmbiguousNameError) Error() string {
	list := e.Names[:min(len(e.Names), 8)]
	text := fmt.Sprintf("session name %q is ambiguous: %s", clip(e.Prefix), strings.Join(list, ", "))
	if more := len(e.Names) - len(list); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Named returns the session that a name means: the session of that name, else the one session whose
// name begins with it, in 4 bytes or more. Errors: ErrNotFound, *AmbiguousNameError.
func Named(view *refs.View, name string) (string, error) {
	if len(view.Names("sessions/"+name+"/")) > 0 {
		return name, nil
	}
	var found []string
	if len(name) >= minPrefix {
		for _, ref := range view.Names("sessions/" + name) {
			one, _, _ := strings.Cut(strings.TrimPrefix(ref, "sessions/"), "/")
			if len(found) == 0 || found[len(found)-1] != one {
				found = append(found, one)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", unknownSession(name, MainBranch)
	case 1:
		return found[0], nil
	}
	return "", &AmbiguousNameError{Prefix: name, Names: found}
}

// NamedOr is Named for a command that has an answer of its own where there is no such session: the
// name as it was given then.
func NamedOr(view *refs.View, name string) (string, error) {
	found, err := Named(view, name)
	if errors.Is(err, ErrNotFound) {
		return name, nil
	}
	return found, err
}
