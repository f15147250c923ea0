package format

// IsUUID reports whether a word is a UUID in lower case: 8, 4, 4, 4 and 12 hexadecimal digits with
// hyphens between them.
func IsUUID[T string | []byte](word T) bool {
	if len(word) != 36 {
		return false
	}
	for i := range len(word) {
		c := word[i]
		digit := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (c == '-') || !hyphen && !digit {
			return false
		}
	}
	return true
}
