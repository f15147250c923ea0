package format_test

import (
	"bytes"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// fuzz checks that a codec does not panic, and that all bytes that it accepts encode to the same
// bytes again.
func fuzz(f *testing.F, name string) {
	c := codecOf(f, name)
	for _, b := range c.samples {
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		again, err := c.again(b)
		if err == nil && !bytes.Equal(again, b) {
			t.Errorf("%q was accepted and prints as %q", b, again)
		}
	})
}

func FuzzDecodeEntry(f *testing.F)       { fuzz(f, "entry") }
func FuzzDecodeBlob(f *testing.F)        { fuzz(f, "blob") }
func FuzzDecodeNode(f *testing.F)        { fuzz(f, "node") }
func FuzzDecodeSummary(f *testing.F)     { fuzz(f, "summary") }
func FuzzDecodeTombstone(f *testing.F)   { fuzz(f, "tombstone") }
func FuzzDecodePage(f *testing.F)        { fuzz(f, "page") }
func FuzzDecodeForest(f *testing.F)      { fuzz(f, "forest") }
func FuzzDecodeEpoch(f *testing.F)       { fuzz(f, "epoch") }
func FuzzDecodeMask(f *testing.F)        { fuzz(f, "mask") }
func FuzzDecodeReplace(f *testing.F)     { fuzz(f, "replace") }
func FuzzDecodeAbsent(f *testing.F)      { fuzz(f, "absent") }
func FuzzDecodeForgotten(f *testing.F)   { fuzz(f, "forgotten") }
func FuzzDecodeOperation(f *testing.F)   { fuzz(f, "operation") }
func FuzzDecodeStoreFormat(f *testing.F) { fuzz(f, "store") }

// FuzzDecodePayload puts every payload into a valid frame, because a fuzzer does not find a
// matching digest by itself.
func FuzzDecodePayload(f *testing.F) {
	for _, record := range codecOf(f, "operation").samples {
		f.Add(record[12 : len(record)-36])
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		record := frame(payload)
		again, err := againOperation(record)
		if format.IsShortRecord(err) {
			t.Errorf("%x: a whole record is taken for a short one", record)
		}
		if err == nil && !bytes.Equal(again, record) {
			t.Errorf("%x was accepted and prints as %x", record, again)
		}
	})
}

// FuzzDecodeCheckpoint adds a matching checksum to the lines that the fuzzer makes. It also tries
// the bytes without one.
func FuzzDecodeCheckpoint(f *testing.F) {
	for _, b := range codecOf(f, "checkpoint").samples {
		f.Add(b[:bytes.LastIndex(b, []byte("sum "))])
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, file := range [][]byte{b, summed(b)} {
			again, err := againCheckpoint(file)
			if err == nil && !bytes.Equal(again, file) {
				t.Errorf("%q was accepted and prints as %q", file, again)
			}
		}
	})
}

func FuzzDecodeRaw(f *testing.F) {
	header, err := blobHeader()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(header)
	f.Add(format.AppendRaw(nil, format.Raw{Header: header, Body: sampleBlob()}))
	f.Add([]byte("\n\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		raw, err := format.DecodeRaw(b)
		if err != nil {
			return
		}
		if again := format.AppendRaw(nil, raw); !bytes.Equal(again, b) {
			t.Errorf("%q was accepted and prints as %q", b, again)
		}
		if kind, version, err := format.HeaderKind(raw.Header); err == nil &&
			(kind == "" || version == 0) {
			t.Errorf("%q: is %q %d", b, kind, version)
		}
		if body, ok, err := format.HeaderBody(raw.Header); ok &&
			(err != nil || body.Size < 0 || body.Size > format.MaxBody) {
			t.Errorf("%q: has a body %+v, error %v", b, body, err)
		}
	})
}

// fuzzText is fuzz for codecs of short texts.
func fuzzText(f *testing.F, again func(string) (string, error), seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := again(s)
		if err == nil && got != s {
			t.Errorf("%q was accepted and prints as %q", s, got)
		}
	})
}

func FuzzParseValue(f *testing.F) {
	fuzzText(f, func(s string) (string, error) {
		v, err := format.ParseValue(s)
		return v.String(), err
	}, "object "+hexOf, "session "+hexOf+" 3 "+hexOf+" 2", "session "+hexOf+" 3 - 0",
		"name caf%C3%A9")
}

func FuzzDecodeName(f *testing.F) {
	fuzzText(f, func(s string) (string, error) {
		name, err := format.DecodeName(s)
		if err != nil {
			return "", err
		}
		return format.EncodeName(name)
	}, "main", "a%20b", "caf%C3%A9", "%41", "%", "%2f")
}

func FuzzParseID(f *testing.F) {
	fuzzText(f, func(s string) (string, error) {
		id, err := format.ParseID(s)
		return id.String(), err
	}, hexOf, zeroHex, hexOf[1:])
}

func FuzzParseTime(f *testing.F) {
	fuzzText(f, func(s string) (string, error) {
		at, err := format.ParseTime(s)
		return format.FormatTime(at), err
	}, "2026-11-21T00:42:09.328Z", "0000-01-01T00:00:00.000Z", "2026-11-21T00:42:09,328Z",
		"9999-12-31T23:59:59.999Z")
}
