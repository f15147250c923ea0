package score

import "slices"

// Place decides which cluster a unit joins; joined is false if it opens a new one. ahead holds the
// known later messages of the same conversation, in order. threshold is the probability from which
// joining beats opening: 0 always joins if there is a cluster, 1 always opens. Place changes
// nothing. The same arguments give the same decision on every platform.
func (c *Candidates) Place(
	messages, ahead []Features, threshold float64,
) (number uint64, joined bool) {
	if len(messages) == 0 || len(c.clusters) == 0 {
		return 0, false
	}
	s := c.scene(messages, ahead)
	if s.meeting(ahead) {
		return s.conv.cluster, s.stay(len(ahead)) >= logit(threshold)
	}
	best, at := 0, -1
	for i := range c.clusters {
		if score := s.join(i).score(); at < 0 || score > best {
			best, at = score, i
		}
	}
	if best-s.open().score() < logit(threshold) {
		return 0, false
	}
	return c.clusters[at].number, true
}

// vector holds the value of every sign, in 256ths.
type vector [numSigns]int

// score returns the weighted sum of the signs, in 256ths.
func (x vector) score() int {
	sum := 0
	for i, w := range weights {
		sum += w * x[i]
	}
	return sum / one
}

const (
	minute     = 60 // seconds
	manyPauses = 8  // pauses that are enough to tell a pace
)

// beat returns the number of seconds that count as one minute. It is 60 in quick talk and more
// where messages are hours apart, as in comments on an issue, where a silent day ends no topic. It
// is twice the pause that three in four pauses exceed, among the messages ahead, or in the past if
// few are ahead.
func beat(v *conversation, f Features, ahead []Features) int {
	pauses := make([]int, 0, 32)
	last := f.time
	for _, m := range ahead {
		if m.time > 0 && last > 0 {
			pauses = append(pauses, int(max(m.time-last, 0)))
		}
		last = max(last, m.time)
	}
	pace := 0
	switch {
	case len(pauses) >= manyPauses:
		slices.Sort(pauses)
		pace = pauses[len(pauses)/4]
	case v != nil:
		pace = 1 << min(v.pace/one, 30)
	}
	return max(minute, 2*pace)
}

// In a meeting, few people talk one after the other and hardly ever address anybody by name. Topics
// are long and follow each other. Neither words nor people tell where a topic ends, because
// everybody speaks all the time and a dip in similarity is as common inside a topic as at its end.
// Only the amount of talk tells. Comments that come hours apart, as on an issue, are treated the
// same way: every comment has another author, and all belong together.
const (
	enough   = 24      // messages, past and ahead, that are enough to tell the style
	perNamed = 40      // at most one message in this many addresses somebody by name
	minTable = 3       // smallest number of people; two are a dialogue
	maxTable = 12      // largest number of people
	slow     = 10 * 60 // the value of beat from which talk counts as comments
	// Words of a topic: eight meetings scored best at 4250, 4000 to 5000 within 0.03 of that
	topicSize = 4500
	turnSize  = 1500    // words that count for the announcement of another item of business
	lastWords = 8       // the last known messages, which open no topic
	silence   = 6 * one // log2 of the minutes of silence after which every message opens a topic
	sure      = 8 * one // a score that leaves no doubt
)

// meeting reports whether the unit is part of a meeting.
func (s *scene) meeting(ahead []Features) bool {
	if s.u.exchange || s.conv == nil || s.conv.model || !s.c.Has(s.conv.cluster) {
		return false
	}
	said, named := s.conv.said+1+len(ahead), s.conv.named
	if s.u.spoken {
		named++
	}
	for _, m := range ahead {
		if m.role != people {
			return false
		}
		if _, spoken := s.conv.addressee(m, ahead); spoken {
			named++
		}
	}
	if s.beat >= slow {
		return true
	}
	return said >= enough && named*perNamed <= said && s.crowd >= minTable && s.crowd <= maxTable
}

// stay returns the score of the meeting's current cluster, relative to a new one. ahead is the
// number of known later messages.
func (s *scene) stay(ahead int) int {
	if s.gap > silence {
		return -sure
	}
	if ahead < lastWords {
		return sure
	}
	said := s.conv.run
	if s.u.flags&turn != 0 {
		said += turnSize
	}
	return (topicSize - said) * one / 1000
}

// unit is placed as a whole: it is one message, or the messages of one exchange.
type unit struct {
	Features
	addressee uint32
	prompt    bag  // terms of the first message
	spoken    bool // the form of the text addresses the addressee
	exchange  bool // a model or a tool takes part, or an author is unknown
}

// merge combines the messages of a unit. Author, addressee and time are those of the first message.
func merge(messages []Features) unit {
	u := unit{Features: messages[0], prompt: messages[0].terms}
	for i, m := range messages {
		// With an unknown author, talk is treated like that between a user and a model: only words
		// count.
		u.exchange = u.exchange || m.role != people || m.author == 0
		if i > 0 {
			u.terms = u.terms.plus(m.terms)
		}
	}
	return u
}

// addressee returns the author whom a message addresses by name, or 0. A word counts as a name if
// an author of that name has spoken in the conversation or speaks in the messages ahead. spoken
// reports whether the form of the text shows the address.
func (v *conversation) addressee(f Features, ahead []Features) (who uint32, spoken bool) {
	known := func(k uint32) bool {
		if k == f.author {
			return false
		}
		if v.speaker(k) != nil {
			return true
		}
		for i := range ahead {
			if ahead[i].author == k {
				return true
			}
		}
		return false
	}
	for _, k := range f.to {
		if known(k) {
			return k, true
		}
	}
	for _, k := range f.names {
		if known(k) {
			return k, false
		}
	}
	return 0, false
}
