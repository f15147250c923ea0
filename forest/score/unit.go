package score

// unit is what is placed at once, as one: a message, or the messages of an exchange.
type unit struct {
	Features
	addressee uint32
	prompt    bag  // terms of the first message
	spoken    bool // to the addressee, by the form of the text
	exchange  bool // a model or a tool has a part in it, or it is not known who speaks
}

// merge takes the messages of a unit together. Who says it, to whom and when is as in the first one.
func merge(messages []Features) unit {
	u := unit{Features: messages[0], prompt: messages[0].terms}
	for i, m := range messages {
		// Where nobody says who speaks, it is as between a user and a model: the words have to tell.
		u.exchange = u.exchange || m.role != people || m.author == 0
		if i > 0 {
			u.terms = u.terms.plus(m.terms)
		}
	}
	return u
}

// addressee returns the author that a message speaks to by name, 0 if nobody. Words are names if somebody of that name has said something, or does
// so in what lies ahead.
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
