package transcript

import (
	"fmt"
	"io"
)

// AtMost reads at most Most bytes from R. If there are more, it returns an error that says so.
type AtMost struct {
	R    io.Reader
	Most int64

	n int64
}

// Read reads from R.
func (a *AtMost) Read(p []byte) (int, error) {
	if a.n >= a.Most {
		var more [1]byte
		n, err := a.R.Read(more[:])
		if n > 0 {
			err = fmt.Errorf("more than %d bytes, which is the most", a.Most)
		}
		return 0, err
	}
	n, err := a.R.Read(p[:min(int64(len(p)), a.Most-a.n)])
	a.n += int64(n)
	return n, err
}

// SpaceForNUL reads from R with a space for each NUL byte, so that offsets stay what they are. Runs
// counts the runs of NUL bytes that were read.
type SpaceForNUL struct {
	R    io.Reader
	Runs int

	inRun bool
}

// Read reads from R.
func (s *SpaceForNUL) Read(p []byte) (int, error) {
	n, err := s.R.Read(p)
	s.Runs += CountNULRuns(p[:n], &s.inRun)
	for i, c := range p[:n] {
		if c == 0 {
			p[i] = ' '
		}
	}
	return n, err
}
