package score

import "slices"

// The bounds that keep the cost of placing a unit independent of the length of the history.
const (
	MaxClusters      = 64  // clusters that a unit is compared with: the most recently touched
	MaxConversations = 16  // conversations whose turn-taking is known: the most recent
	maxClusterTerms  = 256 // terms a cluster keeps
	maxMembers       = 24  // known authors of a cluster, the latest
	late             = 128 // units of a conversation after which the counts of its style are halved
	maxPersons       = 96  // known authors of a conversation, the latest
)

// Candidates holds the clusters that a unit may join, and the turn-taking in current conversations.
// It is a cache: decisions are recorded elsewhere, so a lost or different state only affects later
// decisions. The zero value is empty.
type Candidates struct {
	clusters []*cluster      // the most recently touched first
	convs    []*conversation // the most recently active first
	common   frequencies
}

// cluster is what is known of one candidate.
type cluster struct {
	number  uint64
	units   int      // number of units that touched it
	conv    uint64   // conversation of the last unit
	tick    int      // number of the last unit in that conversation
	time    int64    // of the last unit
	author  uint32   // of the last unit
	to      uint32   // addressee of the last unit
	members []uint32 // authors, the latest first
	terms   []clusterTerm
	// A Bloom filter with one bit per term, for quick negative answers
	sieve [sieveBits / 64]uint64
}

const sieveBits = 1 << 11

// clusterTerm is a term of a cluster.
type clusterTerm struct {
	key  uint32
	n    uint16
	last uint32 // number of units of the cluster when the term last occurred
}

// conversation is the turn-taking of a conversation.
type conversation struct {
	key  uint64
	tick int   // number of units so far
	time int64 // the latest time of a unit
	// pace estimates the log2, in 256ths, of the pause in seconds that three in four pauses exceed.
	pace    int
	said    int    // recent units
	named   int    // recent units that address somebody by name
	model   bool   // a model takes part
	cluster uint64 // of the last unit
	run     int    // words since the units moved to this cluster
	persons []speaker
}

// speaker is an author in a conversation.
type speaker struct {
	key     uint32
	tick    int    // number of the author's last unit
	time    int64  // time of the conversation at that unit
	cluster uint64 // cluster of that unit
}

// Has reports whether a cluster is among the candidates.
func (c *Candidates) Has(number uint64) bool { return c.find(number) != nil }

func (c *Candidates) find(number uint64) *cluster {
	for _, k := range c.clusters {
		if k.number == number {
			return k
		}
	}
	return nil
}

func (c *Candidates) conversation(key uint64) *conversation {
	for _, v := range c.convs {
		if v.key == key {
			return v
		}
	}
	return nil
}

func (v *conversation) speaker(key uint32) *speaker {
	if v == nil || key == 0 {
		return nil
	}
	for i := range v.persons {
		if v.persons[i].key == key {
			return &v.persons[i]
		}
	}
	return nil
}

// lastIn reports whether the last unit of an author is in the cluster.
func (v *conversation) lastIn(author uint32, k *cluster) bool {
	p := v.speaker(author)
	return p != nil && p.cluster == k.number
}

// crowd returns the number of people who spoke recently, including the author of the unit. lately
// is a number of seconds.
func (v *conversation) crowd(u unit, lately int64) int {
	n := 1
	if v == nil {
		return n
	}
	for _, p := range v.persons {
		if p.key != u.author && p.tick+fewBack >= v.tick && p.time+lately > u.time {
			n++
		}
	}
	return n
}

// has reports whether an author has spoken in the cluster.
func (k *cluster) has(author uint32) bool {
	return author != 0 && slices.Contains(k.members, author)
}

// Touch records that a unit joined or opened a cluster.
func (c *Candidates) Touch(number uint64, unit []Features) {
	if len(unit) == 0 {
		return
	}
	u := merge(unit)
	v := c.front(u.conv)
	u.addressee, u.spoken = v.addressee(u.Features, nil)
	k := c.frontCluster(number)
	v.note(u, number)
	k.note(u, v.tick)
	c.common.add(u.terms)
}

// front moves a conversation to the front of the list, or adds it there. A full list loses the
// conversation that was silent longest.
func (c *Candidates) front(key uint64) *conversation {
	i, v := slices.IndexFunc(c.convs, func(v *conversation) bool { return v.key == key }),
		&conversation{key: key}
	if i >= 0 {
		v = c.convs[i]
	}
	c.convs = toFront(c.convs, i, v, MaxConversations)
	return v
}

// frontCluster moves a cluster to the front of the list, or adds it there. A full list loses the
// cluster that was touched longest ago.
func (c *Candidates) frontCluster(number uint64) *cluster {
	i, k := slices.IndexFunc(c.clusters, func(k *cluster) bool { return k.number == number }),
		&cluster{number: number}
	if i >= 0 {
		k = c.clusters[i]
	}
	c.clusters = toFront(c.clusters, i, k, MaxClusters)
	return k
}

