package score

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		text string
		want flags
	}{
		{"thanks", ack},
		{"ok, commit", ack},
		{"bob: yes", ack},
		{"谢谢", ack},
		{"Hi all, does anyone know a good mirror?", greeting | question},
		{"how do I mount this", question},
		{"はい?", question},
		{"So, next item on the agenda", turn},
		{"the disk is full", 0},
		{"", 0},
	} {
		if got := flagsOf(tt.text); got != tt.want {
			t.Errorf("%q: %04b, want %04b", tt.text, got, tt.want)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct {
		text string
		// Names that must be among the possible addressees, and among the other words
		to, named string
	}{
		{"bob2: hi there", "bob2", ""},
		{"bob2, hi there", "bob2", ""},
		{"bob2> hi there", "bob2", ""},
		{"bob2 : hi there", "bob2", ""},
		{"ann: bob: both of you", "bob", ""},
		{"look @Bob2", "bob2", ""},
		{"look @bob2's page", "bob2", ""},
		{"@bob你好", "bob", ""},
		{"thanks bob2", "", "bob2"},
		{"thanks (bob2)!", "", "bob2"},
		{"BOB_: hello", "bob", ""},
	} {
		to, names := address(tt.text)
		if tt.to != "" && !slices.Contains(to, person(tt.to)) ||
			tt.named != "" && !slices.Contains(names, person(tt.named)) {
			t.Errorf("%q: %v, %v", tt.text, to, names)
		}
	}
	if person(" Bob|away ") != person("bob_") || person("") != 0 || person("|rt|") == 0 ||
		person("ann") == person("bob") {
		t.Error("what a client adds to a name counts")
	}
}

func TestTerms(t *testing.T) {
	has := func(b bag, k count) bool {
		return slices.ContainsFunc(b, func(c count) bool { return c.key == k.key })
	}
	for _, tt := range []struct {
		a, b string
		same bool // the only term of a is in b
	}{
		{"parser", "the parsers fail", true},
		{"parse", "in parseHeader", true},
		{"src/main.go", "see ./src/main.go:14", true},
		{"main.go", "see ./src/main.go:14", true},
		{"max_size", "MAX_SIZE = 4", true},
		{"size", "max_size = 4", true},
		{"--dry-run", "go --dry-run now", true},
		{"数据", "关于数据的问题", true},
		{"据数", "关于数据的问题", false},
	} {
		a := bagOf(tt.a)
		if found := slices.ContainsFunc(a,
			func(k count) bool {
				return has(bagOf(tt.b), k) && (tt.same || len(a) == 1 || k.key != a[0].key)
			}); found != tt.same && tt.same {
			t.Errorf("%q is not in %q", tt.a, tt.b)
		}
	}
	if a, b := bagOf("数据"), bagOf("据数"); len(a) != 2 || slices.Equal(a, b) {
		t.Errorf("the order of characters does not count: %v, %v", a, b)
	}
}

// Features stay small, however long the message is.
func TestFeaturesAreBounded(t *testing.T) {
	now := time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC)
	var names strings.Builder
	for i := range 200 {
		fmt.Fprintf(&names, "@somebody%dwithalongname ", i)
	}
	for _, tt := range []struct {
		text  string
		limit int
	}{
		{"", 50},
		{"bob: the migration of schema app_core failed on port 5433, see scripts/deploy.sh and " +
			"parseTokens() there", 300},
		{names.String() + manyWords(1), 2 << 10},
		{strings.Repeat(manyWords(2), 300), 2 << 10},
		{strings.Repeat("\xff", 1000), 100},
		{"hi, what is the next item on the agenda?", 300},
		{"thanks", 100},
	} {
		f := Of(Message{Conversation: "c", Role: "user", Author: "ann", Time: now, Text: tt.text,
			Calls: []string{"read_file"}})
		b := f.Append(nil)
		if len(b) > tt.limit {
			t.Errorf("%.20q takes %d bytes", tt.text, len(b))
		}
		got, rest, err := DecodeFeatures(append(b, "rest"...))
		if err != nil || string(rest) != "rest" || string(got.Append(nil)) != string(b) {
			t.Errorf("%.20q reads as %v, %q, %v", tt.text, got, rest, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := Of(Message{Conversation: "c", Author: "ann", Text: "bob: hello there"}).Append(nil)
	for n := range good {
		if _, _, err := DecodeFeatures(good[:n]); err == nil {
			t.Errorf("the first %d bytes of features are accepted", n)
		}
	}
	c := channel().Append(nil)
	for n := range c {
		if _, err := DecodeCandidates(c[:n]); err == nil {
			t.Errorf("the first %d bytes of candidates are accepted", n)
		}
	}
	if _, err := DecodeCandidates(append(c, 0)); err == nil {
		t.Error("more than candidates is accepted")
	}
}

func TestFixed(t *testing.T) {
	for _, tt := range []struct{ x, want int }{{-1, 0}, {0, 0}, {1, 0}, {2, one}, {3, one + one/2},
		{1 << 40, 40 * one}} {
		if got := lg(tt.x); got != tt.want {
			t.Errorf("lg(%d) = %d, want %d", tt.x, got, tt.want)
		}
	}
	for _, tt := range []struct {
		p        float64
		low, top int
	}{{0.5, 0, 0}, {0.75, 260, 290}, {0.25, -290, -260}, {0, -1 << 31, -1 << 29},
		{1, 1 << 29, 1 << 31}, {-1, -1 << 31, -1 << 29}, {2, 1 << 29, 1 << 31}} {
		if got := logit(tt.p); got < tt.low || got > tt.top {
			t.Errorf("logit(%v) = %d, want %d to %d", tt.p, got, tt.low, tt.top)
		}
	}
}

// The flags of a text are those that looking at each word and each phrase gives.
func TestFlagsOfWords(t *testing.T) {
	words := []string{
		"ok", "thanks", "Great", "yes", "hello", "hi", "how", "what", "can", "the", "next", "item",
		"another", "topic", "move", "moving",
		"on", "agenda", "agendas", "anything", "else", "last", "question", "?", "？", "!", ",",
		"Ünal", "\xff", "\t", "\n",
	}
	phrases := []string{
		"agenda", "next item", "next topic", "next thing", "next point", "next question", "move on",
		"moving on", "anything else", "last item",
		"another topic", "another item", "another thing",
	}
	slow := func(text string) (f flags) {
		lower := strings.ToLower(text)
		list := strings.FieldsFunc(lower, endsWord)
		nods := 0
		for i, w := range list {
			if i < 3 && greets(w) {
				f |= greeting
			}
			if acknowledges(w) {
				nods++
			}
			if i < 2 && asks(w) && len(list) > 3 {
				f |= question
			}
		}
		if strings.ContainsAny(text, "?？") {
			f |= question
		}
		if nods > 0 && nods+1 >= len(list) && f&question == 0 {
			f |= ack
		}
		if slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(lower, p) }) {
			f |= turn
		}
		return f
	}
	seen := map[flags]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var b strings.Builder
		for range r.IntN(9) {
			b.WriteString(words[r.IntN(len(words))])
			if r.IntN(8) > 0 {
				b.WriteByte(' ')
			}
		}
		if got, want := flagsOf(b.String()), slow(b.String()); got != want {
			t.Fatalf("%q: %b, want %b", b.String(), got, want)
		} else {
			seen[got] = true
		}
	}
	if len(seen) < 8 {
		t.Errorf("only %d sets of flags were seen", len(seen))
	}
}
