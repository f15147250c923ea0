package main

import (
	"bytes"
	"strings"
	"testing"
)

// What a user sees without a server: how the program is used, and no password anywhere.
func TestRun(t *testing.T) {
	const secret = "hunter2hunter2X9"
	withSecret := "postgres://ann:" + secret + "@127.0.0.1:1/db"
	for _, c := range []struct {
		args, in  string
		code      int
		out, errs string
	}{
		{"version", "", 0, "ctx-remote-postgres version", ""},
		{"help", "", 0, "ctx-remote-postgres grant URL TEAM ROLE", ""},
		{"grant x", "", 2, "", "ctx-remote-postgres init URL"},
		{"init " + withSecret, "", 1, "", "the URL has a password"},
		{"init postgres://ann@127.0.0.1:1/db?password=" + secret, "", 1, "",
			"the URL has a password"},
		{"init -", withSecret + "\n", 1, "", "not available now"},
		{"grant postgres://ann@h/db A/B ann", "", 1, "", "bad name of a team"},
		{"", `{"id":1,"do":"open","url":"` + withSecret + `?team=a"}` + "\n", 0,
			`"kind":"temporary"`, ""},
		{"", `{"id":1,"do":"open","url":"` + withSecret + `"}` + "\n", 0, "add ?team=NAME", ""},
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
