package search

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"plain":            "plain",
		"Café":             "Cafe",
		"Cafe\u0301":       "Cafe",
		"résumé ñandú":     "resume nandu",
		"Straße Æsir":      "Strasse AEsir",
		"Łódź Đặng":        "Lodz Dang",
		"Ĳssel":            "Ĳssel",
		"й и\u0306":        "й й",
		"е\u0308ж":         "еж",
		"ﾃﾞｰﾀ":             "データ",
		"か\u3099ハ\uff9f":   "がパ",
		"\u1100\u1161":     "가",
		"ﬁle x² 𝐁 Ⅷ ㍻":     "file x2 B VIII 平成",
		"so\u00adft\u200b": "soft",
		"東京 ×÷ “x”":        "東京 ×÷ “x”",
		"ＡＢＣ－１２ｚ！":         "ABC-12z!",
		"Βάση ϊός":         "Βαση ιοσ",
		"βα\u0301ση":       "βαση",
		"Ёлка ещё":         "Елка еще",
		"שָׁלוֹם":          "שלום",
		"مُسْتَخْـدِم":     "مستخدم",
		"a\xffé":           "a\xffe",
		"":                 "",
	} {
		if got := Fold(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Places map every byte of the folded text to its origin.
func TestFoldPlaces(t *testing.T) {
	text := "ab É c\u0301 ß."
	folded, places := foldWithPlaces(text)
	if folded != "ab E c ss." || len(places) != len(folded)+1 {
		t.Fatalf("%q, %v", folded, places)
	}
	for find, want := range map[string]string{"E": "É", "ss": "ß", ".": "."} {
		i := strings.Index(folded, find)
		if got := text[places[i]:places[i+len(find)]]; got != want {
			t.Errorf("%q is %q, want %q", find, got, want)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("Café résumé\u0301 ß")
	f.Fuzz(func(t *testing.T, text string) {
		folded, places := foldWithPlaces(text)
		if folded != Fold(text) {
			t.Fatalf("%q: %q", text, folded)
		}
		// What stands between two bytes that are no UTF-8 may keep them from being a character.
		if utf8.ValidString(text) && (!utf8.ValidString(folded) || Fold(folded) != folded) {
			t.Fatalf("%q: %q", text, folded)
		}
		for i := range places {
			if places[i] > len(text) || i > 0 && places[i] < places[i-1] {
				t.Fatalf("%q: places %v", text, places)
			}
		}
	})
}
