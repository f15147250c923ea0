package loop

// content looks for repetition in text. What it knows of the text is a function of the last
// characters: the places of the windows in them.
type content struct {
	text   []rune // since the last reset; its first character is at position base
	base   int
	places map[[window]rune][]int // where windows begin, ascending; of positions from base on
	marks  marks
}

// reset begins anew with the next character.
func (c *content) reset() { c.text, c.base, c.places = nil, 0, nil }

// add takes a delta. ok says that it goes round, period how far it is from one time to the next.
func (c *content) add(delta string) (period int, ok bool) {
	c.marks.deltaBegins()
	defer c.marks.deltaEnds()
	for _, r := range delta {
		said, begins := c.marks.next(r)
		if begins {
			c.reset()
		}
		if !said {
			continue
		}
		c.push(r)
		if period, ok := c.repeats(); ok {
			return period, true
		}
	}
	return 0, false
}

// push adds a character, forgets what is too old, and notes the window that it completes.
func (c *content) push(r rune) {
	c.text = append(c.text, r)
	if len(c.text) > maxText {
		oldest := [window]rune(c.text[:window])
		if left := c.places[oldest][1:]; len(left) > 0 {
			c.places[oldest] = left
		} else {
			delete(c.places, oldest)
		}
		c.text, c.base = c.text[1:], c.base+1
	}
	if len(c.text) < window {
		return
	}
	if c.places == nil {
		c.places = map[[window]rune][]int{}
	}
	newest := [window]rune(c.text[len(c.text)-window:])
	c.places[newest] = append(c.places[newest], c.base+len(c.text)-window)
}

// repeats looks at the window that came last.
func (c *content) repeats() (period int, ok bool) {
	if len(c.text) < window {
		return 0, false
	}
	all := c.places[[window]rune(c.text[len(c.text)-window:])]
	if len(all) < textTimes {
		return 0, false
	}
	last := all[len(all)-textTimes:]
	if last[textTimes-1]-last[0] > maxAverage*(textTimes-1) || c.periods(last) > maxPeriods {
		return 0, false
	}
	return last[textTimes-1] - last[textTimes-2], true
}

// periods counts the different texts from one place to the next.
func (c *content) periods(places []int) int {
	seen := map[string]bool{}
	for i := 1; i < len(places); i++ {
		seen[string(c.text[places[i-1]-c.base:places[i]-c.base])] = true
	}
	return len(seen)
}
