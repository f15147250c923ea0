package geminicli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest line that is read, in bytes without NULs: the same as for ctx's own JSON lines. A longer one is
// counted and skipped without being kept in memory.
const MaxLine = 64 << 20

// lineReader cuts a stream into lines and knows the offset of each.
type lineReader struct {
	r      *bufio.Reader
	limit  int
	offset int64 // input bytes up to the end of the last line
	buf    []byte
}

// line is one line of the input without its line feed and without NUL bytes. Its bytes hold until the next call of next.
type line struct {
	text     []byte
	end      int64 // input bytes up to and with its line feed
	nuls     int   // runs of NUL bytes that were taken out
	tooLong  bool  // text is not the whole line
	complete bool  // it ended with a line feed
}

// next returns the next line. The last one may be incomplete; after it, next returns io.EOF.
func (lr *lineReader) next() (line, error) {
	lr.buf = lr.buf[:0]
	var l line
	inRun := false
	for {
		chunk, err := lr.r.ReadSlice('\n')
		lr.offset += int64(len(chunk))
		if err == nil {
			chunk, l.complete = chunk[:len(chunk)-1], true
		}
		if !l.tooLong {
			l.nuls += countNULRuns(chunk, &inRun)
			lr.buf = appendWithoutNULs(lr.buf, chunk)
			l.tooLong = len(lr.buf) > lr.limit
		}
		if l.tooLong {
			lr.buf = nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.text, l.end = lr.buf, lr.offset
		if errors.Is(err, io.EOF) && (len(lr.buf) > 0 || l.nuls > 0 || l.tooLong) {
			return l, nil
		}
		return l, err
	}
}

// countNULRuns counts the runs of NUL bytes that begin in b. *inRun says, before and after, whether one is open.
func countNULRuns(b []byte, inRun *bool) int {
	if !*inRun && bytes.IndexByte(b, 0) < 0 {
		return 0
	}
	n := 0
	for _, c := range b {
		if c == 0 && !*inRun {
			n++
		}
		*inRun = c == 0
	}
	return n
}

func appendWithoutNULs(dst, src []byte) []byte {
	for len(src) > 0 {
		i := bytes.IndexByte(src, 0)
		if i < 0 {
			return append(dst, src...)
		}
		dst, src = append(dst, src[:i]...), src[i+1:]
	}
	return dst
}
