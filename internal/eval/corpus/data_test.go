package corpus_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/sanitize"
)

// set is one of the embedded sets, with a name for errors.
type set struct {
	name     string
	messages []corpus.Message
	facts    []corpus.Fact
}

func sets() []set {
	planted, plantedFacts := corpus.Planted()
	rewound, rewoundFacts := corpus.Rewound()
	return []set{
		{"planted", planted, plantedFacts},
		{"rewound", rewound, rewoundFacts},
		{"agents", corpus.Agents(), nil},
	}
}

func TestCounts(t *testing.T) {
	messages, facts := corpus.Planted()
	topics, marks, calls, back := map[string]int{}, map[string]int{}, 0, 0
	for i, m := range messages {
		if m.Conversation != "planted" {
			t.Fatalf("message %d is of %q", m.Seq, m.Conversation)
		}
		if topics[m.Topic] > 0 && messages[i-1].Topic != m.Topic {
			back++ // a task is taken up again
		}
		topics[m.Topic]++
		marks[m.Mark]++
		calls += len(m.Calls)
	}
	kinds := map[string]int{}
	for _, f := range facts {
		kinds[f.Kind]++
	}
	least := func(what string, n, want int) {
		if n < want {
			t.Errorf("%d %s, want at least %d", n, what, want)
		}
	}
	least("messages", len(messages), 480)
	least("calls", calls, 200)
	least("topics", len(topics), 20)
	least("requests", marks[corpus.Request], 50)
	least("corrections", marks[corpus.Correction], 10)
	least("returns to a topic", back, 20)
	least("facts", len(facts), 110)
	least("contradictions", kinds[corpus.Contradiction], 10)
	least("superseded facts", kinds[corpus.Superseded], 8)
	least("wrong assumptions", kinds[corpus.Wrong], 4)
	least("secrets", kinds[corpus.Secret], 3)

	sessions := corpus.Conversations(corpus.Agents())
	least("sessions", len(sessions), 24)
	for _, s := range sessions {
		if users := prompts(s); len(s) < 8 || len(s) > 25 || users < 2 || users > 6 {
			t.Errorf("%s: %d messages, %d prompts", s[0].Conversation, len(s), users)
		}
	}

	rewound, rewoundFacts := corpus.Rewound()
	var never, stale int
	for _, f := range rewoundFacts {
		if f.Kind == corpus.Secret {
			never++
		}
		if f.Kind == corpus.TakenBack {
			stale++
		}
	}
	least("rewound conversations", len(corpus.Conversations(rewound)), 4)
	least("secrets taken back", never, 1)
	least("assumptions taken back", stale, 4)
}

func prompts(session []corpus.Message) int {
	n := 0
	for _, m := range session {
		if m.Role == "user" {
			n++
		}
	}
	return n
}

func TestMessages(t *testing.T) {
	for _, s := range sets() {
		for _, c := range corpus.Conversations(s.messages) {
			t.Run(c[0].Conversation, func(t *testing.T) { checkConversation(t, c) })
		}
	}
}

