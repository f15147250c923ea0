package terms

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// tokens writes what Scan finds as kind:text, separated by spaces.
func tokens(text string) string {
	var out []string
	Scan(text, func(t Token) {
		out = append(out, string("wn#p"[t.Kind])+":"+text[t.Start:t.End])
	})
	return strings.Join(out, " ")
}

func TestScan(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"the of and", ""},
		{"Deploy failed, twice.", "w:Deploy w:failed w:twice"},
		{"don't use the parser's output", "w:parser w:output"},
		{"parseTokenList()", "n:parseTokenList p:parse p:Token p:List"},
		{"JSONServer URLs", "n:JSONServer p:JSON p:Server w:URLs"},
		{"app_core __init__ _really good_", "n:app_core p:app p:core n:__init__ p:init w:good"},
		{"src/lexer/parser.go:42: nil", "n:src/lexer/parser.go p:src p:lexer p:parser.go p:parser #:42 w:nil"},
		{`C:\Users\ann\x.txt`, `n:C:\Users\ann\x.txt p:Users p:ann p:x.txt p:txt`},
		{"see https://example.com/a/issues/17.", "n:https://example.com/a/issues/17 p:example p:com p:issues p:17"},
		{"PostgreSQL 16.2 on port 5433", "n:PostgreSQL p:Postgre p:SQL #:16.2 w:port #:5433"},
		{"v1.2.3-rc1 2026-11-20 12:30 50% 30ms 1/2", "#:v1.2.3-rc1 #:2026-11-20 #:12:30 #:50 #:30ms #:1/2"},
		{"and/or read/write", "n:and/or n:read/write p:read p:write"},
		{"X-RateLimit-Remaining well-known", "n:X-RateLimit-Remaining p:Rate p:Limit p:Remaining w:well-known p:known"},
		{"localhost:5433 std::string", "w:localhost #:5433 w:std w:string"},
		{"naïve café's Überfall", "w:naïve w:café w:Überfall"},
		{"“quoted”—dash", "w:quoted w:dash"},
		{"请看src/a.go。", "w:请 w:看 n:src/a.go p:src p:a.go"},
		{".gitignore ./run.sh ../x/y", "n:.gitignore p:gitignore n:./run.sh p:run.sh p:run p:sh n:../x/y"},
		{"a\xffbad", "w:bad"},
		{"#123 --dry-run -v", "#:123 w:dry-run p:dry p:run"},
	} {
		if got := tokens(tt.text); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// Words that mean the same have one term.
func TestTermsMeet(t *testing.T) {
	for _, tt := range [][2]string{
		{"parser", "PARSERS"}, {"deploying", "deployed"}, {"./src/a.go", "src/a.go"}, {`src\a.go`, "src/a.go"}, {"Ünder", "ünder"},
	} {
		if a, b := Of(tt[0]), Of(tt[1]); !slices.Equal(a, b) {
			t.Errorf("%q and %q have different bags", tt[0], tt[1])
		}
	}
	for _, tt := range [][2]string{{"run src/parser.go", "parser.go broke"}, {"fix parser.go", "parsers"}, {"userName", "name of the user"}} {
		if Weigh(nil).Cosine(Of(tt[0]), Of(tt[1])) == 0 {
			t.Errorf("%q and %q have nothing in common", tt[0], tt[1])
		}
	}
}

func TestHash(t *testing.T) {
	if h := hash("foobar"); h != 0x85944171f73967e8 { // published test vector
		t.Errorf("%x", h)
	}
}

func TestOfIsBounded(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < MaxText; i++ {
		fmt.Fprintf(&b, "w%dx ", i)
	}
	if got := len(Of(b.String())); got != MaxTerms {
		t.Errorf("%d terms", got)
	}
	bag := Of("alpha " + strings.Repeat("é", MaxText) + " omega")
	for _, w := range []string{"alpha", "omega"} {
		if !has(bag, hash(w)) {
			t.Errorf("%s is lost", w)
		}
	}
	Of(strings.Repeat("1:", MaxText)) // would take minutes if a colon cost more than its place
}

func has(b Bag, term uint64) bool {
	return slices.ContainsFunc(b, func(c Count) bool { return c.Term == term })
}

func TestAdd(t *testing.T) {
	a, b := Bag{{1, 3}, {2, 1}, {9, 1}}, Bag{{2, 1}, {5, 1<<32 - 1}}
	if got, want := Add(a, b, 10), (Bag{{1, 3}, {2, 2}, {5, 1<<32 - 1}, {9, 1}}); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if got, want := Add(a, b, 2), (Bag{{1, 3}, {5, 1<<32 - 1}}); !slices.Equal(got, want) {
		t.Errorf("cut: got %v", got)
	}
	if got, want := Add(a, nil, 2), (Bag{{1, 3}, {2, 1}}); !slices.Equal(got, want) {
		t.Errorf("ties: got %v", got)
	}
	if got := Add(b, b, 5); got[1].N != 1<<32-1 {
		t.Errorf("count wraps: %v", got)
	}
	if Add(a, b, 0) != nil || Add(nil, nil, 3) != nil || Add(a, b, -1) != nil {
		t.Error("empty bag is not nil")
	}
	if a[1].N != 1 || b[0].N != 1 || len(a) != 3 {
		t.Error("arguments changed")
	}
}

func TestAddProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		a, b, c := randomBag(r, 20, 60), randomBag(r, 30, 60), randomBag(r, 5, 60)
		if !slices.Equal(Add(a, b, 25), Add(b, a, 25)) {
			t.Fatal("order of two matters")
		}
		if !slices.Equal(Add(Add(a, b, 99), c, 99), Add(a, Add(b, c, 99), 99)) {
			t.Fatal("order of three matters below the limit")
		}
		checkBag(t, Add(a, b, 25), 25)
	}
}

