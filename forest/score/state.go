package score

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// Append appends the encoded candidates to dst: about 100 KiB when all bounds are reached.
func (c *Candidates) Append(dst []byte) []byte {
	size := 64 + 2*len(c.common.counts)
	for _, k := range c.clusters {
		size += 64 + 4*len(k.members) + 8*len(k.terms)
	}
	for _, v := range c.convs {
		size += 64 + 16*len(v.persons)
	}
	dst = slices.Grow(dst, size) // more than most need
	dst = binary.AppendUvarint(dst, uint64(len(c.clusters)))
	for _, k := range c.clusters {
		dst = k.append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(c.convs)))
	for _, v := range c.convs {
		dst = v.append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(c.common.units))
	if c.common.units == 0 {
		return dst
	}
	for _, n := range c.common.counts {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

// DecodeCandidates decodes the output of Append and refuses everything else.
func DecodeCandidates(b []byte) (*Candidates, error) {
	r := reader{varint.Reader{Rest: b}}
	c := &Candidates{}
	for n := r.max(MaxClusters); n > 0 && r.Err == nil; n-- {
		k := r.cluster()
		r.want(c.find(k.number) == nil)
		c.clusters = append(c.clusters, k)
	}
	for n := r.max(MaxConversations); n > 0 && r.Err == nil; n-- {
		v := r.conversation()
		r.want(c.conversation(v.key) == nil)
		c.convs = append(c.convs, v)
	}
	if c.common.units = int(r.max(maxUnits - 1)); c.common.units > 0 && r.Err == nil {
		c.common.counts = make([]uint16, buckets)
		r.counts(c.common.counts)
	}
	if r.Err != nil || len(r.Rest) > 0 {
		return nil, errCandidates
	}
	return c, nil
}

// counts reads one count for each bucket. Most are below 128, and so one byte.
func (r *reader) counts(to []uint16) {
	for i := range to {
		if len(r.Rest) > 0 && r.Rest[0] < 0x80 {
			to[i], r.Rest = uint16(r.Rest[0]), r.Rest[1:]
			continue
		}
		to[i] = uint16(r.max(maxUnits))
	}
}

var errCandidates = errors.New("candidates: damaged")

// maxTick bounds the decoded counters of units.
const maxTick = 1 << 40

func (k *cluster) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, k.number)
	dst = binary.AppendUvarint(dst, uint64(k.units))
	dst = binary.BigEndian.AppendUint64(dst, k.conv)
	dst = binary.AppendUvarint(dst, uint64(k.tick))
	dst = binary.AppendVarint(dst, k.time)
	dst = binary.BigEndian.AppendUint32(dst, k.author)
	dst = binary.BigEndian.AppendUint32(dst, k.to)
	dst = appendKeys(dst, k.members)
	dst = binary.AppendUvarint(dst, uint64(len(k.terms)))
	last := uint32(0)
	for _, t := range k.terms {
		dst = binary.AppendUvarint(dst, uint64(t.key-last))
		dst = binary.AppendUvarint(dst, uint64(t.n))
		dst = binary.AppendUvarint(dst, uint64(t.last))
		last = t.key
	}
	return dst
}

func (r *reader) cluster() *cluster {
	k := &cluster{number: r.max(1<<64 - 1), units: int(r.max(maxTick)), conv: r.Uint64(),
		tick: int(r.max(maxTick)), time: r.Varint()}
	k.author, k.to, k.members = r.Uint32(), r.Uint32(), r.keys(maxMembers)
	for i, m := range k.members {
		r.want(m != 0 && !slices.Contains(k.members[:i], m))
	}
	last := uint64(0)
	n := r.max(maxClusterTerms)
	if n > 0 && n <= uint64(len(r.Rest)) {
		k.terms = make([]clusterTerm, 0, n)
	}
	for ; n > 0 && r.Err == nil; n-- {
		last += r.max(1<<32 - 1)
		t := clusterTerm{key: uint32(last), n: uint16(r.max(maxCount)),
			last: uint32(r.max(1<<32 - 1))}
		r.want(
			last <= 1<<32-1 && t.n > 0 &&
				(len(k.terms) == 0 || t.key > k.terms[len(k.terms)-1].key))
		k.terms = append(k.terms, t)
	}
	k.sift()
	return k
}

func (v *conversation) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, v.key)
	dst = binary.AppendUvarint(dst, uint64(v.tick))
	dst = binary.AppendVarint(dst, v.time)
	dst = binary.AppendUvarint(dst, uint64(v.pace))
	dst = append(dst, byte(v.said), byte(v.named))
	dst = append(dst, flag(v.model))
	dst = binary.AppendUvarint(dst, v.cluster)
	dst = binary.AppendUvarint(dst, uint64(v.run))
	dst = binary.AppendUvarint(dst, uint64(len(v.persons)))
	for _, s := range v.persons {
		dst = binary.BigEndian.AppendUint32(dst, s.key)
		dst = binary.AppendUvarint(dst, uint64(s.tick))
		dst = binary.AppendVarint(dst, s.time)
		dst = binary.AppendUvarint(dst, s.cluster)
	}
	return dst
}

func (r *reader) conversation() *conversation {
	v := &conversation{key: r.Uint64(), tick: int(r.max(maxTick)), time: r.Varint(),
		pace: int(r.max(64 * one)), said: int(r.max(late - 1)), named: int(r.max(late - 1))}
	v.model, v.cluster, v.run = r.max(1) == 1, r.max(1<<64-1), int(r.max(maxTick))
	for n := r.max(maxPersons); n > 0 && r.Err == nil; n-- {
		s := speaker{key: r.Uint32(), tick: int(r.max(maxTick)), time: r.Varint(),
			cluster: r.max(1<<64 - 1)}
		r.want(s.key != 0 && v.speaker(s.key) == nil)
		v.persons = append(v.persons, s)
	}
	return v
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
