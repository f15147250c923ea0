package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// tongue is a language with Latin letters that has endings of its own.
type tongue struct {
	// letters and words are what a text of the language has and one of English has not.
	letters, words string
	stem           func(*snowballstem.Env) bool
}

var tongues = [...]tongue{
	{"ß", " der die das und nicht ist ein eine mit auf für wir den von zu im wird auch noch nur " +
		"weil dass wenn oder aber sich sind dem bei nach ",
		german.Stem},
	{"œ", " le la les des et est une pas dans pour que nous il du au ce qui sont avec sur " +
		"mais cette par leur ",
		french.Stem},
	{"ñ¿¡", " el la los las que y una por para con se del está es lo al sin muy ", spanish.Stem},
	{"", " il che di e una per non con sono del è gli le della nel si ogni alla ", italian.Stem},
	{"õ", " os que e uma um para não com da do está em se nos na mais ao ", portuguese.Stem},
	{"", " de het een en van niet dat op met ook wij zijn naar maar voor ", dutch.Stem},
	{"", " och att det en som är på inte för med jag den ", swedish.Stem},
	{"", " og det en er ikke på med jeg af den til skal ", danish.Stem},
	{"", " og det en er ikke på med jeg av den til skal ", norwegian.Stem},
	{"", " ja ei se että oli kun mutta niin myös vain ", finnish.Stem},
	{"ğış", " ve bir bu için ile çok daha gibi ama değil var yok olarak sonra ", turkish.Stem},
	{"őű", " az és egy nem hogy meg van ez csak volt ", hungarian.Stem},
	{"ățș", " și în nu cu este pe din sau mai care ", romanian.Stem},
}

// leastTongue is how many different words of a language a text has that is in it, or else one of
// its letters. A text of fewer than shortTongue words has one.
const (
	leastTongue = 2
	shortTongue = 8
)

// Forms finds the words of a query in other forms that they have in the language of a text:
// Fehlern in "Der Fehler ist neu". What the language is, the text's small words tell. It compares
// the first letters before it looks closer, because it is asked for all texts of a store.
type Forms struct {
	words  []string
	begins []string // the first letters of the longer ones, folded: no ending changes them
}

// FormsOf returns what finds the words of a query in other forms.
func FormsOf(query string) Forms {
	var f Forms
	for _, w := range wordsIn(cutText(query)) {
		if len(f.words) == maxQueryTerms {
			break
		}
		f.words = append(f.words, w.low)
		if begin := Fold(w.low); len(begin) > leastStem {
			f.begins = append(f.begins, begin[:leastStem])
		}
	}
	return f
}

// formWord is a word of a text, and where it is.
type formWord struct {
	low        string // in lower case
	start, end int
}

func wordsIn(text string) (list []formWord) {
	start := -1
	for i, r := range text + " " {
		switch inside := unicode.In(r, unicode.Latin, unicode.Mn); {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			list = append(list, formWord{strings.ToLower(text[start:i]), start, i})
			start = -1
		}
	}
	return list
}

// FindStringIndex returns where a text that has a form of each word has that of the first one; nil
// for no such text.
func (f Forms) FindStringIndex(text string) []int {
	words := wordsIn(text)
	for i, is := range languagesOf(text, words) {
		if is {
			if at := f.within(&tongues[i], words); at != nil {
				return at
			}
		}
	}
	return nil
}

// MayStandIn reports whether a text, of which it is given Low, has the first letters of each longer
// word.
func (f Forms) MayStandIn(low string) bool {
	return len(f.words) > 0 && !slices.ContainsFunc(f.begins,
		func(begin string) bool { return !strings.Contains(low, begin) })
}

// smallWords has the tongues of each of their words: a byte each, the index.
var smallWords = madeOnce[string]{make: func() map[string]string {
	of := map[string]string{}
	for i := range tongues {
		for _, word := range strings.Fields(tongues[i].words) {
			of[word] += string([]byte{byte(i)})
		}
	}
	return of
}}

// languagesOf reports for each tongue whether a text is in it.
func languagesOf(text string, words []formWord) (is [len(tongues)]bool) {
	of, met, found := smallWords.get(), map[string]bool{}, [len(tongues)]int{}
	marked := !isASCIIText(text)
	for _, w := range words {
		if list := of[w.low]; list != "" && !met[w.low] {
			met[w.low] = true
			for _, i := range []byte(list) {
				found[i]++
			}
		}
	}
	for i := range tongues {
		t := &tongues[i]
		is[i] = found[i] >= min(leastTongue, 1+len(words)/shortTongue) ||
			marked && t.letters != "" && strings.ContainsAny(text, t.letters)
	}
	return is
}

// within returns where the form of the first word is; nil if a word has no form there.
func (f Forms) within(t *tongue, words []formWord) []int {
	var first []int
	for _, asked := range f.words {
		if strings.Contains(t.words, " "+asked+" ") {
			continue // a small word of the language
		}
		stem := t.stemOf(asked)
		begin := stem[:min(1, len(stem))]
		i := slices.IndexFunc(words, func(w formWord) bool {
			// A stem begins as its words do; a letter with a mark was folded.
			return (w.low[0] >= utf8.RuneSelf || strings.HasPrefix(w.low, begin)) &&
				t.stemOf(w.low) == stem
		})
		if i < 0 {
			return nil
		}
		if first == nil {
			first = []int{words[i].start, words[i].end}
		}
	}
	return first
}

// stemOf returns the stem of a word in lower case, without accents.
func (t *tongue) stemOf(word string) string {
	if utf8.RuneCountInString(word) <= leastStem {
		return Fold(word)
	}
	env := snowballstem.NewEnv(word)
	t.stem(env)
	return Fold(env.Current())
}
