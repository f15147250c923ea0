package objects

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/klauspost/compress/zstd"
)

// How many bytes of bodies and headers, and how many objects, a block has before a new one is
// begun; an object that is larger has a block of its own. Larger blocks compress better (of 28
// MB of sessions of agents: 256 KiB 4.7 MB, 1 MiB 3.8, 4 MiB 3.3) and take longer to read one
// object from: 1 MiB some 2 ms, and so do 2,048 messages of chat. Who asks for the best level
// asks for larger blocks too: 2.5 MiB 3.4 MB, and some 8 ms more for a look at one old message.
// What has just arrived is read soon, and a search reads a message here and there: blocks of
// half as many messages of chat take 1.6 % more, and half the time.
const (
	blockBytes   = 1 << 20
	bestBytes    = 5 << 19 // at the level Best
	blockObjects = 2048
	fastObjects  = 1024 // at the level Fast
)

// blockOf returns how many bytes and objects a block of a level has at most.
func blockOf(l Level) (bytes, objects int) {
	switch l {
	case Fast:
		return blockBytes, fastObjects
	case Best:
		return bestBytes, blockObjects
	}
	return blockBytes, blockObjects
}

// A block holds several large forests, because an id costs its 32 bytes once in a block: 230
// sessions that share 5,000 clusters take 44 MB with blocks of one forest, and 20 MB with these. A
// reader of one forest unpacks the others as well.
const (
	forestsTogether = 8
	forestBytes     = 16 << 20
)

// packBuffer is how much of a pack is collected before it is written.
const packBuffer = 1 << 20

// packWriter turns objects into the bytes of a pack. Blocks are compressed by several goroutines
// and written in order, so that the bytes depend on the objects and the level alone. Nodes are in
// blocks of their own, because they name objects of other blocks by number.
type packWriter struct {
	enc     *zstd.Encoder
	dec     *packs.Codec // for who will not read the pack again, which unpacks each frame; or nil
	key     packs.Key
	most    int // bytes of a block
	count   int // objects of a block
	out     *bufio.Writer
	sum     hash.Hash
	parity  packs.Parity
	written int64

	open [classes]openBlock
	// Of the objects of the blocks that have ended; of the others notEnded or openHere
	numbers numbering
	table   table
	blocks  []packs.Block
	jobs    []chan packedBlock
}

// The classes of objects, each of which has blocks of its own: entries, whose neighbours are read
// together, and with them the summaries, tombstones and nodes that tell of entries of the same
// block; forests, which mostly name the clusters that the forest before named; what else there is,
// such as the summaries of runs that are spread over many blocks; and nodes of such runs. A forest
// names its clusters by id, so that it can be read whatever happens to the entries: by number, that
// of 2,327 short messages would take 21 KB less.
const (
	classEntries = iota
	classForests
	classRest
	classNodes
	classes
)

// openBlock collects the objects of a block.
type openBlock struct {
	list []packs.Object
	size int

	// What stands beside the entries. It comes behind all of them in the block, so that a reader of
	// an entry has nothing to do with it.
	beside     []packs.Object
	besideSize int
}

// How much stands beside the entries of a block at most, in bytes and in objects. A reader of the
// last of them rebuilds all others.
const (
	besideBytes   = 2 << 20
	besideObjects = 2 * blockObjects
)

// What stands for the number of an object that has none to be named by.
const (
	notEnded = 1<<32 - 2 // its block has not ended, or is one of nodes
	openHere = 1<<32 - 3 // it is in the open block of entries
)

// classOf returns the class of an object, and whether it stands beside the entries.
func (w *packWriter) classOf(r format.Raw) (class int, beside bool) {
	kind, _, _ := bytes.Cut(r.Header, []byte{' '})
	switch string(kind) {
	case "entry":
		return classEntries, false
	case "forest":
		return classForests, false
	case "node":
		here, names := w.here(r.Header)
		return classNodes, here == names && w.hasRoom(r)
	case "summary", "tombstone":
		here, _ := w.here(r.Header)
		if here == 0 && kind[0] == 's' {
			told, all := w.told(r.Body)
			return classRest, 2*told > all && w.hasRoom(r)
		}
		return classRest, here > 0 && w.hasRoom(r)
	}
	return classRest, false
}

