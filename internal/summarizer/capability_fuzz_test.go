package summarizer

import "testing"

// FuzzDecodeCapability checks that every first line is valid, or gives a failure with a kind and a
// short reason.
func FuzzDecodeCapability(f *testing.F) {
	for _, seed := range []string{``, `{}`, `null`, `[]`,
		`{"ctx":"summarizer","v":1,"name":"x","version":"1","max_input_tokens":100000}`,
		`{"ctx":"summarizer","v":2,"name":"x","version":"1"}`,
		`{"ctx":"summarizer","v":1,"name":"","version":"1","max_input_tokens":1}`, "\x00", "\xff",
		`{"ctx":"summarizer","v":1,"name":"x","version":"1","max_input_tokens":1e300}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		c, failure := decodeCapability(line)
		switch {
		case failure == nil:
			if err := c.check(); err != nil {
				t.Errorf("%q is taken: %v", line, err)
			}
		case failure.Kind == "" || failure.Why == "" || len(failure.Why) > 1000:
			t.Errorf("%q: %+v", line, failure)
		}
	})
}
