package main

import "testing"

// TestPlainly has numbers and truths as models write them.
func TestPlainly(t *testing.T) {
	for raw, want := range map[string]int{
		`{"query":"x","limit":10}`: 10, `{"query":"x","limit":10.0}`: 10,
		`{"query":"x","limit":"10"}`: 10, `{"query":"x","limit":null}`: 0,
		`{"query":"x","limit":1e1,"rewound":"true"}`: 10,
		`{"query":"x","limit":10,"role":"User"}`:     10,
	} {
		var a searchArgs
		if err := decode([]byte(raw), &a); err != nil || a.Limit != want {
			t.Errorf("%s: %d, %v", raw, a.Limit, err)
		}
	}
	for _, raw := range []string{`{"query":"x","limit":10.5}`, `{"query":"x","limit":"ten"}`,
		`{"query":"x","rewound":"yes"}`} {
		if err := decode([]byte(raw), &searchArgs{}); err == nil {
			t.Errorf("%s is taken", raw)
		}
	}
}
