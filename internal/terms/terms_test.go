package terms

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// tokens formats the tokens of Scan as kind:text, separated by spaces.
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
		{"src/lexer/parser.go:42: nil",
			"n:src/lexer/parser.go p:src p:lexer p:parser.go p:parser #:42 w:nil"},
		{`C:\Users\ann\x.txt`, `n:C:\Users\ann\x.txt p:Users p:ann p:x.txt p:txt`},
		{"see https://example.com/a/issues/17.",
			"n:https://example.com/a/issues/17 p:example p:com p:issues p:17"},
		{"PostgreSQL 16.2 on port 5433", "n:PostgreSQL p:Postgre p:SQL #:16.2 w:port #:5433"},
		{"v1.2.3-rc1 2026-11-20 12:30 50% 30ms 1/2",
			"#:v1.2.3-rc1 #:2026-11-20 #:12:30 #:50 #:30ms #:1/2"},
		{"and/or read/write", "n:and/or n:read/write p:read p:write"},
		{"X-RateLimit-Remaining well-known",
			"n:X-RateLimit-Remaining p:Rate p:Limit p:Remaining w:well-known p:known"},
		{"localhost:5433 std::string", "w:localhost #:5433 w:std w:string"},
		{"naïve café's Überfall", "w:naïve w:café w:Überfall"},
		{"“quoted”—dash", "w:quoted w:dash"},
		{"请看src/a.go。", "w:请 w:看 n:src/a.go p:src p:a.go"},
		{".gitignore ./run.sh ../x/y",
			"n:.gitignore p:gitignore n:./run.sh p:run.sh p:run p:sh n:../x/y"},
		{"a\xffbad", "w:bad"},
		{"#123 --dry-run -v", "#:123 w:dry-run p:dry p:run"},
	} {
		if got := tokens(tt.text); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// Words of the same meaning have the same term.
func TestTermsMeet(t *testing.T) {
	for _, tt := range [][2]string{
		{"parser", "PARSERS"}, {"deploying", "deployed"}, {"./src/a.go", "src/a.go"},
		{`src\a.go`, "src/a.go"}, {"Ünder", "ünder"},
	} {
		if a, b := Of(tt[0]), Of(tt[1]); !slices.Equal(a, b) {
			t.Errorf("%q and %q have different bags", tt[0], tt[1])
		}
	}
	for _, tt := range [][2]string{{"run src/parser.go", "parser.go broke"},
		{"fix parser.go", "parsers"}, {"userName", "name of the user"}} {
		b := Of(tt[1])
		if !slices.ContainsFunc(Of(tt[0]), func(c Count) bool { return has(b, c.Term) }) {
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
	Of(strings.Repeat("1:", MaxText)) // takes minutes if a colon costs more than constant time
}

func has(b Bag, term uint64) bool {
	return slices.ContainsFunc(b, func(c Count) bool { return c.Term == term })
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
		"", "a", "Fix parser.go:42 nil pointer", "C:\\a\\b.txt", "__x__ _y_", "1:2:3::4",
		"汉字かなカナ한글", "e\u0301\u200d",
		"\xff\xfe", "https://a/b?c=d", strings.Repeat("aB", 150), "../..//./x/",
		`00\_`, "_so._",
	}
}

// A Scanner that has seen other texts gives the same tokens for a new one. With Whole it omits the
// parts.
func TestScannerIsUsedAgain(t *testing.T) {
	texts := []string{"The parsers parse internal/brief/choose.go again",
		"parsing parsers of camelCaseNames, 12:30 and e-mail",
		"the parsers parse https://example.com/a/b"}
	whole := Scanner{Whole: true}
	var again Scanner
	for range 2 {
		for _, text := range texts {
			var all, wanted, got, most []Token
			Scan(text, func(k Token) {
				all = append(all, k)
				if k.Kind != Part {
					wanted = append(wanted, k)
				}
			})
			again.Scan(text, func(k Token) { most = append(most, k) })
			whole.Scan(text, func(k Token) { got = append(got, k) })
			if !slices.Equal(all, most) || !slices.Equal(wanted, got) {
				t.Errorf("%q: got %v and %v, want %v and %v", text, most, got, all, wanted)
			}
		}
	}
}
