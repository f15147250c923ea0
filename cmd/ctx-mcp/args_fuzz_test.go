package main

import "testing"

// FuzzArguments: the arguments of every tool are taken, or refused by an error for people; what is
// taken is within its bounds.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{``, `null`, `{}`, `[]`, `{"query":"pump"}`,
		`{"rev":"@~1","reader":"work/main"}`, `{"session":"a/b","branch":"\u0000"}`,
		`{"tokens":-1}`, `{"tokens":1e99}`, `{"limit":99999999}`,
		`{"cursor":"x"}`, `{"roles":["user","nobody"]}`, `{"since":"yesterday"}`, `{"x":1}`, `{}{}`,
		`{"query":"` + string(make([]byte, 10)) + `"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, args := range []interface{ check() error }{&searchArgs{}, &readArgs{},
			&sessionsArgs{}, &briefArgs{}, &whoArgs{}} {
			if err := decode(raw, args); err != nil {
				if err.Error() == "" || len(err.Error()) > len(raw)+200 {
					t.Errorf("%q: error %q", raw, err)
				}
				continue
			}
			if s, ok := args.(*searchArgs); ok && s.check() == nil && len(s.Query) > maxQuery {
				t.Errorf("a query of %d bytes", len(s.Query))
			}
			_ = args.check()
		}
	})
}
