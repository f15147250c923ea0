package search

// class is what a message counts for what it is.
type class struct {
	factor float64 // of its score
	gives  float64 // how much of it counts as said by what is near it
	hears  float64 // how much of what is near it counts as said by it
}

// classOf returns the class of a message with so many words.
func classOf(attr uint8, length float64) class {
	role := attr & attrRole
	switch {
	case attr&attrNote != 0:
		return class{factor: noteFactor, gives: 1, hears: 1}
	case attr&attrCall != 0:
		return class{factor: bulk(callFactor, length), gives: bulk(callNear, length), hears: bulk(callNear, length)}
	case role == roleTool:
		return class{factor: bulk(outputFactor, length), gives: bulk(outputGives, length), hears: bulk(outputHears, length)}
	case role == roleModel:
		return class{factor: modelFactor, gives: 1, hears: 1}
	}
	return class{factor: 1, gives: 1, hears: 1}
}

// bulk goes from 1, for tool traffic of bulkLength words or less, towards least for very long one.
func bulk(least, length float64) float64 {
	return least + float64((1-least)*min(1, bulkLength/max(length, 1)))
}
