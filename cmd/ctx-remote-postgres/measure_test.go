package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// TestMeasure puts CTX_POSTGRES_MESSAGES messages into the index with 32 clients, and searches
// them. The words follow the law of Zipf, so there are common ones and rare ones; a message has 60
// words on average, a text of some 400 bytes.
func TestMeasure(t *testing.T) {
	want, _ := strconv.Atoi(os.Getenv("CTX_POSTGRES_MESSAGES"))
	if want == 0 {
		t.Skip("CTX_POSTGRES_MESSAGES says how many messages to measure with, such as 1000000")
	}
	s := started(t)
	const clients, batch = 32, 100
	s.granted(t, "measure", "ann")
	var working sync.WaitGroup
	began := time.Now()
	for c := range clients {
		r := s.open(t, "ann", "measure")
		working.Go(func() {
			words := newVocabulary(uint64(c))
			for n := c * batch; n < want; n += clients * batch {
				messages := make([]remote.Message, 0, batch)
				for i := range min(batch, want-n) {
					messages = append(messages, remote.Message{ID: fmt.Sprintf("%064x", n+i),
						Store: strconv.Itoa(c), Session: strconv.Itoa((n + i) / 500), Role: "user",
						At:   time.Now().UTC().Add(-time.Duration(n+i) * 15 * time.Second),
						Text: words.text(20 + words.r.IntN(80))})
				}
				if err := r.Index(t.Context(), messages); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
	took := time.Since(began)
	t.Logf("%d messages by %d clients in %v: %.0f a second", want, clients, took.Round(time.Second),
		float64(want)/took.Seconds())
	r, words := s.open(t, "ann", "measure"), newVocabulary(99)
	for _, kind := range []struct {
		name  string
		query func() string
	}{
		{"a common word", func() string { return word(words.r.IntN(20)) }},
		{"a rare word", func() string { return word(5000 + words.r.IntN(40000)) }},
		{"three words", func() string { return words.text(3) }},
		{"a phrase", func() string { return `"` + words.text(2) + `"` }},
	} {
		var times []time.Duration
		found := 0
		for range 100 {
			query := kind.query()
			start := time.Now()
			hits, err := r.Search(t.Context(), query, 20)
			if err != nil {
				t.Fatal(err)
			}
			times, found = append(times, time.Since(start)), found+len(hits)
		}
		slices.Sort(times)
		t.Logf("search for %s: p50 %v, p95 %v, worst %v; %d hits", kind.name,
			times[50].Round(100*time.Microsecond), times[95].Round(100*time.Microsecond),
			times[99].Round(100*time.Microsecond), found)
	}
}

type vocabulary struct {
	r *rand.Rand
	z *rand.Zipf
}

func newVocabulary(seed uint64) *vocabulary {
	r := rand.New(rand.NewPCG(seed, 1))
	return &vocabulary{r, rand.NewZipf(r, 1.07, 3, 50_000)}
}

// word returns the word of a rank: the same for everybody.
func word(rank int) string {
	return fmt.Sprintf("w%sx", strconv.FormatInt(int64(rank)*7919+31, 36))
}

func (v *vocabulary) text(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(word(int(v.z.Uint64())))
		b.WriteByte(' ')
	}
	return b.String()
}
