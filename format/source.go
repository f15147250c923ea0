package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// SourceKey returns the key by which an import finds an entry: the first 16 bytes of the SHA-256 of
// the agent, session and message id, which are the first three fields of the header's source line,
// joined by single spaces. The session is left out if the message id has a UUID in it: agents copy
// such messages from session to session. ok is false for a header without a source line.
func SourceKey(header []byte) (key [16]byte, ok bool) {
	_, rest, ok := bytes.Cut(header, []byte("\nsource "))
	if !ok {
		return key, false
	}
	line, _, ok := bytes.Cut(rest, []byte{'\n'})
	if !ok {
		return key, false
	}
	fields := bytes.SplitN(line, []byte{' '}, 4)
	if len(fields) < 3 || len(fields[0]) == 0 || len(fields[1]) == 0 || len(fields[2]) == 0 {
		return key, false
	}
	fields = fields[:3]
	if hasUUID(fields[2]) {
		fields = [][]byte{fields[0], fields[2]}
	}
	sum := sha256.Sum256(bytes.Join(fields, []byte{' '}))
	return [16]byte(sum[:16]), true
}

// hasUUID reports whether a message id is a UUID, or has one before or after a colon.
func hasUUID(id []byte) bool {
	for piece := range bytes.SplitSeq(id, []byte{':'}) {
		if IsUUID(piece) {
			return true
		}
	}
	return false
}

// SourceTag returns the part of a source key that a pack index keeps.
func SourceTag(key [16]byte) uint32 { return binary.BigEndian.Uint32(key[:]) }
