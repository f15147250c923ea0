package main

import (
	"bytes"
	"strings"
	"testing"
)

// What a user sees without a store: how the program is used, and no key anywhere.
func TestRun(t *testing.T) {
	const secret = "hunter2hunter2X9"
	for _, c := range []struct {
		args, in  string
		code      int
		out, errs string
	}{
		{"version", "", 0, "ctx-remote-s3 version", ""},
		{"help", "", 0, "ctx-remote-s3 check URL", ""},
		{"check", "", 2, "", "ctx-remote-s3 check URL"},
		{"check s3://ann:" + secret + "@bucket/x", "", 1, "", "the URL has a key"},
		{"",
			`{"id":1,"do":"open","url":"s3://ann:` + secret + `@bucket"}` + "\n" +
				`{"id":2,"do":"list"}` + "\n", 0,
			`{"id":2,"error":{"kind":"other","message":"no remote is open"}}`, ""},
		{"", "nonsense\n", 1, `"features":["check"]`, "not of the protocol"},
	} {
		var out, errs bytes.Buffer
		code := program().Run(t.Context(), strings.Fields(c.args),
			strings.NewReader(c.in), &out, &errs)
		if code != c.code || !strings.Contains(out.String(), c.out) ||
			!strings.Contains(errs.String(), c.errs) ||
			strings.Contains(out.String()+errs.String(), secret) {
			t.Errorf("%q: %d, %q, %q", c.args, code, out.String(), errs.String())
		}
	}
}