// hasRoom reports whether an object may stand beside the entries of the open block.
func (w *packWriter) hasRoom(r format.Raw) bool {
	b := &w.open[classEntries]
	return len(b.list) > 0 && b.size <= w.most && len(b.beside) < besideObjects &&
		b.besideSize+len(r.Header)+len(r.Body) <= besideBytes
}

// here counts the ids in a header, and those of them that are in the open block of entries.
func (w *packWriter) here(header []byte) (here, names int) {
	for token := range bytes.FieldsSeq(header) {
		if w.isHere(token) {
			here++
		}
		if len(token) == format.IDLen {
			names++
		}
	}
	return here, names
}

// told counts the sentences of an extract, and those of entries in the open block. A body that is
// no extract has none.
func (w *packWriter) told(body []byte) (here, all int) {
	for line := range bytes.SplitSeq(body, []byte{'\n'}) {
		if rest, ok := bytes.CutPrefix(line, []byte(`{"entry":"`)); ok && len(rest) > format.IDLen {
			all++
			if w.isHere(rest[:format.IDLen]) {
				here++
			}
		}
	}
	return here, all
}

func (w *packWriter) isHere(digits []byte) bool {
	var id format.ID
	if len(digits) != format.IDLen {
		return false
	}
	_, err := hex.Decode(id[:], digits)
	n, _ := w.numbers.get(id)
	return err == nil && n == openHere
}

// packedBlock is a block that was compressed.
type packedBlock struct {
	packs.Block
	frame []byte
	err   error // the block does not give back its objects
}

func newPackWriter(
	enc *zstd.Encoder, key packs.Key, level Level, out io.Writer, names Names,
) *packWriter {
	w := &packWriter{
		numbers: newNumbering(names),

		enc: enc,
		key: key,
		out: bufio.NewWriterSize(out, packBuffer),
		sum: sha256.New(),
	}
	w.most, w.count = blockOf(level)
	return w
}

func (w *packWriter) write(b []byte) error {
	w.sum.Write(b) // never fails
	w.written += int64(len(b))
	_, err := w.out.Write(b)
	return err
}

// add takes an object that has been checked; its bytes are the writer's from then on.
func (w *packWriter) add(id format.ID, r format.Raw) error {
	if _, ok := w.numbers.get(id); ok {
		return fmt.Errorf("object %v comes twice", id)
	}
	class, beside := w.classOf(r)
	o := packs.Object{ID: id, Header: r.Header, Body: r.Body}
	size := len(r.Header) + len(r.Body)
	if beside {
		w.numbers.put(id, openHere)
		b := &w.open[classEntries]
		b.beside, b.besideSize = append(b.beside, o), b.besideSize+size
		return nil
	}
	b := &w.open[class]
	if len(b.list) > 0 && (b.size+size > w.limit(class) || len(b.list) == w.count) {
		if err := w.end(class); err != nil {
			return err
		}
	}
	number := uint32(notEnded)
	if class == classEntries {
		number = openHere
	}
	w.numbers.put(id, number)
	b.list, b.size = append(b.list, o), b.size+size
	return nil
}

// limit returns how many bytes the open block of a class has at most.
func (w *packWriter) limit(class int) int {
	if class != classForests {
		return w.most
	}
	return min(max(w.most, forestsTogether*w.open[class].size/len(w.open[class].list)), forestBytes)
}

