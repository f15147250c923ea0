// Package share is what stores write to a remote: heads, and pushes in segments of a log.
// docs/format/remote.md describes the bytes. The functions are pure: values in, values out.
//
// Begin with Push, one step of what a store shares, and Head, the one file of a store that is ever
// replaced.
package share

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// Version is that of heads, pushes and the file format.
const Version = 1

// The limits that a reader holds to before it trusts a file, in bytes: a head, a push, and a
// segment before compression.
const (
	MaxHead    = 4 << 20
	MaxPush    = 16 << 20
	MaxSegment = 64 << 20
)

// Format returns the content of the file format of a remote with these features, sorted.
func Format(features ...string) []byte {
	b := fmt.Appendf(nil, "remote %d\n", Version)
	for _, f := range features {
		b = fmt.Appendf(b, "feature %s\n", f)
	}
	return b
}

// CheckFormat returns an error unless b is the file format of a remote that this version knows,
// with no features but the known ones. The error is a *format.VersionError for a later version.
func CheckFormat(b []byte, known ...string) error {
	first, rest, _ := strings.Cut(string(b), "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(first, "remote "))
	switch {
	case strings.HasPrefix(first, "ctx-remote "): // before there was a release
		return &format.VersionError{What: "remote", Early: true}
	case err != nil || n < 1 || !strings.HasPrefix(first, "remote "):
		return errors.New("this is no remote of ctx: the file format is of another kind")
	case n != Version:
		return &format.VersionError{What: "remote", Got: n, Known: Version}
	}
	for line := range strings.Lines(rest) {
		feature, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "feature ")
		if !ok {
			return fmt.Errorf("the remote's file format has a line that is not known: %.80q", line)
		}
		if !slices.Contains(known, feature) {
			return fmt.Errorf("the remote has a feature that this version does not know: %.80q",
				feature)
		}
	}
	return nil
}
