package score

// scene is the common input of all scores: the unit, and what the conversation and the messages
// ahead show about it.
type scene struct {
	c     *Candidates
	u     unit
	conv  *conversation // nil at the first unit of a conversation
	me    *speaker      // nil for a new author
	words query         // the terms of the unit
	// And those of what its author says next, and of what is next said to the author
	ahead  query
	prompt query  // the terms of the first message of an exchange
	votes  votes  // of the terms of an exchange
	nextTo uint32 // whom the author addresses next
	nextBy uint32 // who addresses the author next
	beat   int    // number of seconds that count as one minute
	gap    int    // log2 of the minutes since the conversation's last message
	crowd  int    // people who spoke recently
	calm   int    // 1 for up to three of them, 0 for eight or more
}

const (
	// Messages ahead that belong to the unit if they are by its author or to its author
	near    = 12
	soon    = 10 * 60 // seconds within which they come
	lately  = 20      // minutes for which a speaker is part of the crowd
	fewBack = 40      // messages for which a speaker is part of the crowd
	// Largest count of messages since a cluster's last one, and the count for other conversations
	farAway = 64
)

func (c *Candidates) scene(messages, ahead []Features) *scene {
	s := &scene{c: c, u: merge(messages)}
	s.conv = c.conversation(s.u.conv)
	s.u.addressee, s.u.spoken = s.conv.addressee(s.u.Features, ahead)
	s.me = s.conv.speaker(s.u.author)
	s.beat = beat(s.conv, s.u.Features, ahead)
	if s.conv != nil {
		s.gap = s.minutes(s.conv.time)
	}
	s.words = c.query(s.u.terms)
	if s.u.exchange {
		s.prompt = c.query(s.u.prompt)
		s.votes = s.words.votes()
		return s
	}
	s.crowd = s.conv.crowd(s.u, int64(lately*s.beat))
	s.calm = max(0, min(one, (8-s.crowd)*one/5))
	s.ahead = s.words
	if next := s.lookAhead(ahead); len(next) > len(s.u.terms) {
		s.ahead = c.query(next)
	}
	return s
}

// minutes returns log2 of the minutes between a time and the unit's time, or 0 if a time is
// unknown.
func (s *scene) minutes(from int64) int {
	if from == 0 || s.u.time == 0 {
		return 0
	}
	return lg(int(max(s.u.time-from, 0))/s.beat + 1)
}

// lookAhead finds whom the author addresses next, and who addresses the author. It returns the
// terms of these messages together with those of the unit.
func (s *scene) lookAhead(ahead []Features) bag {
	next := s.u.terms
	if s.u.author == 0 {
		return next
	}
	for _, m := range ahead[:min(len(ahead), near)] {
		if m.time > s.u.time+soon {
			break
		}
		to, _ := s.conv.addressee(m, ahead)
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
	return next
}

// open returns the signs for a new cluster.
func (s *scene) open() (x vector) {
	if s.u.exchange {
		x[openModel] = one
		x[openModelNovel] = s.votes.none()
		return x
	}
	x[openAlways] = one
	x[openNewAuthor] = yes(s.me == nil && s.u.author != 0)
	x[openGreeting] = yes(s.u.flags&greeting != 0)
	x[openQuestionPlain] = yes(s.u.flags&question != 0 && s.u.addressee == 0)
	x[openAck] = yes(s.u.flags&ack != 0)
	x[openAddressed] = yes(s.u.addressee != 0)
	x[openAhead] = yes(s.nextBy != 0)
	x[openGap] = s.gap
	x[openCalm] = s.calm
	return x
}

// join returns the signs for the cluster with an index.
func (s *scene) join(at int) (x vector) {
	k := s.c.clusters[at]
	if s.u.exchange {
		last := s.conv != nil && s.conv.cluster == k.number
		x[joinExchangeWords] = s.words.like(at)
		x[joinExchangeVote] = s.votes.share(at)
		x[joinExchangePrompt] = s.prompt.like(at)
		x[joinExchangeLast] = yes(last)
		x[joinExchangeLastAck] = yes(last && s.u.flags&ack != 0)
		x[joinExchangeSize] = lg(k.units)
		return x
	}
	s.people(k, &x)
	s.times(k, &x)
	crowd := one - s.calm
	x[joinAuthorCrowd] = x[joinAuthor] * crowd / one
	x[joinAuthorLong] = x[joinAuthor] * x[joinLong] / one
	x[joinAheadWords] = s.ahead.like(at)
	x[joinWordsCrowd] = (s.words.like(at) + x[joinAheadWords]) / 2 * crowd / one
	x[joinSize] = lg(k.units)
	return x
}

// people sets the signs that depend on who addresses whom.
func (s *scene) people(k *cluster, x *vector) {
	me := k.has(s.u.author)
	x[joinAuthor] = yes(me)
	x[joinAuthorLastPlain] = yes(s.u.addressee == 0 && s.conv.lastIn(s.u.author, k))
	x[joinSelf] = yes(s.u.author != 0 && k.author == s.u.author)
	if s.u.addressee != 0 {
		there := k.has(s.u.addressee)
		x[joinTo], x[joinToAbsent] = yes(there), yes(!there)
	} else {
		x[joinAheadTo] = yes(s.conv.lastIn(s.nextTo, k))
	}
	x[joinAheadBy] = yes(s.conv.lastIn(s.nextBy, k))
	x[joinReply] = yes(s.u.author != 0 && k.to == s.u.author)
	x[joinOthers] = yes(!me && len(k.members) > 1 && k.to != 0 && k.to != s.u.author)
}

// times sets the signs that depend on the time since the cluster's last unit.
func (s *scene) times(k *cluster, x *vector) {
	since := farAway
	if s.conv != nil && k.conv == s.conv.key {
		since = min(max(s.conv.tick-k.tick, 0), farAway)
	}
	x[joinSince] = lg(since + 1)
	x[joinMinutes] = s.minutes(k.time)
	x[joinLong] = max(x[joinMinutes]-5*one, 0)
}

// yes returns 1 for true and 0 for false, in 256ths.
func yes(b bool) int {
	if b {
		return one
	}
	return 0
}