// checkConversation holds what a reader may count on: dense seqs, a user who begins, ascending
// times, a topic on each message, and calls that are answered by the next message.
func checkConversation(t *testing.T, c []corpus.Message) {
	var before time.Time
	open := []corpus.Call{}
	ids := map[string]bool{}
	for i, m := range c {
		at := func(format string, args ...any) {
			t.Errorf("message %d: %s", m.Seq, fmt.Sprintf(format, args...))
		}
		if m.Seq != i {
			at("seq, want %d", i)
		}
		if i == 0 && m.Role != "user" {
			at("begins with the %s", m.Role)
		}
		if now, ok := m.When(); !ok || !now.After(before) {
			at("time %q does not come after %v", m.Time, before)
		} else {
			before = now
		}
		if m.Topic == "" || m.Text == "" || strings.TrimRight(m.Text, " \t\n") != m.Text {
			at("topic %q, text %q", m.Topic, m.Text)
		}
		if m.Mark != "" &&
			(m.Role != "user" || m.Mark != corpus.Request && m.Mark != corpus.Correction) {
			at("mark %q on the %s's message", m.Mark, m.Role)
		}
		if m.RewindTo != nil && (m.Role != "user" || *m.RewindTo < 0 || *m.RewindTo >= m.Seq-1) {
			at("rewinds to %d", *m.RewindTo)
		}
		if len(m.Calls) > 0 && m.Role != "model" || (len(m.Results) > 0) != (m.Role == "tool") {
			at("%d calls and %d results on the %s's message", len(m.Calls), len(m.Results), m.Role)
		}
		if len(m.Results) != len(open) {
			at("%d results for %d calls", len(m.Results), len(open))
			return
		}
		for k, r := range m.Results {
			if r.ID != open[k].ID || r.Name != open[k].Name {
				at("result %s for call %s", r.ID, open[k].ID)
			}
			if !strings.Contains(m.Text, r.Output) {
				at("result %s is not in the text", r.ID)
			}
		}
		for _, call := range m.Calls {
			if ids[call.ID] || len(call.Args) == 0 {
				at("call %s again, or without arguments", call.ID)
			}
			ids[call.ID] = true
			for key, v := range call.Args {
				s, ok := v.(string)
				if ok && call.Name != "replace" && !strings.Contains(m.Text, s) {
					at("argument %s of call %s is not in the text", key, call.ID)
				}
			}
		}
		open = m.Calls
	}
	if len(open) > 0 {
		t.Errorf("the last message has calls that are never answered")
	}
}

func TestFacts(t *testing.T) {
	for _, s := range sets() {
		conversations := map[string][]corpus.Message{}
		for _, c := range corpus.Conversations(s.messages) {
			conversations[c[0].Conversation] = c
		}
		asked := map[string]bool{}
		for _, f := range s.facts {
			if asked[f.Query] {
				t.Errorf("%s: asked twice: %s", s.name, f.Query)
			}
			asked[f.Query] = true
			checkFact(t, conversations[f.Conversation], f)
		}
	}
}

func checkFact(t *testing.T, c []corpus.Message, f corpus.Fact) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Errorf("%s: %s", f.Query, fmt.Sprintf(format, args...))
	}
	if len(f.Evidence) == 0 {
		fail("no evidence")
		return
	}
	if got := seqs(c, f.Answer); !slices.Equal(got, f.Evidence) {
		fail("%q occurs in %v, want %v", f.Answer, got, f.Evidence)
	}
	for _, m := range c {
		if slices.Contains(f.Evidence, m.Seq) && !strings.Contains(m.Text, f.Answer) {
			fail("%q is not word for word in message %d", f.Answer, m.Seq)
		}
	}
	if n := len([]rune(f.Answer)); n < 3 || n > 60 {
		fail("the answer has %d characters", n)
	}
	if strings.Contains(f.Query, f.Answer) {
		fail("the question has the answer in it")
	}
	last := f.Evidence[len(f.Evidence)-1]
	has := func(what string, kinds ...string) bool {
		if (what != "") != slices.Contains(kinds, f.Kind) {
			fail("%q does not go with kind %s", what, f.Kind)
		}
		return what != ""
	}
	if has(f.Other, corpus.Contradiction) {
		if other := seqs(c, f.Other); len(other) == 0 || f.Other == f.Answer {
			fail("the other side's %q occurs in %v", f.Other, other)
		}
	}
	if has(f.Stale, corpus.Superseded, corpus.Wrong, corpus.TakenBack) {
		stale := seqs(c, f.Stale)
		if len(stale) == 0 || stale[0] >= f.Evidence[0] || stale[len(stale)-1] > last {
			fail("stale %q occurs in %v, the evidence is %v", f.Stale, stale, f.Evidence)
		}
		if live := seqs(corpus.Live(c), f.Stale); f.Kind == corpus.TakenBack && len(live) > 0 {
			fail("stale %q is still there in %v after the rewinds", f.Stale, live)
		}
	}
	if has(f.Never, corpus.Secret) && len(seqs(c, f.Never)) == 0 {
		fail("%q does not occur", f.Never)
	}
	live := corpus.Live(c)
	for _, seq := range f.Evidence {
		if !slices.ContainsFunc(live, func(m corpus.Message) bool { return m.Seq == seq }) {
			fail("evidence %d was taken back", seq)
		}
	}
}

