package score

import "testing"

// Words are separated by spaces; in a script without spaces, two characters are a word.
func TestWordsIn(t *testing.T) {
	for text, want := range map[string]int{
		"":                     0,
		"  one two\nthree ":    3,
		"grüße an alle":        3,
		"日本語です":                1 + 2,
		"the port is 港口号码 now": 5 + 2,
		"字":                    1,
	} {
		if got := wordsIn(text); got != want {
			t.Errorf("%q: %d words, want %d", text, got, want)
		}
	}
}
