package search

// class says how much a message counts because of its role and form.
type class struct {
	factor float64 // factor of its score
	gives  float64 // share of its terms that counts for messages near it
	hears  float64 // share of the terms of messages near it that counts for it
}

// classOf returns the class of a message of length words.
func classOf(attr uint8, length float64) class {
	role := attr & attrRole
	switch {
	case role >= rolesKept:
		return class{factor: keptFactor}
	case attr&attrNote != 0:
		return class{factor: noteFactor, gives: 1, hears: 1}
	case attr&attrCall != 0:
		return class{factor: bulk(callFactor, length), gives: bulk(callNear, length),
			hears: bulk(callNear, length)}
	case role == roleTool:
		return class{factor: bulk(outputFactor, length), gives: bulk(outputGives, length),
			hears: bulk(outputHears, length)}
	case role == roleModel:
		return class{factor: modelFactor, gives: 1, hears: 1}
	}
	return class{factor: 1, gives: 1, hears: 1}
}

// bulk returns 1 for messages of at most bulkLength words, and falls towards least for very long
// ones.
func bulk(least, length float64) float64 {
	return least + float64((1-least)*min(1, bulkLength/max(length, 1)))
}
