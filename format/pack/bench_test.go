package pack

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// chat returns n messages of a conversation.
func chat(n int) []Object {
	var list []Object
	var parent format.ID
	text := bytes.Repeat([]byte("the server builds a file, and the test of port w7081 fails; "), 3)
	for i := range n {
		lines := fmt.Appendf(nil, "entry 1\nparent %v\nseq %d\nsession talk\nkind message\nrole user\ntime 2026-11-21T00:42:09.%03dZ\n", parent, i+1, i%1000)
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
