package score

// scene is what all clusters are compared against: the unit, and what the conversation and the messages ahead say about it.
type scene struct {
	c        *Candidates
	u        unit
	conv     *conversation // nil at the first unit of a conversation
	me       *speaker      // nil for a new author
	other    *speaker      // the addressee, nil if there is none or one who has not spoken
	query    query
	ahead    query // the unit with what its author says next and what is said to them
	nextTo   uint32
	nextBy   uint32
	gap      int // log2 of the minutes since the conversation went on
	quiet    int // by how much that is more than its pace
	answered bool
}

// near is how many messages ahead belong together with one of the same author.
const near = 12

func (c *Candidates) scene(messages, ahead []Features) *scene {
	s := &scene{c: c, u: merge(messages)}
	s.conv = c.conversation(s.u.conv)
	s.u.addressee = s.conv.addressee(s.u.Features, ahead)
	s.me = s.conv.speaker(s.u.author)
	s.other = s.conv.speaker(s.u.addressee)
	if s.conv != nil && s.conv.time > 0 && s.u.time > 0 {
		wait := int(max(s.u.time-s.conv.time, 0))
		s.gap = lg(wait/60 + 1)
		s.quiet = max(lg(wait+1)-s.conv.pace-2*one, 0)
	}
	next := s.u.terms
	if s.u.author != 0 && !s.u.exchange {
		for i, m := range ahead {
			if i >= near || m.time > s.u.time+600 {
				break
			}
			to := s.conv.addressee(m, ahead)
			switch {
			case m.author == s.u.author:
				if s.nextTo == 0 {
					s.nextTo = to
				}
				next = next.plus(m.terms)
			case to == s.u.author:
				if s.nextBy == 0 {
					s.nextBy = m.author
				}
				next = next.plus(m.terms)
			}
		}
	}
	s.query = c.common.query(s.u.terms)
	s.ahead = s.query
	if len(next) > len(s.u.terms) {
		s.ahead = c.common.query(next)
	}
	return s
}

func yes(b bool) int {
	if b {
		return one
	}
	return 0
}

// open returns the signs for a new cluster.
func (s *scene) open() (x vector) {
	x[openAlways] = one
	if s.u.exchange {
		x[openModel] = one
		return x
	}
	x[openNewAuthor] = yes(s.me == nil)
	x[openGreeting] = yes(s.u.flags&greeting != 0)
	x[openQuestion] = yes(s.u.flags&question != 0)
	x[openAddressed] = yes(s.u.addressee != 0)
	x[openGap] = s.gap
	x[openQuiet] = s.quiet
	x[openAhead] = yes(s.nextBy != 0)
	x[openAck] = yes(s.u.flags&ack != 0)
	return x
}

// join returns the signs for a cluster.
func (s *scene) join(k *cluster) (x vector) {
	same := s.conv != nil && k.conv == s.u.conv
	since := 64
	if same {
		since = min(max(s.conv.tick-k.tick, 0), 64)
	}
	last := same && s.conv.cluster == k.number
	if s.u.exchange {
		x[joinExchangeWords] = s.query.like(k)
		x[joinExchangeMarks] = s.query.marks().like(k)
		x[joinExchangeLast] = yes(last)
		x[joinExchangeSince] = lg(since + 1)
		return x
	}
	me := k.member(s.u.author)
	x[joinAuthor] = yes(me != nil)
	mine := s.me != nil && s.me.cluster == k.number
	x[joinAuthorLast] = yes(mine)
	x[joinAuthorLastPlain] = yes(mine && s.u.addressee == 0)
	if s.u.addressee != 0 {
		there := k.member(s.u.addressee) != nil
		x[joinTo] = yes(there)
		x[joinToAbsent] = yes(!there)
		x[joinToLast] = yes(s.other != nil && s.other.cluster == k.number)
	}
	x[joinPending] = yes(s.me != nil && s.me.byTick > s.me.tick && s.me.byIn == k.number)
	for i := range k.members {
		if k.members[i].to == s.u.author && s.u.author != 0 {
			x[joinSpokenTo] = one
		}
	}
	x[joinWords] = s.query.like(k)
	x[joinSince] = lg(since + 1)
	if s.u.time > 0 && k.time > 0 {
		x[joinMinutes] = lg(int(max(s.u.time-k.time, 0))/60 + 1)
	}
	x[joinOthers] = yes(me == nil && len(k.members) > 1 && k.to != 0 && k.to != s.u.author)
	x[joinLast] = yes(last)
	x[joinLastAck] = yes(last && s.u.flags&ack != 0)
	x[joinAsked] = yes(k.asked && k.opener != s.u.author && s.u.flags&question == 0)
	if s.nextTo != 0 && s.u.addressee == 0 {
		x[joinAheadTo] = yes(k.member(s.nextTo) != nil)
		if o := s.conv.speaker(s.nextTo); o != nil {
			x[joinAheadToLast] = yes(o.cluster == k.number)
		}
	}
	if s.nextBy != 0 {
		if o := s.conv.speaker(s.nextBy); o != nil {
			x[joinAheadBy] = yes(o.cluster == k.number)
		}
	}
	x[joinAheadWords] = s.ahead.like(k)
	return x
}
