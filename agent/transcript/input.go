package transcript

import (
	"errors"
	"io"
)

// ErrorKeeper reads from R and remembers in Err why that failed, which a decoder reports in words of its own. The end of the input is no failure.
type ErrorKeeper struct {
	R   io.Reader
	Err error
}

// Read reads from R.
func (k *ErrorKeeper) Read(p []byte) (int, error) {
	n, err := k.R.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		k.Err = err
	}
	return n, err
}

// SpaceForNUL reads from R with a space for each NUL byte, so that offsets stay what they are. Runs counts the runs of NUL bytes that were read.
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
