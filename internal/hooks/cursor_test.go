package hooks

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// A cursor is read as it was written.
func TestCursorRoundTrip(t *testing.T) {
	for _, state := range [][]byte{nil, {}, []byte("{}\n\x00\n\xff"),
		bytes.Repeat([]byte{'\n', 1}, 1000)} {
		want := copiedFile{
			Path: "/a\nb", Size: 7, Time: 8, Session: "s", Skipped: "line 1", File: "f",
			Ends: []byte{1}, Sum: []byte{2},
			Mark: transcript.Mark{Offset: 5, Last: "m", State: state},
		}
		written, err := want.encode()
		if err != nil {
			t.Fatal(err)
		}
		var got copiedFile
		if err := got.decode(written); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("state %q: got %+v, error %v", state, got, err)
		}
		if err := new(copiedFile).decode(written[:3]); err == nil {
			t.Errorf("%q is a cursor", written[:3])
		}
	}
}
