package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPhraseIn(t *testing.T) {
	for _, c := range []struct {
		phrase, text string
		want         bool
	}{
		{"connection refused", "Connection\n  REFUSED!", true},
		{"connection refused", "refused connection", false},
		{"connection refused", "connection was refused", false},
		{"a a b", "a a a b", true}, // a beginning inside a beginning
		{"a b a c", "a b a b a c", true},
		{"café au lait", "CAFE AU LAIT", true},
		{"Ὀδυσσεύς ἐστιν", "οδυσσευς εστιν", true},
		{"file", "files", false},
		{"os getwd", "os.Getwd()", true},
		{"", "anything", false},
		{"x", "", false},
	} {
		if got := phrase(wordsOf(c.phrase)).in(lowered(c.text)); got != c.want {
			t.Errorf("%q in %q: %v", c.phrase, c.text, got)
		}
	}
}

func TestQuoted(t *testing.T) {
	for text, want := range map[string][]string{
		`plain words`:                     nil,
		`"connection refused" postgres`:   {"connection refused"},
		`a "b c" d "e"`:                   {"b c", "e"},
		`“typographic quotes” too`:        {"typographic quotes"},
		`a 15" screen and a 17" one`:      nil,
		`one "without an end`:             nil,
		`empty "" ones`:                   nil,
		`swap "# Prompt" and "# Remove".`: {"# Prompt", "# Remove"},
	} {
		if got := quoted(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPrint(t *testing.T) {
	same := []string{"Does it retry?", "does  it\nretry", "DOES IT RETRY!!", "doés it retry"}
	for _, text := range same[1:] {
		if printOf(text) != printOf(same[0]) {
			t.Errorf("%q is another text than %q", text, same[0])
		}
	}
	for _, text := range []string{"does it retries", "it does retry", "does itretry",
		"does it retry now", ""} {
		if printOf(text) == printOf(same[0]) {
			t.Errorf("%q is the same text as %q", text, same[0])
		}
	}
	if printOf(" !? ") != 0 || printOf("") != 0 {
		t.Error("a text without words has a print")
	}
}

func TestExcerpt(t *testing.T) {
	filler := strings.Repeat("straw on straw and ", 40)
	for _, c := range []struct{ query, text, want string }{
		{"needle haystack", "the needle of the haystack", "the needle of the haystack"},
		{"needle haystack", filler + "the needle of the haystack; " + filler,
			"needle of the haystack"},
		{"needle haystack", "a needle. " + filler + "the needle of the haystack; " + filler,
			"needle of the haystack"},
		{"parsing", filler + "it parsed the file; " + filler, "it parsed the"},
		{"cafe", filler + "le café, " + filler, "le café,"},
		{"nothing of this", "first words " + filler, "first words straw"},
		{"end", filler + " the end", "the end"},
	} {
		q, err := Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got := q.Excerpt(c.text, 60)
		if !strings.Contains(got, c.want) || utf8.RuneCountInString(got) > 60 {
			t.Errorf("%q: %q, want %q in it", c.query, got, c.want)
		}
		line := strings.Join(strings.Fields(c.text), " ")
		for _, side := range []struct{ has, want bool }{
			{strings.HasPrefix(got, "…"), !strings.HasPrefix(line, strings.Trim(got, "…"))},
			{strings.HasSuffix(got, "…"), !strings.HasSuffix(line, strings.Trim(got, "…"))},
		} {
			if side.has != side.want {
				t.Errorf("%q: %q: an end is not told", c.query, got)
			}
		}
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("needle haystack", "straw\nthe needle of the haystack é straw", 20)
	f.Add("É", "a\u0301\xff", 5)
	f.Fuzz(func(t *testing.T, query, text string, most int) {
		q, err := Parse(query)
		if err != nil || most < 4 || most > 1000 {
			return
		}
		got := q.Excerpt(text, most)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > most ||
			strings.ContainsAny(got, "\n\t") {
			t.Fatalf("%q", got)
		}
	})
}
