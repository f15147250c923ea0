package geminicli

import (
	"bufio"

	"github.com/gemini-ctx/ctx/agent/transcript"
)

// MaxLine is the longest line that is read, in bytes without NULs: the same as for ctx's own JSON lines. A longer one is counted and skipped without being
// kept in memory.
const MaxLine = transcript.MaxLine

// lineReader cuts a stream into lines and knows the offset of each.
type lineReader struct {
	r      *bufio.Reader
	limit  int
	offset int64 // what was read of the input before
	lines  *transcript.LineReader
}

// line is one line of the input, as transcript.Line.
type line struct {
	text     []byte
	end      int64
	nuls     int
	tooLong  bool
	complete bool
}

// next returns the next line. The last one may be incomplete; after it, next returns io.EOF.
func (lr *lineReader) next() (line, error) {
	if lr.lines == nil {
		lr.lines = transcript.NewLineReader(lr.r, lr.limit, lr.offset)
	}
	l, err := lr.lines.Next()
	return line{l.Text, l.End, l.NULs, l.TooLong, l.Complete}, err
}

func countNULRuns(b []byte, inRun *bool) int { return transcript.CountNULRuns(b, inRun) }
