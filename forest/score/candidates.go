package score

import (
	"cmp"
	"slices"
)

// The bounds that keep the cost of placing independent of how long the history is.
const (
	MaxClusters      = 64  // clusters a unit is compared with: those touched most lately
	MaxConversations = 16  // conversations whose turn-taking is known: those that went on most lately
	maxClusterTerms  = 256 // terms a cluster keeps
	maxMembers       = 24  // authors of a cluster that are known, the latest
	maxPersons       = 96  // authors of a conversation that are known, the latest
)

// Candidates are the clusters that a unit may join and what is known of them, and who spoke to whom in the conversations that go on. They are a
// cache: what was decided with them is recorded, so that a lost or another state changes later decisions only. The zero value is empty.
type Candidates struct {
	clusters []*cluster      // the one touched last first
	convs    []*conversation // the one that went on last first
	common   frequencies
}

// cluster is what is known of a cluster.
type cluster struct {
	number  uint64
	units   int      // units that touched it
	conv    uint64   // conversation of the unit that touched it last
	tick    int      // number of that unit there
	time    int64    // of that unit
	author  uint32   // of that unit
	to      uint32   // whom it spoke to
	flags   flags    // of that unit
	opener  uint32   // author of the first unit
	asked   bool     // the first unit asked, and nobody else has said anything since
	members []member // who spoke in it, the latest first
	terms   []clusterTerm
}

// member is an author in a cluster.
type member struct {
	key  uint32
	n    int    // units of this author
	tick int    // number of the latest
	to   uint32 // whom the author spoke to last in this cluster
}

// clusterTerm is a term of a cluster.
type clusterTerm struct {
	key  uint32
	n    uint16
	last uint32 // units of the cluster when it was last there
}

// conversation is the turn-taking of a conversation.
type conversation struct {
	key     uint64
	tick    int    // units so far
	time    int64  // of the last one whose time is known
	pace    int    // running estimate of the median of log2 of the seconds between units, in 256ths
	named   int    // share of late units that speak to somebody by name, in 256ths
	model   bool   // a model takes part
	cluster uint64 // of the last unit
	run     int    // units since another cluster was touched
	persons []speaker
}

