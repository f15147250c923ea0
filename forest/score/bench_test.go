package score

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// crowded returns candidates at all their bounds: 64 clusters of 256 terms, and a conversation with
// the largest number of known people.
func crowded(r *rand.Rand) (*Candidates, func(n int) Message) {
	now := time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC)
	say := func(n int) Message {
		now = now.Add(time.Duration(r.IntN(60)) * time.Second)
		text := fmt.Sprintf("nick%d: ", r.IntN(maxPersons))
		for range n {
			// The product of two uniform numbers makes some terms common and most rare, as in real
			// text.
			text += fmt.Sprintf("w%dx ", int(r.Float64()*r.Float64()*4000))
		}
		return Message{Conversation: "c", Role: "user",
			Author: fmt.Sprintf("nick%d", r.IntN(maxPersons)), Time: now, Text: text}
	}
	c := &Candidates{}
	for i := range 20 * MaxClusters {
		c.Touch(uint64(i%MaxClusters), []Features{Of(say(40))})
	}
	return c, say
}

// BenchmarkMessage reduces a message of 30 terms, places it among 64 clusters of 256 terms with 26
// messages ahead, and records it.
func BenchmarkMessage(b *testing.B) {
	c, say := crowded(rand.New(rand.NewPCG(1, 2)))
	var said []Message
	var ahead []Features
	for range 1024 {
		m := say(30)
		said, ahead = append(said, m), append(ahead, Of(m))
	}
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at := i % (len(said) - 30)
		start := time.Now()
		unit := []Features{Of(said[at])}
		number, joined := c.Place(unit, ahead[at+1:at+27], 0.5)
		if !joined {
			number = uint64(1000 + i)
		}
		c.Touch(number, unit)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Nanoseconds()), "p95-ns")
}

// BenchmarkExchange does the same for an exchange of eight messages of 200 terms each.
func BenchmarkExchange(b *testing.B) {
	c, say := crowded(rand.New(rand.NewPCG(1, 2)))
	var units [][]Features
	for range 64 {
		var unit []Features
		for i := range 8 {
			m := say(200)
			m.Role, m.Author = []string{"user", "model", "tool", "model"}[i%4], ""
			unit = append(unit, Of(m))
		}
		units = append(units, unit)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		number, joined := c.Place(units[i%len(units)], nil, 0.5)
		if !joined {
			number = uint64(1000 + i)
		}
		c.Touch(number, units[i%len(units)])
	}
}

// BenchmarkCodec encodes and decodes candidates at their bounds, as every command does that
// graduates.
func BenchmarkCodec(b *testing.B) {
	c, _ := crowded(rand.New(rand.NewPCG(1, 2)))
	enc := c.Append(nil)
	b.SetBytes(int64(len(enc)))
	b.ReportAllocs()
	for b.Loop() {
		enc = c.Append(enc[:0])
		if _, err := DecodeCandidates(enc); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(enc)), "bytes")
}
