package transcript

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// UpToCut reads what can be unpacked of a file that was cut off, as its writer leaves it that died:
// the end of that is an end of lines like any other.
type UpToCut struct {
	R   io.Reader
	Cut bool // the file was cut off
}

// Read reads from R.
func (u *UpToCut) Read(p []byte) (int, error) {
	if u.Cut {
		return 0, io.EOF // R may say something else now
	}
	n, err := u.R.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		u.Cut, err = true, io.EOF
	}
	return n, err
}

// CountIn counts a cut in the statistics of the transcript that was read, unless they tell of one.
func (u *UpToCut) CountIn(stats *Stats) {
	if u.Cut && stats.Skipped[SkipTornTail] == 0 {
		stats.Skip(SkipTornTail, 1)
	}
}

// Peek returns the first n bytes of r, or all if there are fewer, and a reader of all bytes: r
// itself if it can seek.
func Peek(r io.Reader, n int) (head []byte, all io.Reader, err error) {
	if s, ok := r.(io.Seeker); ok {
		if at, err := s.Seek(0, io.SeekCurrent); err == nil {
			head = make([]byte, n)
			n, err := io.ReadFull(r, head)
			if err != nil && n == len(head) {
				return nil, nil, err
			}
			_, err = s.Seek(at, io.SeekStart)
			return head[:n], r, err
		}
	}
	b := bufio.NewReader(r)
	head, _ = b.Peek(n) // whoever reads on says what is wrong
	return head, b, nil
}

// Text returns a reader of the UTF-8 text in r, which may be UTF-16 as PowerShell writes it. r
// itself is returned if it can seek and is UTF-8. The error is one of r.
func Text(r io.Reader) (io.Reader, error) {
	head, r, err := Peek(r, 2)
	if err != nil {
		return nil, err
	}
	switch string(head) {
	case "\xff\xfe", "{\x00", "[\x00":
		return &wide{r: bufio.NewReader(r), order: binary.LittleEndian}, nil
	case "\xfe\xff", "\x00{", "\x00[":
		return &wide{r: bufio.NewReader(r), order: binary.BigEndian}, nil
	}
	return r, nil
}

// maxNoise is how many bytes are looked at for the beginning of a document.
const maxNoise = 8 << 10

// Noise returns the length of the lines that a program has printed before a JSON document, as with
// 2>&1, and their number; 0 if no line of head begins one.
func Noise(head []byte) (length, lines int) {
	head = head[:min(len(head), maxNoise)]
	for line := range bytes.Lines(head) {
		text := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
			inner := bytes.TrimSpace(text[1:])
			if len(inner) == 0 || bytes.IndexByte([]byte("{[\"]}"), inner[0]) >= 0 {
				return length, lines
			}
		}
		if length += len(line); len(text) > 0 {
			lines++
		}
	}
	return 0, 0
}

// PastNoise returns a reader of the document in r, and counts the lines before it.
func (s *Stats) PastNoise(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, maxNoise)
	head, _ := b.Peek(maxNoise)
	if length, lines := Noise(head); lines > 0 {
		s.Skip(SkipBadJSON, lines)
		_, _ = b.Discard(length) // they were read
	}
	return b
}

// wide reads UTF-16 as UTF-8. A unit that is no character is U+FFFD.
type wide struct {
	r     *bufio.Reader
	order binary.ByteOrder
	out   []byte // not read yet
	held  rune   // the first half of a character, or 0
}

// Read reads from r.
func (w *wide) Read(p []byte) (int, error) {
	for len(w.out) < len(p) && len(w.out) < 4096 {
		var unit [2]byte
		if _, err := io.ReadFull(w.r, unit[:]); err != nil {
			if len(w.out) > 0 {
				break
			}
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			return 0, err
		}
		w.add(rune(w.order.Uint16(unit[:])))
	}
	n := copy(p, w.out)
	w.out = append(w.out[:0], w.out[n:]...)
	return n, nil
}

func (w *wide) add(c rune) {
	if w.held != 0 {
		first := w.held
		w.held = 0
		both := utf16.DecodeRune(first, c)
		w.out = utf8.AppendRune(w.out, both)
		if both != utf8.RuneError || utf16.IsSurrogate(c) {
			return
		}
	}
	if utf16.IsSurrogate(c) {
		w.held = c
		return
	}
	w.out = utf8.AppendRune(w.out, c)
}

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
