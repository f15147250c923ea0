package search

import (
	"strings"
	"unicode/utf8"
)

// Fold removes the accents of Latin and Greek letters, precomposed or combining, so that "café" and
// "cafe" match, and writes the wide forms of ASCII as ASCII: "ＡＢＣ" as "ABC". It writes ligatures
// as two letters: "ß" becomes "ss"; the last sigma of a word as any other, and "ё" as "е". It keeps
// case and all other characters.
func Fold(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			folded, _ := fold(text, i, false)
			return folded
		}
	}
	return text
}

// foldWithPlaces is Fold with the offset in text of each byte of the result, and of its end. places
// is nil if all offsets are the same.
func foldWithPlaces(text string) (folded string, places []int) {
	if isASCIIText(text) {
		return text, nil
	}
	return fold(text, 0, true)
}

// fold folds text, whose first from bytes are ASCII.
func fold(text string, from int, withPlaces bool) (string, []int) {
	var b strings.Builder
	b.Grow(len(text))
	b.WriteString(text[:from])
	var places []int
	letter := from > 0 && isLatin(text[from-1])
	for i := from; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			letter = isLatin(c)
			b.WriteByte(c)
			if withPlaces {
				places = append(places, i)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		out := text[i : i+size]
		switch base := bases.get()[r]; {
		case r >= firstWide && r <= lastWide:
			out = string(r - firstWide + '!')
			letter = isLatin(out[0])
		case base != "":
			out, letter = base, true
		case r >= 'Α' && r <= 'ω':
			letter = true
		case letter && isAccent(r):
			out = ""
		default:
			letter = false
		}
		b.WriteString(out)
		for range len(out) {
			if withPlaces {
				places = append(places, i)
			}
		}
		i += size
	}
	if withPlaces {
		places = append(places, len(text))
	}
	return b.String(), places
}

// The wide forms of the ASCII characters from '!' to '~'.
const (
	firstWide = 0xff01
	lastWide  = 0xff5e
)

func isLatin(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// isAccent reports whether a rune is a combining diacritical mark.
func isAccent(r rune) bool { return r >= 0x300 && r <= 0x36f }

// bases maps accented letters to their base letters.
var bases = madeOnce[rune]{make: func() map[rune]string {
	m := map[rune]string{'ß': "ss", 'ẞ': "SS", 'æ': "ae", 'Æ': "AE", 'œ': "oe", 'Œ': "OE"}
	for _, line := range strings.Split(accented, "\n") {
		base, letters, _ := strings.Cut(line, " ")
		for _, r := range letters {
			m[r] = base
		}
	}
	return m
}}

// accented has a line for each base letter with the letters that decompose to it: those of Latin-1
// Supplement, Latin Extended-A and -B, and Latin Extended Additional (Unicode 15), letters with a
// stroke or without a dot, and those of today's Greek and Russian.
const accented = `A ÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶ
B ḂḄḆ
C ÇĆĈĊČḈ
D ĎĐḊḌḎḐḒ
E ÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ
F Ḟ
G ĜĞĠĢǦǴḠ
H ĤĦȞḢḤḦḨḪ
I ÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ
J Ĵ
K ĶǨḰḲḴ
L ĹĻĽŁḶḸḺḼ
M ḾṀṂ
N ÑŃŅŇǸṄṆṈṊ
O ÒÓÔÕÖØŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ
P ṔṖ
R ŔŖŘȐȒṘṚṜṞ
S ŚŜŞŠȘṠṢṤṦṨ
T ŢŤŦȚṪṬṮṰ
U ÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ
V ṼṾ
W ŴẀẂẄẆẈ
X ẊẌ
Y ÝŶŸȲẎỲỴỶỸ
Z ŹŻŽẐẒẔ
a àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ
b ḃḅḇ
c çćĉċčḉ
d ďđḋḍḏḑḓ
e èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ
f ḟ
g ĝğġģǧǵḡ
h ĥħȟḣḥḧḩḫẖ
i ìíîïĩīĭįıǐȉȋḭḯỉị
j ĵǰ
k ķǩḱḳḵ
l ĺļľłḷḹḻḽ
m ḿṁṃ
n ñńņňǹṅṇṉṋ
o òóôõöøōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ
p ṕṗ
r ŕŗřȑȓṙṛṝṟ
s śŝşšșṡṣṥṧṩ
t ţťŧțṫṭṯṱẗ
u ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự
v ṽṿ
w ŵẁẃẅẇẉẘ
x ẋẍ
y ýÿŷȳẏẙỳỵỷỹ
z źżžẑẓẕ
Α Ά
Ε Έ
Η Ή
Ι ΊΪ
Ο Ό
Υ ΎΫ
Ω Ώ
α ά
ε έ
η ή
ι ίϊΐ
ο ό
σ ς
υ ύϋΰ
ω ώ
Е Ё
е ё`
