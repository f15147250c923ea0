package terms

// isStop reports whether w, in lower case, is so common in English that it separates no topics. The
// list is short because document frequency handles the rest. It contains the halves of
// contractions, which an apostrophe separates.
func isStop(w string) bool {
	switch w {
	case "a", "an", "the", "this", "that", "these", "those", "there", "here",
		"i", "me", "my", "mine", "we", "us", "our", "you", "your", "yours", "he", "him", "his",
		"she", "her", "it", "its",
		"they", "them", "their", "who", "whom", "whose", "which", "what", "when",
		"where", "why", "how",
		"am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did",
		"done", "doing",
		"have", "has", "had", "having", "can", "could", "will", "would", "shall", "should", "may",
		"might", "must",
		"and", "or", "but", "nor", "if", "then", "else", "than", "so", "because", "while", "as",
		"though", "although",
		"of", "at", "by", "for", "with", "about", "into", "onto", "to", "from", "in", "on", "off",
		"out", "up", "down",
		"over", "under", "through", "after", "before", "between", "again", "also", "just", "only",
		"too", "very", "even",
		"not", "no", "yes", "any", "some", "all", "both", "each", "other", "another", "such",
		"same", "own", "more", "most",
		"much", "many", "few", "now", "still", "ever", "never", "one", "really", "quite",
		"maybe", "well",
		"ok", "okay", "yeah", "yep", "nope", "hi", "hello", "hey", "thanks", "thank", "please",
		"oh", "hmm", "um", "uh",
		"get", "got", "gets", "getting", "go", "goes", "going", "like", "want", "need", "know",
		"think", "see", "say", "said",
		"make", "let", "use", "used", "using", "thing", "things", "something", "anything",
		"don", "doesn", "didn", "isn", "aren", "wasn", "weren", "hasn", "haven", "hadn", "won",
		"wouldn", "shouldn",
		"couldn", "ain", "ll", "ve", "re", "dont", "im", "ive", "cant",
		"e.g", "i.e", "etc", "vs", "http", "https", "www":
		return true
	}
	return false
}
