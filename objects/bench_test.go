package objects_test

import (
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

func BenchmarkPut(b *testing.B) {
	s, _ := newStore(b, nil)
	text := words(1024, 1)
	n := 0
	for b.Loop() {
		n++
		put(b, s, object(n, text))
	}
}

// One operation is a batch of 4,096 objects with bodies of 1 KB.
func BenchmarkPutBatch(b *testing.B) {
	s, _ := newStore(b, nil)
	text := words(1<<20, 1)
	raws := make([]format.Raw, 4096)
	n := 0
	for b.Loop() {
		b.StopTimer()
		for i := range raws {
			n++
			at := i * 255
			raws[i] = object(n, text[at:at+1024])
		}
		b.StartTimer()
		put(b, s, raws...)
	}
	b.ReportMetric(float64(b.N*len(raws))/b.Elapsed().Seconds(), "objects/s")
}

func BenchmarkGet(b *testing.B) {
	text := words(1<<20, 1)
	raws := make([]format.Raw, 4096)
	for i := range raws {
		raws[i] = object(i, text[i*255:i*255+1024])
	}
	b.Run("alone", func(b *testing.B) {
		s, _ := newStore(b, nil)
		put(b, s, raws[:64]...)
		benchGet(b, s, raws[:64])
	})
	s, root := newStore(b, nil)
	pack(b, s, raws...)
	b.Run("packed in order", func(b *testing.B) { benchGet(b, s, raws) })
	b.Run("packed scattered", func(b *testing.B) {
		scattered := make([]format.Raw, len(raws))
		for i := range raws {
			scattered[i] = raws[i*1021%len(raws)]
		}
		benchGet(b, s, scattered)
	})
	b.Run("packed, store opened each time", func(b *testing.B) {
		i := 0
		for b.Loop() {
			fresh := objects.Open(root, nil)
			if _, err := fresh.Get(raws[i%len(raws)].ID()); err != nil {
				b.Fatal(err)
			}
			_ = fresh.Close()
			i++
		}
	})
}

func benchGet(b *testing.B, s *objects.Store, raws []format.Raw) {
	i := 0
	for b.Loop() {
		if _, err := s.Get(raws[i%len(raws)].ID()); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkHasAll(b *testing.B) {
	s, root := newStore(b, nil)
	raws := batch(4096)
	put(b, s, raws...)
	list := ids(raws)
	for name, s := range map[string]*objects.Store{"just written": s,
		"from disk": open(b, root, nil)} {
		b.Run(fmt.Sprint(name, ", 4096"), func(b *testing.B) {
			for b.Loop() {
				if missing, err := s.HasAll(list); err != nil || len(missing) > 0 {
					b.Fatal(missing, err)
				}
			}
		})
	}
}
