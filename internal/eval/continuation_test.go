package eval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
)

// work makes lines of Claude Code: n prompts with so many words each, which begin at a number.
func work(first, n, words int) []string {
	var lines []string
	for i := first; i < first+n; i++ {
		text := fmt.Sprintf("prompt%d", i) + strings.Repeat(fmt.Sprintf(" word%d", i%7), words)
		lines = append(lines,
			fmt.Sprintf(
				`{"type":"user","sessionId":"s","uuid":"u%d","message":{"role":"user","content":%q}}`, i, text))
	}
	return lines
}

func claudeTranscript(name string, lines ...string) sets.Transcript {
	return sets.Transcript{
		Name: name, Agent: claudecode.Agent, Data: []byte(strings.Join(lines, "\n") + "\n"),
	}
}

func summaryLine(text string) string {
	return fmt.Sprintf(
		`{"type":"user","sessionId":"s","uuid":"sum","isCompactSummary":true,"message":{"role":"user","content":%q}}`, text)
}

func TestPlacesOfCompactions(t *testing.T) {
	long := strings.Repeat("prompt1 was done. ", 100)
	shorter := claudeTranscript(
		"a", append(append(work(0, 30, 5), summaryLine(long)), work(30, 25, 5)...)...,
	)
	longer := claudeTranscript(
		"b", append(append(work(0, 30, 5), summaryLine(long)), work(30, 70, 5)...)...,
	)
	soonOver := claudeTranscript(
		"c", append(append(work(0, 30, 5), summaryLine("other "+long)),
			work(30, leastNext-1, 5)...)...,
	)
	brief := claudeTranscript(
		"d", append(append(work(0, 30, 5), summaryLine("done")), work(30, 30, 5)...)...,
	)
	got := places([]sets.Transcript{shorter, longer, soonOver, brief})
	if len(got) != 1 {
		t.Fatalf("%d places", len(got))
	}
	p := got[0]
	if p.transcript.Name != "b" || p.at() != atCompaction || len(p.history) != 30 ||
		len(p.next) != nextRecords || p.budget != 450 {
		t.Errorf(
			"%s at %s: %d before, %d after, %d tokens", p.transcript.Name, p.at(), len(p.history),
			len(p.next), p.budget,
		)
	}
	if before := string(p.transcript.UpTo(p.end).Data); !strings.HasSuffix(
		before, work(29, 1, 5)[0]+"\n",
	) {
		t.Errorf("the history ends with %q", before[len(before)-80:])
	}
}

func TestPlacesOfCuts(t *testing.T) {
	long := claudeTranscript("long", work(0, 100, 150)...) // of about 260 tokens each
	short := claudeTranscript("short", work(0, 100, 5)...)
	few := claudeTranscript("few", work(0, 45, 900)...)
	got := places([]sets.Transcript{short, few, long})
	if len(got) != 1 {
		t.Fatalf("%d places", len(got))
	}
	p := got[0]
	if p.transcript.Name != "long" || p.at() != atCut || len(p.history) != 60 ||
		len(p.next) != 40 || p.budget != cutBudget {
		t.Errorf(
			"%s at %s: %d before, %d after, %d tokens", p.transcript.Name, p.at(), len(p.history),
			len(p.next), p.budget,
		)
	}
}

// Every way has its row at every kind of place, and keeps to the budget.
func TestContinuation(t *testing.T) {
	own := sets.Own(1)
	agents := own[len(own)-1]
	r := run(t, Options{Only: []string{"continuation"}, Seed: 1}, agents)
	rows := r.Sets[0].Continuation
	var got []string
	for _, c := range rows {
		got = append(got, fmt.Sprintf("%s: %s: %d", c.At, c.Way, c.N))
		if c.Tokens > c.Budget || c.Tokens == 0 {
			t.Errorf("%s: %d tokens of %d", c.Way, c.Tokens, c.Budget)
		}
		for _, m := range []*stats.Milli{c.Said, c.Called, c.Files, c.Lines} {
			if m == nil || *m < 0 || *m > 1000 {
				t.Errorf("%s at %s: %v", c.Way, c.At, m)
			}
		}
		if c.Way == waySummary && (c.Junk != 0 || c.Budget != c.Tokens) {
			t.Errorf("the client's summary: %+v", c)
		}
	}
	want := []string{
		"compaction: ctx render: 4", "compaction: ctx render, before compaction: 4",
		"compaction: the client's summary: 4",
		"compaction: last words: 4", "compaction: head and tail: 4",
		"cut: ctx render: 2", "cut: ctx render, before compaction: 2", "cut: last words: 2",
		"cut: head and tail: 2",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if s := r.Sets[0]; s.Known != nil || s.Sessions != nil || s.Conversations != 6 ||
		s.Unused != 0 {
		t.Errorf("%+v", s)
	}
}

// What was said before a cut by the words that come next is there in the last words, and not in the
// words of the client's summary.
func TestContinuationCounts(t *testing.T) {
	lines := work(0, 30, 5)
	lines = append(lines, summaryLine(strings.Repeat("prompt1 was done. ", 100)))
	lines = append(lines, work(28, 25, 5)...) // 28 and 29 again, and new ones
	set := sets.Set{Name: "one", Transcripts: []sets.Transcript{claudeTranscript("a", lines...)}}
	for _, c := range run(t, Options{Only: []string{"continuation"}}, set).Sets[0].Continuation {
		want := stats.Milli(1000)
		if c.Way == waySummary {
			want = 0
		}
		if c.Said == nil || *c.Said != want || c.Called != nil || c.Files != nil || c.N != 1 {
			t.Errorf("%+v, said %v", c, c.Said)
		}
	}
}