func checkBag(t *testing.T, b Bag, limit int) {
	t.Helper()
	if len(b) > limit || len(b) == 0 && b != nil {
		t.Fatalf("%d terms, limit %d", len(b), limit)
	}
	for i, c := range b {
		if c.N == 0 || i > 0 && b[i-1].Term >= c.Term {
			t.Fatalf("not a bag: %v", b)
		}
	}
}

func TestLn(t *testing.T) {
	for _, x := range []float64{1, 1.0000001, 1.4142, 1.4143, 2, math.E, 3, 10, 64.5, 65, 1e9, 1<<32 - 1} {
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 4e-16*max(1, want) {
			t.Errorf("ln %v = %v, want %v", x, got, want)
		}
	}
	for n := 1; n < len(smallTF); n++ {
		if want := 1 + ln(float64(n)); smallTF[n] != want {
			t.Errorf("entry %d of the table is %v, want %v", n, smallTF[n], want)
		}
	}
}

// The scores of a fixed comparison, to the last bit: another platform that computes something else fails here.
func TestCosineBits(t *testing.T) {
	docs := []Bag{
		Of("Set up PostgreSQL 16.2 on port 5433 with schema app_core"),
		Of("Bug in parser.go line 42: nil pointer when token list is empty"),
		Of("Deploy script is scripts/deploy.sh, rollback uses scripts/rollback.sh"),
		nil,
	}
	got := Weigh(docs).Scores(Of("The migration for PostgreSQL schema app_core failed on port 5433, port 5433"))
	want := []uint64{0x3fea1b75b6e67ed6, 0, 0, 0}
	for i := range want {
		if math.Float64bits(got[i]) != want[i] {
			t.Errorf("score %d is %v, %#x", i, got[i], math.Float64bits(got[i]))
		}
	}
}

func TestCosineProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		docs := make([]Bag, 1+r.IntN(20))
		for i := range docs {
			docs[i] = randomBag(r, 1+r.IntN(40), 100)
		}
		w, q := Weigh(docs), randomBag(r, 10, 100)
		scores := w.Scores(q)
		for i, d := range docs {
			s := w.Cosine(q, d)
			if s != scores[i] || s < 0 || s > 1 {
				t.Fatalf("score %v, cosine %v", scores[i], s)
			}
			if back := w.Cosine(d, q); math.Abs(back-s) > 1e-12 {
				t.Fatalf("%v one way, %v the other", s, back)
			}
			if self := w.Cosine(d, d); math.Abs(self-1) > 1e-12 {
				t.Fatalf("like itself: %v", self)
			}
			if naive := cosine(docs, q, d); math.Abs(naive-s) > 0.06 {
				t.Fatalf("%v, by the book %v", s, naive)
			}
		}
	}
	if w := Weigh(nil); w.Cosine(nil, Of("word")) != 0 || len(w.Scores(nil)) != 0 {
		t.Error("empty bags are like something")
	}
}

// cosine is the definition, with exact document frequencies.
func cosine(docs []Bag, a, b Bag) float64 {
	vector := func(x Bag) map[uint64]float64 {
		v := map[uint64]float64{}
		for _, c := range x {
			df := 0
			for _, d := range docs {
				if has(d, c.Term) {
					df++
				}
			}
			v[c.Term] = (1 + math.Log(float64(c.N))) * math.Log(1+float64(len(docs))/float64(max(df, 1)))
		}
		return v
	}
	va, vb := vector(a), vector(b)
	var ab, aa, bb float64
	for t, x := range va {
		ab, aa = ab+x*vb[t], aa+x*x
	}
	for _, x := range vb {
		bb += x * x
	}
	return ab / math.Sqrt(aa*bb)
}

func FuzzOf(f *testing.F) {
	for _, s := range scanSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkBag(t, Of(text), MaxTerms)
		last := 0
		Scan(text, func(tok Token) {
			if tok.Start < last || tok.End <= tok.Start || tok.End > len(text) {
				t.Fatalf("token %+v after %d in %q", tok, last, text)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[tok.Start:tok.End]) {
				t.Fatalf("token cuts a rune: %q", text[tok.Start:tok.End])
			}
			last = tok.Start
		})
	})
}

func scanSeeds() []string {
	return []string{
		"", "a", "Fix parser.go:42 nil pointer", "C:\\a\\b.txt", "__x__ _y_", "1:2:3::4", "汉字かなカナ한글", "e\u0301\u200d",
		"\xff\xfe", "https://a/b?c=d", strings.Repeat("aB", 150), "../..//./x/",
	}
}

func TestSeedsExist(t *testing.T) {
	if len(scanSeeds()) < 10 || len(bagSeeds()) < 5 {
		t.Error("fuzz targets have no seeds")
	}
}
