package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A pack index finds the objects of a pack by id and by source. It can be computed again from the
// pack alone. docs/format/pack-1.md describes it.
const (
	PackIndexMagic = "ctx idx 1\n"

	// Magic, pack id, counts of ids, sources and blocks
	idxHead   = len(PackIndexMagic) + sha256.Size + 3*4
	idxFan    = 256 * 4
	idxPlace  = 2 * 5 // bytes of an object's two positions
	idxSource = 4 + 4 // tag, number of the object
	idxBlock  = 1 + 4 + 4
	idxCount  = 1<<31 - 1 // the most objects or blocks of a pack

	maxPosition = 1<<40 - 2 // a stream of a pack has at most one tebibyte
	noPosition  = 1<<40 - 1
)

// PackPlace says where a pack holds an object: the positions of its two records in the streams of
// headers and of bodies.
type PackPlace struct {
	Header int64
	Body   int64 // -1 if the pack has no body of the object
}

// PackEntry is the entry of one object in a pack index.
type PackEntry struct {
	ID ID
	PackPlace
	Sourced bool // the object has a source, see SourceKey
	// Tag is the first four bytes of the source key. Only the object's header proves the rest of
	// the key.
	Tag uint32
}

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

// EncodePackIndex returns the index of the given pack with the given objects and blocks. Blocks
// must be in the order of the file. Entries may have any order and are sorted in place. A duplicate
// id and an entry outside the blocks are errors.
func EncodePackIndex(pack ID, entries []PackEntry, blocks []PackBlock) ([]byte, error) {
	slices.SortFunc(entries, func(a, b PackEntry) int { return a.ID.Compare(b.ID) })
	if err := checkIndex(entries, blocks); err != nil {
		return nil, err
	}
	sources := sourceTable(entries)
	size := idxHead + idxFan + len(entries)*(len(ID{})+idxPlace) + len(sources)*idxSource +
		len(blocks)*idxBlock + sha256.Size
	out := make([]byte, 0, size)
	out = append(out, PackIndexMagic...)
	out = append(out, pack[:]...)
	for _, n := range []int{len(entries), len(sources), len(blocks)} {
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	out = appendFan(out, entries)
	for i := range entries {
		out = append(out, entries[i].ID[:]...)
	}
	for i := range entries {
		out = appendPosition(out, entries[i].Header)
		out = appendPosition(out, entries[i].Body)
	}
	for _, s := range sources {
		out = binary.BigEndian.AppendUint64(out, s)
	}
	for _, b := range blocks {
		if out, _ = AppendPackBlockHead(out, b); out == nil {
			return nil, errors.New("bad block") // not reached: checkIndex has checked every block
		}
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

func checkIndex(entries []PackEntry, blocks []PackBlock) error {
	if len(entries) == 0 || len(entries) > idxCount || len(blocks) > idxCount {
		return fmt.Errorf("a pack cannot have %d objects in %d blocks", len(entries), len(blocks))
	}
	var raw [2]int64
	for _, b := range blocks {
		if err := b.check(); err != nil {
			return err
		}
		if b.Kind == PackHeaders {
			raw[0] += int64(b.Raw)
		} else {
			raw[1] += int64(b.Raw)
		}
	}
	if max(raw[0], raw[1]) > maxPosition {
		return errors.New("pack is too large")
	}
	for i, e := range entries {
		if i > 0 && e.ID.Compare(entries[i-1].ID) <= 0 {
			return fmt.Errorf("ids are out of order or twice in a pack: %v", e.ID)
		}
		if e.Header < 0 || e.Header >= raw[0] || e.Body < -1 || e.Body >= raw[1] {
			return fmt.Errorf("object is outside its pack: %v", e.ID)
		}
	}
	return nil
}

// sourceTable returns a sorted list with one number for each entry with a source: the tag in the
// high 32 bits and the number of the entry in the low 32 bits.
func sourceTable(entries []PackEntry) []uint64 {
	var table []uint64
	for i, e := range entries {
		if e.Sourced {
			table = append(table, uint64(e.Tag)<<32|uint64(i))
		}
	}
	slices.Sort(table)
	return table
}

func appendFan(out []byte, entries []PackEntry) []byte {
	i := 0
	for first := range 256 {
		for i < len(entries) && int(entries[i].ID[0]) <= first {
			i++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(i))
	}
	return out
}

func appendPosition(out []byte, at int64) []byte {
	if at < 0 {
		at = noPosition
	}
	return append(out, byte(at>>32), byte(at>>24), byte(at>>16), byte(at>>8), byte(at))
}

func position(b []byte) int64 {
	at := int64(b[0])<<32 | int64(binary.BigEndian.Uint32(b[1:]))
	if at == noPosition {
		return -1
	}
	return at
}
