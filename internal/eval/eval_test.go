package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

func idOf(n int) (format.ID, error) { return format.ParseID(fmt.Sprintf("%064x", n+1)) }

// chat is a small set: two topics by turns, with a question about each.
func chat() Set {
	set := Set{Name: "chat"}
	for i := range 120 {
		m := corpus.Message{
			Conversation: "c", Seq: i, Role: "user", Author: []string{"ann", "bob"}[i/3%2],
			Topic: []string{"db", "parser"}[i/3%2],
			Time:  time.Date(2026, 1, 2, 10, i, 0, 0, time.UTC).Format(time.RFC3339),
			Text: []string{"The postgres migration %d adds a column to the table.",
				"The parser finds an empty token %d in parser.go."}[i/3%2],
		}
		m.Text = strings.Replace(m.Text, "%d", fmt.Sprint(i), 1)
		set.Messages = append(set.Messages, m)
	}
	set.Messages[6].Text = "The port of the database is 5433."
	set.Messages[119].Topic = "" // is clustered, and not counted
	set.Facts = []corpus.Fact{
		{Conversation: "c", Query: "Which port has the database?", Answer: "5433",
			Evidence: []int{6}},
		{Conversation: "c", Query: "What did they say of the parser?",
			Answer: "That it finds empty tokens.", Evidence: []int{3, 4, 9}},
	}
	return set
}

func run(t *testing.T, o Options, list ...Set) *Report {
	t.Helper()
	r, err := Run(context.Background(), list, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Everything is measured, and comes out the same again.
func TestRunIsRepeatable(t *testing.T) {
	var texts, docs [2]bytes.Buffer
	for i := range texts {
		r := run(t, Options{Seed: 7, Version: "1"}, chat())
		if err := r.WriteText(&texts[i]); err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(&docs[i]).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0].Bytes(), texts[1].Bytes()) ||
		!bytes.Equal(docs[0].Bytes(), docs[1].Bytes()) {
		t.Errorf("another report:\n%s\n%s", texts[0].String(), texts[1].String())
	}
	for _, want := range []string{"== chat: 1 conversations, 120 messages,", "\nctx ", "all alone",
		"head+tail", "reachable"} {
		if !strings.Contains("\n"+texts[0].String(), want) {
			t.Errorf("nothing of %q in\n%s", want, texts[0].String())
		}
	}
	var doc struct {
		V    int
		Seed int
		Sets []struct {
			Clustering []struct {
				Rule string
				F    float64 `json:"bcubed_f"`
				Gold int
			}
			Recovery struct{ Share float64 }
		}
	}
	if err := json.Unmarshal(docs[0].Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.V != 1 || doc.Seed != 7 || doc.Sets[0].Recovery.Share != 1 ||
		len(doc.Sets[0].Clustering) != 1+len(rules()) {
		t.Errorf("%+v", doc)
	}
	for _, c := range doc.Sets[0].Clustering {
		if c.Gold != 2 || c.F <= 0 || c.F > 1 || c.Rule == "same author" && c.F != 1 {
			t.Errorf("%+v", c)
		}
	}
}

func TestOnlyWhatIsWanted(t *testing.T) {
	r := run(t, Options{Only: []string{"recovery"}}, chat())
	s := r.Sets[0]
	if s.Recovery == nil || s.Clustering != nil || s.Retention != nil {
		t.Errorf("%+v", s)
	}
	if _, err := Run(context.Background(), nil,
		Options{Only: []string{"recovery", "wit"}}); err == nil ||
		err.Error() != `unknown part: "wit"` {
		t.Error(err)
	}
}

// Settings are those of every store, and checked.
func TestSettings(t *testing.T) {
	o := Options{Only: []string{"recovery"},
		Settings: Settings{Overrides: []string{"forest.max_cold_clusters=3"}}}
	if r := run(t, o, Set{Name: "none"}); !slices.Contains(r.Settings,
		"forest.max_cold_clusters=3") {
		t.Errorf("%q", r.Settings)
	}
	for _, bad := range []string{"forest.merge_threshold=NaN", "forest.merge_threshold=2",
		"forest.max_cold_clusters=0", "window.graduate_at=-1"} {
		o.Settings.Overrides = []string{bad}
		var config *repo.ConfigError
		if _, err := Run(context.Background(), []Set{chat()}, o); !errors.As(err, &config) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A conversation that was taken back is measured as it is now.
func TestRewoundIsNotMeasured(t *testing.T) {
	set := chat()
	back := 3
	set.Facts = append(set.Facts,
		corpus.Fact{Conversation: "d", Query: "Who?", Answer: "nobody", Evidence: []int{1}})
	set.Messages[50].RewindTo = &back
	r := run(t, Options{Only: []string{"clustering", "recovery"}}, set)
	if s := r.Sets[0]; s.Recovery.Messages != 4+70 || s.Recovery.Share != 1000 || s.Unused != 2 {
		t.Errorf("%+v, %d facts unused", s.Recovery, s.Unused)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, []Set{chat()}, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// parrot words a summary with what it was given first.
type parrot struct{ asked int }

func (p *parrot) Limit() int { return 4000 }

func (p *parrot) Summarize(_ context.Context, ask summarize.Request) (summarize.Response, error) {
	p.asked++
	return summarize.Response{Text: "Squawk: " + ask.Inputs[0].Text, Summarizer: "parrot",
		Version: "1"}, nil
}

// Another summarizer is asked where there is one, and everything else is as it was.
func TestAnotherSummarizer(t *testing.T) {
	p := &parrot{}
	o := Options{Only: []string{"facts", "recovery"},
		Summarizer: func(*session.Store) (summarize.Summarizer, error) { return p, nil }}
	s := run(t, o, chat()).Sets[0]
	if p.asked == 0 || s.Recovery.Share != 1000 {
		t.Errorf("asked %d times, %+v", p.asked, s.Recovery)
	}
	o.Summarizer = func(*session.Store) (summarize.Summarizer, error) {
		return nil, errors.New("no such helper")
	}
	if _, err := Run(context.Background(), []Set{chat()}, o); err == nil ||
		err.Error() != "no such helper" {
		t.Error(err)
	}
}
