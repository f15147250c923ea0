package score

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
