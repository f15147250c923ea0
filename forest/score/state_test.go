package score

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// talk is a seeded random conversation in which people address each other by name, ask, acknowledge
// and fall silent.
func talk(seed uint64, n int) []Features {
	r := rand.New(rand.NewPCG(seed, 1))
	now := time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC)
	list := make([]Features, n)
	for i := range list {
		now = now.Add(time.Duration(r.IntN(1<<r.IntN(12))) * time.Second)
		text := ""
		if r.IntN(2) == 0 {
			text = fmt.Sprintf("nick%d: ", r.IntN(30))
		}
		for range r.IntN(12) {
			text += fmt.Sprintf("word%c ", 'a'+r.IntN(26)*r.IntN(26)/25)
		}
		text += []string{"?", "thanks", "see pkg/file.go", "hello", ""}[r.IntN(5)]
		list[i] = Of(Message{Conversation: fmt.Sprint(r.IntN(2)), Role: "user",
			Author: fmt.Sprintf("nick%d", r.IntN(30)), Time: now, Text: text})
	}
	return list
}

// play places and touches all messages, each with the messages after it as ahead.
func play(c *Candidates, list []Features) (clusters []uint64) {
	opened := uint64(1)
	for i := range list {
		number, joined := c.Place(list[i:i+1], list[i+1:min(len(list), i+27)], 0.5)
		if !joined {
			number = opened
			opened++
		}
		c.Touch(number, list[i:i+1])
		clusters = append(clusters, number)
	}
	return clusters
}

func TestCandidatesCodec(t *testing.T) {
	for _, n := range []int{0, 1, 10, 500} {
		c := &Candidates{}
		list := talk(7, n)
		play(c, list)
		enc := c.Append(nil)
		got, err := DecodeCandidates(enc)
		if err != nil {
			t.Fatalf("%d messages: %v", n, err)
		}
		if again := got.Append(nil); !bytes.Equal(again, enc) {
			t.Errorf("%d messages: written again it differs", n)
		}
		more := talk(8, 50)
		a, b := fmt.Sprint(play(c, more)), fmt.Sprint(play(got, more))
		if a != b {
			t.Errorf("%d messages: decisions differ after reading: %s, %s", n, a, b)
		}
	}
}

func FuzzDecodeCandidates(f *testing.F) {
	for _, n := range []int{0, 1, 40} {
		c := &Candidates{}
		play(c, talk(3, n))
		f.Add(c.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := DecodeCandidates(b)
		if err != nil {
			return
		}
		if again := c.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x is written as %x", b, again)
		}
		play(c, talk(5, 3))
	})
}

func FuzzDecodeFeatures(f *testing.F) {
	for _, m := range talk(3, 5) {
		f.Add(m.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, rest, err := DecodeFeatures(b)
		if err != nil {
			return
		}
		if again := append(m.Append(nil), rest...); !bytes.Equal(again, b) {
			t.Fatalf("%x is written as %x", b, again)
		}
	})
}
