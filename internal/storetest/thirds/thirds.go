// Package thirds lets a long test run a third of its cases at a time. The commit says which third,
// so that a few commits see every case. CTX_THIRDS=0, 1 or 2 says it instead, and CTX_THIRDS=all
// runs every case. Begin with Of, Range and Mine.
package thirds

import (
	"bytes"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
)

// variable names the environment variable that says which third runs.
const variable = "CTX_THIRDS"

// parts is how many thirds there are, and all stands for each of them.
const (
	parts = 3
	all   = -1
)

// Of returns every third case.
func Of[T any](t testing.TB, cases []T) []T {
	t.Helper()
	var mine []T
	for i := range Range(t, len(cases)) {
		mine = append(mine, cases[i])
	}
	return mine
}

// Range yields every third number below n: the seeds of random cases.
func Range[T int | int64 | uint64](t testing.TB, n T) iter.Seq[T] {
	t.Helper()
	third := said(t)
	return func(yield func(T) bool) {
		for i := T(0); i < n; i++ {
			if is(third, int(i)) && !yield(i) {
				return
			}
		}
	}
}

// Mine reports whether case number i is in the third that runs.
func Mine(t testing.TB, i int) bool {
	t.Helper()
	return is(said(t), i)
}

// is reports whether case i is in a third.
func is(third, i int) bool { return third == all || i%parts == third }

// told has the names of the tests that have logged which third they run.
var told sync.Map

// said returns the third that runs, and logs it once in a test.
func said(t testing.TB) int {
	t.Helper()
	third := now()
	if _, again := told.LoadOrStore(t.Name(), true); !again && third != all {
		t.Logf("%s=%d: a third of the cases; %s=all runs every case", variable, third, variable)
	}
	return third
}

// now returns the third that the variable names, or else that of the commit.
func now() int {
	text := os.Getenv(variable)
	if text == "all" {
		return all
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return n % parts
	}
	return int(Commit() % parts)
}

// Commit returns a number for the commit that is checked out; 0 where there is none, as in an
// archive. A random test begins with it, so that each commit sees other cases.
func Commit() uint64 { return here() }

var here = sync.OnceValue(func() uint64 {
	id, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return 0
	}
	return ofCommit(string(bytes.TrimSpace(id)))
})

// ofCommit returns the number of the first eight digits of an id.
func ofCommit(id string) uint64 {
	n, err := strconv.ParseUint(id[:min(len(id), 8)], 16, 64)
	if err != nil {
		return 0
	}
	return n
}
