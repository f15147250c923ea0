package score

// A meeting is talk in which hardly anybody is spoken to by name, among few people, one after the other. Its topics are long and follow each other,
// and neither words nor people tell where one ends: all speak all the time. What is left is how much was said.
const (
	enough    = 24   // messages, past and ahead, that tell the style
	perNamed  = 40   // one in so many may speak to somebody by name
	maxTable  = 12   // people who speak
	topicSize = 4500 // words that a topic has
	turnSize  = 1500 // words that the naming of another item of business is worth
	lastWords = 8    // messages at the end of what is known that open no topic any more
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
		if _, spoken := s.conv.addressee(m, ahead); spoken {
			named++
		}
		if m.role != people {
			return false
		}
	}
	return said >= enough && named*perNamed <= said && s.crowd >= 3 && s.crowd <= maxTable
}

// stay returns the score for the cluster that the meeting is at, over a new one.
func (s *scene) stay(ahead int) int {
	if s.gap > 6*one {
		return -8 * one
	}
	if ahead < lastWords {
		return 8 * one
	}
	said := s.conv.run
	if s.u.flags&turn != 0 {
		said += turnSize
	}
	return (topicSize - said) * one / 1000
}
