package jsonl

import (
	"bytes"
	"encoding/json"
	"testing"
)

// memberSeeds are objects that are awkward to cut up, and what is none.
func memberSeeds() []string {
	return []string{
		`{}`, ` { } `, `{"a":1}`, `{"a":"b","c":["d",{"e":"}"}],"f":-1.5e3 , "g" : null}`, `{"a\"b":"c\\","\u0064":"\\\""}`,
		`{"role":"user","text":"caf\u00e9 \ud83d\ude00 \ud800","source":"irc:5"}`, `{"a":{"b":[[],{}]},"a":2}`, "{\"a\":\"\xe9\"}",
		`[1]`, `"a"`, `{`, `{"a":}`, `null`, ``, `{"a":1}x`,
	}
}

func TestSeedsOfMembers(t *testing.T) {
	if len(memberSeeds()) < 10 {
		t.Error("seeds are missing")
	}
}

// FuzzEachMember compares the members of an object with what encoding/json finds in it.
func FuzzEachMember(f *testing.F) {
	for _, seed := range memberSeeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		got := map[string]json.RawMessage{}
		err := EachMember(object, func(key, value []byte) error {
			got[string(bytes.ToValidUTF8(key, []byte("\uFFFD")))] = bytes.Clone(value)
			return nil
		})
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(object, &want)
		if wantErr == nil && want == nil {
			return // null
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: got %v, want %v", object, err, wantErr)
		}
		if err != nil || !bytes.Equal(bytes.ToValidUTF8(object, nil), object) {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %d members, want %d", object, len(got), len(want))
		}
		for key, value := range want {
			if !bytes.Equal(got[key], value) {
				t.Fatalf("%q: member %q is %q, want %q", object, key, got[key], value)
			}
		}
	})
}
