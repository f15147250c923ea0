package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"sort"

	"github.com/gemini-ctx/ctx/format"
)

// Behind its blocks a pack has what restores a damaged part of them. The bytes before are cut into
// segments, and these into sectors. The sectors i, i + g, i + 2g … of a segment are one of its g
// groups, and the parity of a group is the exclusive or of its sectors. So of each group one sector
// can be lost, and of a segment g neighbours: a page of 4 KiB of a disk, wherever it lies.
const (
	sectorSize     = 1024 // bytes; the last sector may be shorter
	segmentGroups  = 5    // groups of a segment; a short one has fewer, see groupsOf
	segmentSectors = 128 * segmentGroups
	segmentSize    = segmentSectors * sectorSize
	shortGroup     = 16 // sectors of a group of a short segment, at most

	parityKind = 'p'   // begins the part, where a block begins with its kind
	parityFoot = 8 + 4 // bytes: length of what is protected, CRC
)

func sectorsOf(n int64) int64 { return (n + sectorSize - 1) / sectorSize }

// groupsOf returns the number of groups of a segment of n bytes.
func groupsOf(n int64) int {
	return int(min(segmentGroups, (sectorsOf(n)+shortGroup-1)/shortGroup))
}

// widthOf returns the length of the parities of a segment of n bytes.
func widthOf(n int64) int { return int(min(sectorSize, n)) }

// paritySize returns how many bytes protect n bytes: the kind, the parity of each group, the CRC of
// each sector and of each parity, and the foot.
func paritySize(n int64) int64 {
	full, last := n/segmentSize*segmentGroups, n%segmentSize
	groups := int64(groupsOf(last))
	return 1 + full*sectorSize + groups*int64(widthOf(last)) +
		4*(sectorsOf(n)+full+groups) + parityFoot
}

// Parity makes the part that protects what is written to it. The zero value is ready.
type Parity struct {
	n                      int64
	segment                []byte
	parities, crcs, ofEach []byte // CRCs of sectors, and of parities
}

// Write takes bytes of a pack. It never fails.
func (p *Parity) Write(b []byte) (int, error) {
	written := len(b)
	p.n += int64(written)
	for len(b) > 0 {
		n := min(len(b), segmentSize-len(p.segment))
		p.segment = append(p.segment, b[:n]...)
		b = b[n:]
		if len(p.segment) == segmentSize {
			p.end()
		}
	}
	return written, nil
}

// end adds the parity of the segment.
func (p *Parity) end() {
	size := int64(len(p.segment))
	g, width := groupsOf(size), widthOf(size)
	at := len(p.parities)
	p.parities = append(p.parities, make([]byte, g*width)...)
	for i := 0; i*sectorSize < len(p.segment); i++ {
		sector := p.segment[i*sectorSize : min((i+1)*sectorSize, len(p.segment))]
		p.crcs = appendCRC(p.crcs, sector)
		xor(p.parities[at+i%g*width:], sector)
	}
	for i := range g {
		p.ofEach = appendCRC(p.ofEach, p.parities[at+i*width:at+(i+1)*width])
	}
	p.segment = p.segment[:0]
}

// Bytes ends what is protected and returns the part.
func (p *Parity) Bytes() []byte {
	if len(p.segment) > 0 {
		p.end()
	}
	b := make([]byte, 0, paritySize(p.n))
	b = append(append(append(append(b, parityKind), p.parities...), p.crcs...), p.ofEach...)
	foot := len(b)
	b = binary.BigEndian.AppendUint64(b, uint64(p.n))
	return appendCRC(b, b[foot:])
}

func appendCRC(dst, b []byte) []byte {
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func xor(dst, b []byte) {
	for i, c := range b {
		dst[i] ^= c
	}
}

const errParity = fault("more of the pack is damaged than its parity can restore")

// Restore returns the bytes of a damaged pack as they were, if its parity gives them: they match
// the id. It changes b.
func Restore(b []byte, id format.ID) ([]byte, error) {
	end := int64(len(b)) - Trailer
	if end < parityFoot {
		return nil, errParity
	}
	// The foot may be damaged, too: the length before the parity follows from the length of all.
	n := int64(
		sort.Search(int(end), func(n int) bool { return int64(n)+paritySize(int64(n)) >= end }))
	if n+paritySize(n) != end {
		return nil, errParity
	}
	r := restorer{data: b[:n], rest: b[n+1 : end-parityFoot]}
	b[n] = parityKind
	r.split()
	for at := int64(0); at < n; at += segmentSize {
		r.segment(b[at:min(at+segmentSize, n)])
	}
	// What was damaged of the part itself follows from the blocks.
	var p Parity
	_, _ = p.Write(b[:n])
	copy(b[n:], p.Bytes())
	sum := sha256.Sum256(b[:end])
	copy(b[end:], sum[:])
	if format.ID(sum) != id {
		return nil, errParity
	}
	return b, nil
}

// restorer goes through the segments of a pack.
type restorer struct {
	data, rest             []byte
	parities, crcs, ofEach []byte // of the segments to come
}

func (r *restorer) split() {
	n := int64(len(r.data))
	full, last := n/segmentSize*segmentGroups, n%segmentSize
	parities := full*sectorSize + int64(groupsOf(last)*widthOf(last))
	crcs := 4 * sectorsOf(n)
	r.parities, r.crcs, r.ofEach = r.rest[:parities], r.rest[parities:][:crcs],
		r.rest[parities+crcs:]
}

// segment restores what it can of the next segment.
func (r *restorer) segment(b []byte) {
	g, width := groupsOf(int64(len(b))), widthOf(int64(len(b)))
	bad := make([]int, g) // of each group: 1 + the sector that is damaged; -1 where several are
	sectors := int(sectorsOf(int64(len(b))))
	at := func(i int) []byte { return b[i*sectorSize : min((i+1)*sectorSize, len(b))] }
	for i := range sectors {
		if bytes.Equal(r.crcs[4*i:4*i+4], appendCRC(nil, at(i))) {
			continue
		}
		if bad[i%g] != 0 {
			bad[i%g] = -1
		} else {
			bad[i%g] = i + 1
		}
	}
	for group, one := range bad {
		parity := r.parities[group*width : (group+1)*width]
		if one <= 0 || !bytes.Equal(r.ofEach[4*group:4*group+4], appendCRC(nil, parity)) {
			continue
		}
		sector := bytes.Clone(parity)
		for i := group; i < sectors; i += g {
			if i != one-1 {
				xor(sector, at(i))
			}
		}
		copy(at(one-1), sector)
	}
	r.parities, r.crcs, r.ofEach = r.parities[g*width:], r.crcs[4*sectors:], r.ofEach[4*g:]
}
