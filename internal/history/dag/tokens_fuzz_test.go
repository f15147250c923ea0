package dag

import (
	"encoding/json"
	"testing"
)

// FuzzTokens: what is read as a set is written as one that is read as the same.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{`{"tokens":[]}`, `{"tokens":[3,1,1,4]}`, `{"tokens":[0]}`,
		`{"tokens":[-1]}`, `{"tokens":null}`, `{}`, `{"tokens":[1],"x":1}`,
		`{"tokens":[18446744073709551615]}`, `[1]`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var set, again Tokens
		if set.UnmarshalJSON(b) != nil {
			return
		}
		text, err := json.Marshal(set)
		if err == nil {
			err = again.UnmarshalJSON(text)
		}
		if err != nil || again.String() != set.String() {
			t.Errorf("%q is %v, then %v, %v", b, set, again, err)
		}
	})
}