// seqs returns the messages whose text has s in it, with case and white space as lenient as they
// are when a rendering is searched for it.
func seqs(c []corpus.Message, s string) []int {
	var found []int
	for _, m := range c {
		if strings.Contains(lenient(m.Text), lenient(s)) {
			found = append(found, m.Seq)
		}
	}
	return found
}

func lenient(s string) string {
	l, ok := folded[s]
	if !ok {
		l = strings.ToLower(strings.Join(strings.Fields(s), " "))
		folded[s] = l
	}
	return l
}

// folded remembers what lenient made of a text: each is asked for with every fact.
var folded = map[string]string{}

// TestFactsBothWays: a contradiction is asked from both sides.
func TestFactsBothWays(t *testing.T) {
	_, facts := corpus.Planted()
	for _, f := range facts {
		if f.Kind == corpus.Contradiction &&
			!slices.ContainsFunc(facts,
				func(g corpus.Fact) bool { return g.Answer == f.Other && g.Other == f.Answer }) {
			t.Errorf("nobody asks for %q, the other side of: %s", f.Other, f.Query)
		}
	}
}

// TestSanitizing: what is stored has no secret in it and still all answers. A secret that no rule
// can know stands in a rewound conversation only, in messages that are taken back.
func TestSanitizing(t *testing.T) {
	for _, s := range sets() {
		clean := slices.Clone(s.messages)
		for i, m := range clean {
			text, _, err := sanitize.Text([]byte(m.Text))
			if err != nil {
				t.Fatal(err)
			}
			clean[i].Text = string(text)
			checkCalls(t, m, s.facts)
		}
		for _, c := range corpus.Conversations(clean) {
			for _, f := range s.facts {
				if f.Conversation != c[0].Conversation {
					continue
				}
				if got := seqs(c, f.Answer); !slices.Equal(got, f.Evidence) {
					t.Errorf("%s: %q is in %v after sanitizing, want %v", f.Query, f.Answer,
						got, f.Evidence)
				}
				if f.Never != "" && len(seqs(corpus.Live(c), f.Never)) > 0 {
					t.Errorf("%s: %q is still there", f.Query, f.Never)
				}
				if f.Never != "" && s.name == "rewound" && len(seqs(c, f.Never)) == 0 {
					t.Errorf("%s: sanitizing takes %q out, so the rewind proves nothing",
						f.Query, f.Never)
				}
			}
		}
	}
}

// checkCalls looks for secrets in what is stored of the calls and results beside the text.
func checkCalls(t *testing.T, m corpus.Message, facts []corpus.Fact) {
	t.Helper()
	b, err := json.Marshal(struct {
		Calls   []corpus.Call
		Results []corpus.Result
	}{m.Calls, m.Results})
	if err != nil {
		t.Fatal(err)
	}
	b, _, err = sanitize.JSON(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		if f.Never != "" && strings.Contains(string(b), f.Never) {
			t.Errorf("%s: %q is still in the calls of message %d", f.Query, f.Never, m.Seq)
		}
	}
}

// TestScripts: there is more than English in it.
func TestScripts(t *testing.T) {
	messages, _ := corpus.Planted()
	for name, table := range map[string]*unicode.RangeTable{"Han": unicode.Han,
		"Hiragana": unicode.Hiragana} {
		if !slices.ContainsFunc(messages, func(m corpus.Message) bool {
			return strings.ContainsFunc(m.Text, func(r rune) bool { return unicode.Is(table, r) })
		}) {
			t.Errorf("nothing in %s", name)
		}
	}
	if len(seqs(messages, "Müller")) == 0 {
		t.Error("nothing in German")
	}
}

// TestKindsOfAnswers: about half of the answers have digits or paths in them, the others are words.
func TestKindsOfAnswers(t *testing.T) {
	_, facts := corpus.Planted()
	hard := 0
	for _, f := range facts {
		if strings.ContainsAny(f.Answer, "0123456789/") {
			hard++
		}
	}
	if share := hard * 100 / len(facts); share < 40 || share > 65 {
		t.Errorf("%d of %d answers have digits or a path", hard, len(facts))
	}
}
