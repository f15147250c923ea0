package format_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

func BenchmarkDecodeEntry(b *testing.B) {
	header := []byte(
		"entry 1\nparent " + hexOf +
			"\nseq 12\nsession talk\nkind message\nrole user\ntime " +
			"2026-11-21T00:42:09.328Z\nbody sha256:" + hexOf + " 216 text/plain\n")
	if _, err := format.DecodeEntry(header); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = format.DecodeEntry(header)
	}
}
