package score

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
