package sharing

import (
	"bytes"
	"fmt"

	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/objects"
)

// A folder that another program syncs has its files in any order, and some in part. So there are
// three answers to a file that is not as its name or its head says:
//
//   - A name that no remote writes is passed over.
//   - What is missing, or the beginning of a file, has not arrived yet: remote.ErrIncomplete.
//   - What is whole and wrong was tampered with: remote.ErrTampered.
//
// Nothing of the store is taken in, either way.

// zeroTail is how many zeros at the end of a file are taken for room that a copy has reserved.
const zeroTail = 64

// incomplete returns remote.ErrIncomplete.
func incomplete(form string, args ...any) error {
	return fmt.Errorf("%w: %s", remote.ErrIncomplete, fmt.Sprintf(form, args...))
}

// isReserved reports whether a file is empty, or ends with zeros that hold the place of the rest.
func isReserved(b []byte) bool {
	begin := bytes.TrimRight(b, "\x00")
	return len(begin) == 0 || len(b)-len(begin) >= zeroTail
}

// headIsCut reports whether a head that cannot be read is the beginning of one: its last line is
// not the signature.
func headIsCut(b []byte) bool {
	last := b[bytes.LastIndexByte(bytes.TrimSuffix(b, []byte{'\n'}), '\n')+1:]
	return isReserved(b) || !bytes.HasSuffix(b, []byte{'\n'}) ||
		!bytes.HasPrefix(last, []byte("signature "))
}

// packIsCut is headIsCut for packs.
func packIsCut(b []byte) bool { return isReserved(b) || objects.PackIsCut(b) }

// segmentIsCut is headIsCut for segments.
func segmentIsCut(b []byte) bool {
	first, frame, line := bytes.Cut(b, []byte{'\n'})
	switch {
	case isReserved(b):
		return true
	case line:
		return frameIsCut(frame)
	}
	return bytes.HasPrefix(first, []byte(segmentMagic)) ||
		bytes.HasPrefix([]byte(segmentMagic), first)
}

// formatIsCut is headIsCut for the file that says which version a remote is of.
func formatIsCut(b []byte) bool {
	whole := share.Format()
	return isReserved(b) || len(b) < len(whole) && bytes.HasPrefix(whole, b)
}

// frameIsCut reports whether a zstd frame ends before its last block does (RFC 8878, 3.1.1).
func frameIsCut(b []byte) bool {
	const magic, checksum, blockHead = 4, 4, 3
	if len(b) <= magic {
		return true
	}
	flags := b[magic]
	at := magic + 1 + []int{0, 1, 2, 4}[flags&3] + []int{0, 2, 4, 8}[flags>>6]
	switch single := flags&0x20 != 0; {
	case !single:
		at++ // the window
	case flags>>6 == 0:
		at++ // the size has a byte
	}
	for last := false; !last; {
		if at+blockHead > len(b) {
			return true
		}
		head := int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16
		last = head&1 != 0
		size := head >> 3
		if head>>1&3 == 1 {
			size = 1 // one byte, repeated
		}
		at += blockHead + size
	}
	if flags&4 != 0 {
		at += checksum
	}
	return at > len(b)
}
