package score

import (
	"encoding/binary"
	"errors"
)

// Append adds the candidates as bytes to dst: some 100 KiB when all bounds are reached.
func (c *Candidates) Append(dst []byte) []byte {
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

// DecodeCandidates reads what Append wrote, and nothing else.
func DecodeCandidates(b []byte) (*Candidates, error) {
	r := reader{b: b}
	c := &Candidates{}
	for n := r.max(MaxClusters); n > 0 && !r.bad; n-- {
		k := r.cluster()
		r.bad = r.bad || c.find(k.number) != nil
		c.clusters = append(c.clusters, k)
	}
	for n := r.max(MaxConversations); n > 0 && !r.bad; n-- {
		v := r.conversation()
		r.bad = r.bad || c.conversation(v.key) != nil
		c.convs = append(c.convs, v)
	}
	if c.common.units = int(r.max(maxUnits - 1)); c.common.units > 0 && !r.bad {
		c.common.counts = make([]uint16, buckets)
		for i := range c.common.counts {
			c.common.counts[i] = uint16(r.max(maxUnits))
		}
	}
	if r.bad || len(r.b) > 0 {
		return nil, errCandidates
	}
	return c, nil
}

var errCandidates = errors.New("candidates: damaged")

// maxTick bounds the counters of units.
const maxTick = 1 << 40

func (k *cluster) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, k.number)
	dst = binary.AppendUvarint(dst, uint64(k.units))
	dst = binary.BigEndian.AppendUint64(dst, k.conv)
	dst = binary.AppendUvarint(dst, uint64(k.tick))
	dst = binary.AppendVarint(dst, k.time)
	dst = appendKeys(dst, []uint32{k.author, k.to, k.opener})
	dst = append(dst, byte(k.flags), flag(k.asked))
	dst = binary.AppendUvarint(dst, uint64(len(k.members)))
	for _, m := range k.members {
		dst = appendKeys(dst, []uint32{m.key, m.to})
		dst = binary.AppendUvarint(dst, uint64(m.n))
		dst = binary.AppendUvarint(dst, uint64(m.tick))
	}
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
	k := &cluster{number: r.max(1<<64 - 1), units: int(r.max(maxTick)), conv: r.fixed64(), tick: int(r.max(maxTick)), time: r.signed()}
	r.exactly(&k.author, &k.to, &k.opener)
	k.flags, k.asked = flags(r.max(allFlags)), r.max(1) == 1
	for n := r.max(maxMembers); n > 0 && !r.bad; n-- {
		var m member
		r.exactly(&m.key, &m.to)
		m.n, m.tick = int(r.max(maxTick)), int(r.max(maxTick))
		r.bad = r.bad || m.key == 0 || k.member(m.key) != nil
		k.members = append(k.members, m)
	}
	last := uint64(0)
	for n := r.max(maxClusterTerms); n > 0 && !r.bad; n-- {
		last += r.max(1<<32 - 1)
		t := clusterTerm{key: uint32(last), n: uint16(r.max(maxCount)), last: uint32(r.max(1<<32 - 1))}
		r.bad = r.bad || last > 1<<32-1 || t.n == 0 || len(k.terms) > 0 && t.key <= k.terms[len(k.terms)-1].key
		k.terms = append(k.terms, t)
	}
	return k
}

func (v *conversation) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, v.key)
	dst = binary.AppendUvarint(dst, uint64(v.tick))
	dst = binary.AppendVarint(dst, v.time)
	dst = binary.AppendUvarint(dst, uint64(v.pace))
	dst = binary.AppendUvarint(dst, uint64(v.named))
	dst = append(dst, flag(v.model))
	dst = binary.AppendUvarint(dst, v.cluster)
	dst = binary.AppendUvarint(dst, uint64(v.run))
	dst = binary.AppendUvarint(dst, uint64(len(v.persons)))
	for _, s := range v.persons {
		dst = appendKeys(dst, []uint32{s.key, s.to, s.by})
		dst = binary.AppendUvarint(dst, uint64(s.tick))
		dst = binary.AppendUvarint(dst, uint64(s.byTick))
		dst = binary.AppendVarint(dst, s.time)
		dst = binary.AppendUvarint(dst, s.cluster)
		dst = binary.AppendUvarint(dst, s.byIn)
	}
	return dst
}

func (r *reader) conversation() *conversation {
	v := &conversation{key: r.fixed64(), tick: int(r.max(maxTick)), time: r.signed(), pace: int(r.max(64 * one)), named: int(r.max(one))}
	v.model, v.cluster, v.run = r.max(1) == 1, r.max(1<<64-1), int(r.max(maxTick))
	for n := r.max(maxPersons); n > 0 && !r.bad; n-- {
		var s speaker
		r.exactly(&s.key, &s.to, &s.by)
		s.tick, s.byTick, s.time = int(r.max(maxTick)), int(r.max(maxTick)), r.signed()
		s.cluster, s.byIn = r.max(1<<64-1), r.max(1<<64-1)
		r.bad = r.bad || s.key == 0 || v.speaker(s.key) != nil
		v.persons = append(v.persons, s)
	}
	return v
}

// exactly reads as many keys as it is given places.
func (r *reader) exactly(places ...*uint32) {
	r.bad = r.max(uint64(len(places))) != uint64(len(places)) || r.bad
	for _, p := range places {
		*p = r.fixed32()
	}
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
