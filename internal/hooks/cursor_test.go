package hooks

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// A cursor is read as it was written, and as older versions wrote it.
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
		older, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{written, older} {
			var got copiedFile
			if err := got.decode(b); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("state %q: got %+v, error %v", state, got, err)
			}
			if err := new(copiedFile).decode(b[:3]); err == nil {
				t.Errorf("%q is a cursor", b[:3])
			}
		}
		if len(state) > 1000 && len(written) >= len(older) {
			t.Errorf("%d bytes, and %d in the older form", len(written), len(older))
		}
	}
}
