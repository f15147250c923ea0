package sanitize

import (
	"bytes"
	"strings"
	"testing"
)

const ordinary = "The parser keeps a small buffer of runes and asks the reader for more (see io.Reader).\nfunc next(b []byte) (rune, int) { return utf8.DecodeRune(b) } // note: no copy is made\n"

func benchmarkText(b *testing.B, in []byte) {
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Text(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText4KClean(b *testing.B) {
	benchmarkText(b, []byte(strings.Repeat(ordinary, 50)[:4096]))
}

func BenchmarkText4KOneSecret(b *testing.B) {
	benchmarkText(b, []byte(strings.Repeat(ordinary, 50)[:4000]+" password=hunter2"))
}

func BenchmarkText16M(b *testing.B) {
	benchmarkText(b, bytes.Repeat([]byte(ordinary), 16<<20/len(ordinary)))
}

func BenchmarkTextDense1M(b *testing.B) {
	benchmarkText(b, bytes.Repeat([]byte("password=hunter2 "), 1<<20/17))
}

// BenchmarkTextHostile1M has inputs that make careless rules quadratic.
func BenchmarkTextHostile1M(b *testing.B) {
	for _, unit := range hostile {
		b.Run(unit, func(b *testing.B) {
			benchmarkText(b, bytes.Repeat([]byte(unit), 1<<20/len(unit)))
		})
	}
}

var hostile = []string{
	"token:", "token=\"", "token='\\\"", "password=a", "://", "x://a:", "x://a@", "a1", "\\", "\\\"", "eyJ", "eyJaaaaaaaaaa.", "AKIA", "sk-", "xoxb-", "SK",
	":AA", "1:AA", "-----BEGIN ", "-----BEGIN PRIVATE " + "KEY-----", "[", "[REDACTED:", "password=[REDACTED:", "= ", "%3D", "Bearer ", "SG.", ",a=", "token=x,a", "token:[1",
}

// TestHostile only makes sure that such inputs settle; time is for the
// benchmark to show.
func TestHostile(t *testing.T) {
	for _, unit := range hostile {
		mustText(t, strings.Repeat(unit, 1<<14/len(unit)))
		mustText(t, strings.Repeat(unit, 100)+"hunter2"+strings.Repeat("]", 5))
	}
}

// BenchmarkFirstUse is all that is made before the first text can be cleaned.
func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		makeTable(nil)
	}
}
