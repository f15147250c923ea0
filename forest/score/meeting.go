package score

// A meeting is talk in which hardly anybody is spoken to by name, among few people, one after the other. Its topics are long and follow each other,
// and neither words nor people tell where one ends: all speak all the time, and a dip in likeness is as common inside a topic as at its end. What is
// left is how much was said. Comments that come hours apart, as on an issue, are much the same: who speaks is new every time, and all belong together.
const (
	enough    = 24      // messages, past and ahead, that tell the style
	perNamed  = 40      // one in so many may speak to somebody by name
	minTable  = 3       // people who speak, at least: two are a dialogue
	maxTable  = 12      // and at most
	slow      = 10 * 60 // seconds that count as a minute, from which on talk is comments
	topicSize = 4500    // words of a topic: eight meetings scored best at 4250, and within 0.03 of that from 4000 to 5000
	turnSize  = 1500    // words that the naming of another item of business is worth
	lastWords = 8       // messages at the end of what is known that open no topic any more
	silence   = 6 * one // log2 of the minutes after which whatever is said is something new
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

// stay returns the score for the cluster that the meeting is at, over a new one.
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
