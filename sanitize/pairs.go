package sanitize

// letterPairs has a row for each letter with a bit for each letter after it. The bits are set for
// the 439 pairs that make up 98.5 % of the pairs in words of prose and in parts of names in
// programs. Random strings have the other 237 just as often.
var letterPairs = [26]uint32{
	0x1febdff, 0x11edb3f, 0x13efdff, 0x1fffb7f, 0x1fffdff, 0x11ef97f, 0x01ef9f7, 0x11e5919, 0x2aefc7f, 0x0144011, 0x0142151, 0x17ffdff, 0x11efd3f,
	0x13efdff, 0x0fefd7f, 0x15eddff, 0x0161004, 0x17ffdff, 0x1fffdff, 0x3fef9ff, 0x28ff97f, 0x04ff9bf, 0x006799d, 0x0acd93f, 0x00cb114, 0x2004110,
}

// isRarePair reports whether these two letters seldom follow each other in words.
func isRarePair(a, b byte) bool {
	return letterPairs[a|0x20-'a']>>(b|0x20-'a')&1 == 0
}

// unlikeWords reports whether the sequence of letters is unusual for words, and that of capitals
// for names. This holds for about 2 % of the 288,000 different names in Go's own source, nearly all
// of them keys and test data.
func (m shapeOf) unlikeWords() bool {
	switch {
	case m.rare >= 3 && m.rare*4 >= m.pairs:
		return true
	case m.rare >= 2 && m.rare*5 >= m.pairs && m.turns*3 >= m.letters && m.turns >= 4:
		return true
	}
	return m.rare >= 1 && m.rare*8 >= m.pairs && m.turns*5 >= m.letters*2 && m.turns >= 4
}