// speaker is an author in a conversation.
type speaker struct {
	key     uint32
	tick    int    // number of the last unit
	time    int64  // of that unit
	cluster uint64 // of that unit
	to      uint32 // whom this author spoke to last
	by      uint32 // who spoke to this author last
	byTick  int
	byIn    uint64 // and where
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

func (k *cluster) member(key uint32) *member {
	if key == 0 {
		return nil
	}
	for i := range k.members {
		if k.members[i].key == key {
			return &k.members[i]
		}
	}
	return nil
}

// Touch records that a unit joined or opened a cluster.
func (c *Candidates) Touch(number uint64, unit []Features) {
	if len(unit) == 0 {
		return
	}
	u := merge(unit)
	v := c.front(u.conv)
	u.addressee = v.addressee(u.Features, nil)
	k := c.frontCluster(number)
	v.note(u, number)
	k.note(u, v.tick)
	c.common.add(u.terms)
}

// front moves a conversation to the front, or begins it.
func (c *Candidates) front(key uint64) *conversation {
	i := slices.IndexFunc(c.convs, func(v *conversation) bool { return v.key == key })
	v := &conversation{key: key}
	if i >= 0 {
		v = c.convs[i]
		c.convs = slices.Delete(c.convs, i, i+1)
	}
	c.convs = slices.Insert(c.convs, 0, v)
	c.convs = c.convs[:min(len(c.convs), MaxConversations)]
	return v
}

// frontCluster moves a cluster to the front, or begins it; the one touched longest ago goes when there are too many.
func (c *Candidates) frontCluster(number uint64) *cluster {
	i := slices.IndexFunc(c.clusters, func(k *cluster) bool { return k.number == number })
	k := &cluster{number: number}
	if i >= 0 {
		k = c.clusters[i]
		c.clusters = slices.Delete(c.clusters, i, i+1)
	}
	c.clusters = slices.Insert(c.clusters, 0, k)
	c.clusters = c.clusters[:min(len(c.clusters), MaxClusters)]
	return k
}

// note records a unit of the conversation.
func (v *conversation) note(u unit, number uint64) {
	v.tick++
	if u.time > 0 {
		if v.time > 0 && v.tick > 1 {
			v.pace += max(-one/4, min(one/4, lg(int(max(u.time-v.time, 0))+1)-v.pace))
		}
		v.time = max(v.time, u.time)
	}
	share := 0
	if u.addressee != 0 {
		share = one
	}
	v.named += (share - v.named) / 16
	v.model = v.model || u.exchange
	v.run++
	if v.cluster != number || v.tick == 1 {
		v.run = 1
	}
	v.cluster = number
	if u.author == 0 {
		return
	}
	s := v.seat(u.author)
	s.tick, s.time, s.cluster = v.tick, v.time, number
	if u.addressee == 0 {
		return
	}
	s.to = u.addressee
	if o := v.speaker(u.addressee); o != nil {
		o.by, o.byTick, o.byIn = u.author, v.tick, number
	}
}

// seat moves an author to the front, or adds one; the one who was silent longest goes when there are too many.
func (v *conversation) seat(key uint32) *speaker {
	i := slices.IndexFunc(v.persons, func(s speaker) bool { return s.key == key })
	s := speaker{key: key}
	if i >= 0 {
		s = v.persons[i]
		v.persons = slices.Delete(v.persons, i, i+1)
	}
	v.persons = slices.Insert(v.persons, 0, s)
	v.persons = v.persons[:min(len(v.persons), maxPersons)]
	return &v.persons[0]
}

// note records a unit of the cluster, which is unit number tick of its conversation.
func (k *cluster) note(u unit, tick int) {
	k.units++
	if k.units == 1 {
		k.opener = u.author
		k.asked = u.flags&question != 0
	} else if u.author != k.opener {
		k.asked = false
	}
	k.conv, k.tick, k.author, k.to, k.flags = u.conv, tick, u.author, u.addressee, u.flags
	if u.time > 0 {
		k.time = u.time
	}
	k.sit(u, tick)
	k.learn(u.terms)
}

// sit moves the author of a unit to the front of the members.
func (k *cluster) sit(u unit, tick int) {
	if u.author == 0 {
		return
	}
	i := slices.IndexFunc(k.members, func(m member) bool { return m.key == u.author })
	m := member{key: u.author}
	if i >= 0 {
		m = k.members[i]
		k.members = slices.Delete(k.members, i, i+1)
	}
	m.n, m.tick = m.n+1, tick
	if u.addressee != 0 {
		m.to = u.addressee
	}
	k.members = slices.Insert(k.members, 0, m)
	k.members = k.members[:min(len(k.members), maxMembers)]
}

// learn adds terms to the cluster. Beyond its bound those go that are rarest and were there longest ago: an occurrence more is worth 16 units of age.
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
			sum = append(sum, clusterTerm{key: b[0].key, n: uint16(min(int(old[0].n)+int(b[0].n), maxCount)), last: now})
			old, b = old[1:], b[1:]
		}
	}
	if len(sum) > maxClusterTerms {
		worth := func(t clusterTerm) int { return int(t.last) + 16*min(int(t.n), 16) }
		slices.SortFunc(sum, func(x, y clusterTerm) int {
			return cmp.Or(cmp.Compare(worth(y), worth(x)), cmp.Compare(x.key, y.key))
		})
		sum = sum[:maxClusterTerms]
		slices.SortFunc(sum, func(x, y clusterTerm) int { return cmp.Compare(x.key, y.key) })
	}
	k.terms = sum
}

// count returns how often a term is in the cluster.
func (k *cluster) count(key uint32) int {
	i, ok := slices.BinarySearchFunc(k.terms, key, func(t clusterTerm, key uint32) int { return cmp.Compare(t.key, key) })
	if !ok {
		return 0
	}
	return int(k.terms[i].n)
}
