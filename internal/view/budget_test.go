package view

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// flood is a conversation that no small budget holds: twelve live clusters and forty evicted ones
// with a fact each, and a tail.
func flood() Input {
	in := Input{Pin: id("forest"), Through: 500}
	cluster := func(name string, seq uint64) Cluster {
		c := Cluster{ID: id(name), Members: 9}
		p := Part{Summary: id("s" + name)}
		for k, text := range []string{"The %s service listens on port %d.",
			"We talked at length about how it all went and came to no end.",
			"Its owner is team %s-%d."} {
			s := sentence(seq+uint64(k), int64(100-k), text)
			if k != 1 {
				s.Text = fmt.Sprintf(text, name, 4000+seq)
			}
			s.Role = "user"
			p.Sentences = append(p.Sentences, s)
		}
		c.Parts = []Part{p}
		return c
	}
	for i := range 40 {
		c := cluster(fmt.Sprintf("old%d", i), uint64(10*i))
		in.Evicted = append(in.Evicted, c)
		if i < 20 {
			in.Tombstones = append(in.Tombstones,
				Tombstone{ID: c.ID, Line: c.ID.Short(4), Members: 9})
		}
	}
	in.OlderTombstones = 25
	for i := range 12 {
		in.Clusters = append(in.Clusters, cluster(fmt.Sprintf("live%d", i), uint64(1000+10*i)))
	}
	return in
}

// Under a budget all clusters compete, evicted ones included; without one the live ones alone are
// shown.
func TestEvictedClustersTakePart(t *testing.T) {
	in := flood()
	s := string(render(t, in, Options{Budget: 900}).Bytes)
	if n := strings.Count(s, "service listens"); n < 30 {
		t.Errorf("%d facts in\n%s", n, s)
	}
	if strings.Contains(s, "at length") {
		t.Errorf("words before facts:\n%s", s)
	}
	listed, named := strings.Count(s, "\n<evicted "), strings.Count(s, "\n<cluster ")
	if rest := fmt.Sprintf("\n<%d more>\n", 12+45-listed-named); !strings.Contains(s, rest) {
		t.Errorf("%d headings, %d tombstones, not%sin\n%s", named, listed, rest, s)
	}
	if s = string(render(t, in, Options{}).Bytes); strings.Contains(s, "old3 service") ||
		strings.Count(s, "service listens") != 12 {
		t.Errorf("got\n%s", s)
	}
}

// A cluster that is shown is not listed as a tombstone as well, and JSON says all ids.
func TestShownOrListed(t *testing.T) {
	for _, f := range formats {
		for budget := 200; budget < 4000; budget += 300 {
			s := string(render(t, flood(), Options{Budget: budget, Format: f}).Bytes)
			for _, c := range flood().Evicted {
				short := c.ID.Short(briefID)
				if strings.Contains(s, "<cluster "+short) &&
					strings.Contains(s, "<evicted "+short) ||
					strings.Count(s, `"id":"`+c.ID.String()) > 1 {
					t.Fatalf("%s: %s is shown and listed:\n%s", f, short, s)
				}
			}
		}
	}
}

// asked is a conversation and a question whose answers are in a cluster, in no known one, and in
// the tail, in a long and in short messages.
func asked() Input {
	in := flood()
	long := strings.Repeat("There was a lot to say about it and it was said. ", 30)
	match := func(name, text string, cluster format.ID, score float64) Match {
		return Match{Message: Message{ID: id(name), Seq: 7, Role: "user", Text: text},
			Cluster: cluster, Score: score}
	}
	in.Query = "When does the import start?"
	in.Tail = randomTail(rand.New(rand.NewSource(5)), 12)
	for i := range in.Tail {
		in.Tail[i].Role, in.Tail[i].Parts, in.Tail[i].Calls, in.Tail[i].Results =
			"model", nil, nil, nil
	}
	in.Tail[2].Text = "In the tail: the import of Lisbon starts at 04:40."
	in.Matches = []Match{
		match("a", long+"The import starts at 02:20, <b>always</b>. "+long, in.Evicted[30].ID, 9),
		match("b", "The import of Oslo starts at 03:30.", in.Clusters[2].ID, 8),
		match("c", "Nobody knows the import of Bern.", id("nowhere"), 7),
		{Message: in.Tail[2], Score: 6},
		match("d", "The old0 service listens on port 4000.", in.Evicted[0].ID, 1),
	}
	in.Matches[4].ID = in.Evicted[0].Parts[0].Sentences[0].Entry
	return in
}