// end hands the open block of a class to be compressed, and first writes the oldest one if enough
// are under way.
func (w *packWriter) end(class int) error {
	b := &w.open[class]
	if len(b.list) == 0 {
		return nil
	}
	nodes := class == classNodes
	if nodes { // they name entries
		if err := w.end(classEntries); err != nil {
			return err
		}
	}
	if len(w.jobs) == packs.Packers {
		if err := w.writeOldest(); err != nil {
			return err
		}
	}
	list := append(b.list, b.beside...)
	*b = openBlock{list: make([]packs.Object, 0, len(b.list))}
	for i, o := range list {
		if !nodes {
			w.numbers.put(o.ID, w.table.len())
		} else if o.Body != nil { // nodes are not read back, as they have none
			if _, err := soundForm(format.Raw{Header: o.Header, Body: o.Body},
				format.Body.Check); err != nil {
				return fmt.Errorf("cannot pack object %v: %w", o.ID, err)
			}
		}
		w.table.add(list[i].ID, list[i].Header)
	}
	done := make(chan packedBlock, 1)
	w.jobs = append(w.jobs, done)
	if nodes {
		raw, digest := packs.Encode(list, w.key, w.far)
		go func() { done <- w.pack(packs.Nodes, raw, digest, len(list)) }()
		return nil
	}
	go func() {
		raw, digest := packs.Encode(list, w.key, nil)
		b := w.pack(packs.Whole, raw, digest, len(list))
		// What cannot be read back must not take the place of what can.
		if b.err == nil {
			_, b.err = packs.Decode(raw, len(list), digest, w.key, false, nil)
		}
		done <- b
	}()
	return nil
}

func (w *packWriter) far(id format.ID) (uint32, bool) {
	n, ok := w.numbers.get(id)
	return n, ok && n < openHere
}

func (w *packWriter) pack(kind byte, raw []byte, digest format.ID, objects int) packedBlock {
	frame := w.enc.EncodeAll(raw, nil)
	b := packedBlock{
		Block: packs.Block{Kind: kind, Frame: len(frame), Raw: len(raw), Objects: objects,
			Digest: digest}, frame: frame,
	}
	if w.dec != nil {
		var same []byte
		if same, b.err = w.dec.Decode(len(raw), frame); b.err == nil && !bytes.Equal(same, raw) {
			b.err = errors.New("zstd does not give back a block")
		}
	}
	return b
}

func (w *packWriter) writeOldest() error {
	b := <-w.jobs[0]
	w.jobs = w.jobs[1:]
	if b.err != nil {
		return fmt.Errorf("cannot pack objects: %w", b.err)
	}
	return w.writeBlock(b)
}

// writeBlock writes a block behind those before, and behind the head of the pack if it is the first
// one.
func (w *packWriter) writeBlock(b packedBlock) error {
	head, err := packs.AppendBlockHead(nil, b.Block)
	if err != nil {
		return err
	}
	if w.written == 0 {
		head = append(packs.AppendHead(nil, w.key), head...)
	}
	w.blocks = append(w.blocks, b.Block)
	for _, part := range [][]byte{head, b.frame} {
		_, _ = w.parity.Write(part) // never fails
		if err := w.write(part); err != nil {
			return err
		}
	}
	return nil
}

// finish writes what is left and the trailer. It returns the pack's id and its index.
func (w *packWriter) finish() (pack format.ID, index []byte, err error) {
	for class := range w.open {
		if err := w.end(class); err != nil {
			return pack, nil, err
		}
	}
	for len(w.jobs) > 0 {
		if err := w.writeOldest(); err != nil {
			return pack, nil, err
		}
	}
	if err := w.write(w.parity.Bytes()); err != nil {
		return pack, nil, err
	}
	w.sum.Sum(pack[:0])
	if err := w.write(pack[:]); err != nil {
		return pack, nil, err
	}
	if err := w.out.Flush(); err != nil {
		return pack, nil, err
	}
	w.numbers = numbering{} // frees them
	index, _, err = w.table.index(pack, w.blocks)
	if err != nil {
		return pack, nil, fmt.Errorf("cannot index pack: %w", err)
	}
	return pack, index, nil
}