// note records a unit of the conversation, which went to the cluster number.
func (v *conversation) note(u unit, number uint64) {
	v.tick++
	if v.time > 0 && u.time > 0 {
		v.follow(lg(int(max(u.time-v.time, 0)) + 1))
	}
	v.time = max(v.time, u.time)
	if v.said++; u.spoken {
		v.named++
	}
	if v.said == late {
		v.said, v.named = v.said/2, v.named/2
	}
	v.model = v.model || u.exchange
	if v.cluster != number || v.tick == 1 {
		v.run = 0
	}
	v.run = min(v.run+int(u.words), maxTick)
	v.cluster = number
	if u.author != 0 {
		i := slices.IndexFunc(v.persons, func(p speaker) bool { return p.key == u.author })
		v.persons = toFront(v.persons, i,
			speaker{key: u.author, tick: v.tick, time: v.time, cluster: number}, maxPersons)
	}
}

// follow moves the pace towards a pause. A step down is three times as long as a step up, so the
// pace settles where three in four pauses exceed it.
func (v *conversation) follow(pause int) {
	const step = one / 4
	if pause > v.pace {
		v.pace = min(v.pace+step, pause)
	} else {
		v.pace = max(v.pace-3*step, pause)
	}
}

// note records a unit of the cluster, which has the number tick in its conversation.
func (k *cluster) note(u unit, tick int) {
	k.units++
	k.conv, k.tick, k.author, k.to = u.conv, tick, u.author, u.addressee
	if u.time > 0 {
		k.time = u.time
	}
	if u.author != 0 {
		k.members = toFront(k.members, slices.Index(k.members, u.author), u.author, maxMembers)
	}
	k.learn(u.terms)
}

// toFront moves x to the front of a list of at most limit elements. x replaces the element at i; a
// negative i means that x is new.
func toFront[T any](list []T, i int, x T, limit int) []T {
	if i < 0 {
		if len(list) == limit {
			list = list[:limit-1]
		}
		return slices.Insert(list, 0, x)
	}
	copy(list[1:i+1], list[:i])
	list[0] = x
	return list
}

// learn adds terms to the cluster. Beyond the limit, the terms of the least worth are dropped.
func (k *cluster) learn(b bag) {
	now := uint32(k.units)
	sum := make([]clusterTerm, 0, len(k.terms)+len(b))
	old := k.terms
	for len(old) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(old) > 0 && old[0].key < b[0].key:
			sum, old = append(sum, old[0]), old[1:]
		case len(old) == 0 || old[0].key > b[0].key:
			sum, b = append(sum, clusterTerm{key: b[0].key, n: b[0].n, last: now}), b[1:]
		default:
			sum = append(sum,
				clusterTerm{key: b[0].key, n: uint16(min(int(old[0].n)+int(b[0].n), maxCount)),
					last: now})
			old, b = old[1:], b[1:]
		}
	}
	k.terms = keepBest(sum, now)
	k.sift()
}

// keepBest returns the maxClusterTerms terms of the greatest worth; at equal worth, the smaller
// keys stay. It counts the terms of each worth instead of sorting them.
func keepBest(list []clusterTerm, now uint32) []clusterTerm {
	excess := len(list) - maxClusterTerms
	if excess <= 0 {
		return list
	}
	var having [maxWorth + 1]int
	for _, t := range list {
		having[t.worth(now)]++
	}
	limit := 0 // the lowest worth at which some terms stay
	for ; excess >= having[limit]; limit++ {
		excess -= having[limit]
	}
	stay := having[limit] - excess
	kept := list[:0]
	for _, t := range list {
		switch x := t.worth(now); {
		case x > limit:
			kept = append(kept, t)
		case x == limit && stay > 0:
			kept = append(kept, t)
			stay--
		}
	}
	return kept
}

const maxWorth = 16*16 + 255

// worth returns how valuable a term is to a cluster that now has the given number of units. One
// more occurrence, up to 16, outweighs 16 more units of age.
func (t clusterTerm) worth(now uint32) int {
	return 16*min(int(t.n), 16) + 255 - int(min(now-t.last, 255))
}

// sift computes the sieve of the cluster's terms.
func (k *cluster) sift() {
	k.sieve = [sieveBits / 64]uint64{}
	for _, t := range k.terms {
		k.sieve[t.key>>1%sieveBits/64] |= 1 << (t.key >> 1 % 64)
	}
}

// contains reports whether the cluster has a term.
func (k *cluster) contains(key uint32) bool {
	if k.sieve[key>>1%sieveBits/64]&(1<<(key>>1%64)) == 0 {
		return false
	}
	low, high := 0, len(k.terms)
	for low < high {
		mid := (low + high) / 2
		if k.terms[mid].key < key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low < len(k.terms) && k.terms[low].key == key
}
