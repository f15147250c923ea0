package sanitize

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
)

// seeds returns texts with every class in them, in several frames.
func seeds() []string {
	out := []string{"", "\x00", "\xff", "password=password=password=hunter2", `"\"token=\"`,
		"[REDACTED:x", "password=[REDACTED:password]]"}
	for _, samples := range bareSamples() {
		out = append(out, samples...)
		out = append(out, "token: \""+samples[0]+"\", password="+samples[0]+":x@y")
	}
	out = append(out, strings.Split(developerText, "\n")...)
	r := rand.New(rand.NewPCG(2, 2))
	spots := places()
	for _, f := range forms() {
		s := f.make(r)
		in, _, _ := spots[r.IntN(len(spots))].put(r, s)
		out = append(out, s.text, in)
	}
	return append(out,
		"-----BEGIN PRIVATE "+"KEY-----\n"+rep("aB3", 64)+"\n-----END PRIVATE "+"KEY-----",
		"https://u:p1:p2@h api_key=a1b2c3d4e5 password: 'x1y2z3' Authorization: Basic "+
			"dXNlcjpodW50ZXIy",
	)
}

func TestSeedsCoverEveryClass(t *testing.T) {
	var all tally
	for _, s := range seeds() {
		if _, err := text([]byte(s), &all); err != nil {
			t.Fatal(err)
		}
	}
	for _, class := range []string{
		"age", "anthropic", "authorization", "aws", "control", "digitalocean", "github", "gitlab",
		"google", "huggingface",
		"jwt", "npm", "openai", "password", "pem", "pypi", "secret", "sendgrid", "slack", "stripe",
		"telegram", "twilio", "url-password", "utf8",
	} {
		if !hasClass(all, class) {
			t.Errorf("no seed with %s", class)
		}
	}
}

func hasClass(t tally, class string) bool {
	for _, f := range t {
		if f.Class == class {
			return true
		}
	}
	return false
}

func FuzzText(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		was := bytes.Clone(in)
		out, found, err := Text(in)
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if !bytes.Equal(in, was) {
			t.Fatal("input modified")
		}
		if len(out) > 8*len(in)+64 {
			t.Fatalf("%d bytes of %d", len(out), len(in))
		}
		if (len(found) == 0) != bytes.Equal(in, out) {
			t.Fatalf("found %v, changed %v", found, !bytes.Equal(in, out))
		}
		if _, controls, broken := controls.Strip(out, nil); !utf8.Valid(out) ||
			controls+broken > 0 {
			t.Fatalf("not clean: %q", out)
		}
		if lines := bytes.Count(in, []byte("\n")); bytes.Count(out, []byte("\n")) != lines &&
			!hasClass(found, "pem") {
			t.Fatalf("%d line feeds of %q are not those of %q", lines, in, out)
		}
		again, more, err := Text(out)
		if err != nil || len(more) > 0 || !bytes.Equal(again, out) {
			t.Fatalf("not idempotent: %q, then %q, then %q %v %v", in, out, again, more, err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range seeds() {
		b, err := json.Marshal(map[string]any{"a": s, "password": []string{s}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"name":"TOKEN","value":"a1b2c3d4e5","\ud800":"\ud83d\ude00\u0000"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, found, err := JSON(in)
		if err != nil {
			if out != nil || found != nil {
				t.Fatal("an error came with a result")
			}
			return
		}
		if !json.Valid(out) || !utf8.Valid(out) {
			t.Fatalf("not JSON: %q", out)
		}
		if (len(found) == 0) != bytes.Equal(in, out) && len(found) == 0 {
			t.Fatalf("changed without a finding: %q to %q", in, out)
		}
		again, more, err := JSON(out)
		if err != nil || len(more) > 0 || !bytes.Equal(again, out) {
			t.Fatalf("not idempotent: %q, then %q, then %q %v %v", in, out, again, more, err)
		}
	})
}
