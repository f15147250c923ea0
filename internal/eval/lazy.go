package eval

import (
	"regexp"
	"sync"
)

// lazily compiles an expression when it is needed first: a program pays for the expressions of a
// package when it starts, whether or not it uses them.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