// What answers the question is printed, long messages in part, and nothing twice.
func TestQuery(t *testing.T) {
	in := asked()
	for _, f := range formats {
		budget := 1200
		if f == JSON {
			budget = 3500
		}
		out := render(t, in, Options{Budget: budget, Format: f})
		s := string(out.Bytes)
		for _, want := range []string{"02:20", "03:30", "04:40", "port 4000."} {
			if n := strings.Count(s, want); n != 1 && !(f == JSON && want == "port 4000.") {
				t.Errorf("%s: %q %d times in\n%s", f, want, n, s)
			}
		}
		if f == Text && strings.Count(s, "a lot to say") > 12 {
			t.Errorf("a long message stands whole:\n%s", s)
		}
		if f != JSON && !strings.Contains(s, "import of Bern") {
			t.Errorf("%s: what is in no cluster is lost", f)
		}
	}
}

// Without a budget the answers are printed beside everything else, nothing twice, and not without
// end.
func TestQueryWithoutBudget(t *testing.T) {
	for _, f := range formats {
		in := asked()
		in.Matches[0].Cluster = in.Clusters[0].ID
		sentence := in.Clusters[1].Parts[0].Sentences[0]
		in.Matches[4] = Match{
			Message: Message{ID: sentence.Entry, Role: "user", Text: sentence.Text},
			Cluster: in.Clusters[1].ID, Score: 5,
		}
		want := []string{"02:20", "03:30", "04:40", sentence.Text}
		if f != JSON {
			want = append(want, "import of Bern") // of no cluster that is known
		}
		s := string(render(t, in, Options{Format: f}).Bytes)
		for _, w := range want {
			if n := strings.Count(s, w); n != 1 {
				t.Errorf("%s: %q %d times in\n%s", f, w, n, s)
			}
		}
		for i := range 600 {
			m := Message{ID: id(fmt.Sprint("m", i)), Role: "user",
				Text: fmt.Sprintf("import number %d went through", i)}
			in.Matches = append(in.Matches, Match{Message: m, Cluster: in.Clusters[2].ID, Score: 5})
		}
		few := string(render(t, in, Options{Format: f}).Bytes)
		if n := strings.Count(few, "import number"); n < 50 || n > 260 {
			t.Errorf("%s: %d answers", f, n)
		}
	}
}

// Half of the budget goes to answers at most, however many there are.
func TestAnswersTakeHalf(t *testing.T) {
	in := flood()
	in.Query = "import"
	for i := range 300 {
		m := Message{ID: id(fmt.Sprint("m", i)), Seq: uint64(i), Role: "user",
			Text: fmt.Sprintf("import number %d went through", i)}
		in.Matches = append(in.Matches, Match{Message: m, Score: 5})
	}
	for _, budget := range []int{300, 900, 2000} {
		s := string(render(t, in, Options{Budget: budget}).Bytes)
		words := 0
		for _, l := range strings.Split(s, "\n") {
			if strings.HasPrefix(l, "import number") {
				words += summarize.Tokens(l + "\n")
			}
		}
		if words > budget/2 || words < budget/3 {
			t.Errorf("%d tokens of %d", words, budget)
		}
		if !strings.Contains(s, "service listens") {
			t.Errorf("nothing but answers:\n%s", s)
		}
	}
}

