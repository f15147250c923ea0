package pack

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// chat returns n messages of a conversation.
func chat(n int) []Object {
	var list []Object
	var parent format.ID
	text := bytes.Repeat([]byte("the server builds a file, and the test of port w7081 fails; "), 3)
	for i := range n {
		lines := fmt.Appendf(nil,
			"entry 1\nparent %v\nseq %d\nsession talk\nkind message\nrole user\ntime "+
				"2026-11-21T00:42:09.%03dZ\n", parent, i+1, i%1000)
		body := append(bytes.Clone(newNonces(testKey).of(lines)), text...)
		sum := format.SumBody(body, format.MediaText)
		header := fmt.Appendf(lines, "body sha256:%x %d %s\n", sum.Digest, sum.Size, sum.Media)
		parent = format.Sum(header)
		list = append(list, Object{ID: parent, Header: header, Body: body})
	}
	return list
}

// A block of 4,096 messages, without compression.
func BenchmarkDecode(b *testing.B) {
	list := chat(4096)
	raw, digest := Encode(list, testKey, nil)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(raw, len(list), digest, testKey, true, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(list)), "µs/object")
}

func BenchmarkEncode(b *testing.B) {
	list := chat(4096)
	b.ReportAllocs()
	for b.Loop() {
		Encode(list, testKey, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(list)), "µs/object")
}

// One operation is a look-up among as many objects as a large pack has.
func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	var objects []Entry
	var blocks []Block
	for i := range 1 << 20 {
		objects = append(objects, Entry{Prefix: r.Uint32(), Number: uint32(i)})
		if i%256 == 0 {
			blocks = append(blocks, Block{Kind: Whole, Frame: 10, Raw: 40, Objects: 256})
		}
	}
	data, err := EncodeIndex(sha256.Sum256(nil), objects, nil, blocks)
	if err != nil {
		b.Fatal(err)
	}
	reads := 0
	x, err := OpenIndex(readerFunc(func(p []byte, at int64) (int, error) {
		reads++
		return copy(p, data[at:]), nil
	}), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		if _, err := x.Find(objects[n*7919%len(objects)].Prefix); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(reads)/float64(b.N), "reads/op")
}

type readerFunc func(p []byte, at int64) (int, error)

func (f readerFunc) ReadAt(p []byte, at int64) (int, error) { return f(p, at) }