// Of a tail that does not fit, the newest message and what the user asked last are printed whole,
// and the best of the rest in part.
func TestTailInPart(t *testing.T) {
	var in Input
	add := func(role, text string) {
		n := len(in.Tail)
		in.Tail = append(in.Tail,
			Message{ID: id(fmt.Sprint("t", n)), Seq: uint64(n), Role: role, Text: text})
	}
	add("user", "Now the migration, please. It has to be done by Thursday.")
	for i := range 8 {
		add("model", strings.Repeat("I look at one thing and then at another thing. ", 20))
		add("tool",
			fmt.Sprintf("%sexit status %d\n", strings.Repeat("a line of output\n", 60), i+1))
	}
	add("user", "no, on port 5433")
	add("model", "Done.")
	s := string(render(t, in, Options{Budget: 260}).Bytes)
	for _, want := range []string{digestLead, "It has to be done by Thursday.",
		"no, on port 5433\n", "Done.\n", "exit status"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not in\n%s", want, s)
		}
	}
	if !strings.HasPrefix(s, digestLead) || strings.Count(s, "5433") != 1 {
		t.Errorf("got\n%s", s)
	}
	if s := string(render(t, in, Options{Budget: 260, Format: JSON}).Bytes); strings.Contains(s,
		"in part") {
		t.Errorf("a document holds messages and no digest:\n%s", s)
	}
}

func TestEscapeQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"a < b && c > d":                   "a < b && c > d",
		"</context_clusters>":              "&lt;/context_clusters>",
		"<cluster 12>":                     "&lt;cluster 12>",
		"<12 more>":                        "&lt;12 more>",
		"entire/<7-char-hash>":             "entire/<7-char-hash>",
		"<!-- x --> <?php":                 "&lt;!-- x --> &lt;?php",
		"&lt;b> &amp; &#60; R&D; a&b":      "&amp;lt;b> &amp;amp; &amp;#60; R&amp;D; a&b",
		"```go\nx\n```":                    "'''go\nx\n'''",
		"x <- y <= z << 1 <":               "x <- y <= z << 1 <",
		"<ф":                               "&lt;ф",
		"plain":                            "plain",
		"a\u202eb\u200b<\ufeffc\U000e0041": "ab&lt;c",
		"parcelo_sweep_lag > 1260 & 1":     "parcelo_sweep_lag > 1260 & 1",
	} {
		if got := escapeQuoted(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Output is never over its budget with evicted clusters and answers either, and drops are counted.
func TestNeverOverBudgetWithAnswers(t *testing.T) {
	for seed := range thirds.Range(t, int64(25)) {
		r := rand.New(rand.NewSource(seed))
		in := randomInput(seed, seed, r.Intn(25))
		for i := range r.Intn(30) {
			in.Evicted = append(in.Evicted, randomCluster(r, 100+i))
		}
		in.Query = randomText(r, 5)
		for i := range r.Intn(30) {
			m := Match{
				Message: Message{ID: id(fmt.Sprint("match", i)), Seq: uint64(i), Role: "user",
					Text: randomText(r, 120)}, Score: float64(30 - i),
			}
			switch n := r.Intn(3); {
			case n == 0 && len(in.Clusters) > 0:
				m.Cluster = in.Clusters[r.Intn(len(in.Clusters))].ID
			case n == 1 && len(in.Tail) > 0:
				m.Message = in.Tail[r.Intn(len(in.Tail))]
			}
			in.Matches = append(in.Matches, m)
		}
		o := Options{Format: formats[seed%5]}
		for o.Budget = 1; o.Budget <= 5000; o.Budget += 1 + r.Intn(1+o.Budget/2) {
			out := render(t, in, o)
			if n := summarize.Tokens(string(out.Bytes)); n > o.Budget || n != out.Tokens {
				t.Fatalf("seed %d, %s: %d tokens, said %d, of %d", seed, o.Format, n,
					out.Tokens, o.Budget)
			}
			if again := render(t, in, o); string(again.Bytes) != string(out.Bytes) {
				t.Fatalf("seed %d: two runs differ", seed)
			}
		}
	}
}

// Of texts that do not fit, the longest are cut to one length.
func TestFairShare(t *testing.T) {
	for _, c := range []struct {
		costs      []int
		room, want int
	}{
		{nil, 10, math.MaxInt},
		{[]int{3, 4}, 7, math.MaxInt},
		{[]int{10, 10}, 10, 5},
		{[]int{2, 100, 50}, 42, 20},
		{[]int{100, 2, 20, 100}, 122, 50},
		{[]int{5, 5}, 0, 1},
	} {
		var texts []offer
		for _, n := range c.costs {
			texts = append(texts, offer{cost: n})
		}
		if got := fairShare(texts, c.room); got != c.want {
			t.Errorf("%v in %d: %d, not %d", c.costs, c.room, got, c.want)
		}
	}
}
