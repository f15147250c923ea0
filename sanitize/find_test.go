package sanitize

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/sanitize/secrets"
)

func mustFind(t *testing.T, in string) []string {
	t.Helper()
	found, err := Find([]byte(in))
	if err != nil {
		t.Fatalf("Find(%q): %v", in, err)
	}
	return told(t, in, found)
}

func told(t *testing.T, in string, found []Found) []string {
	t.Helper()
	var out []string
	end := 0
	for _, f := range found {
		if f.From < end || f.To < f.From || f.To > len(in) {
			t.Fatalf("%q: %v out of order or range", in, found)
		}
		end = f.To
		out = append(out, f.Class+" "+in[f.From:f.To])
	}
	return out
}

func TestFind(t *testing.T) {
	gh := "ghp" + "_" + rep("aB3", 36)
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"none", "nothing to see", nil},
		{"empty", "", nil},
		{"one", "use " + gh + " now", []string{"github " + gh}},
		{"several", "password=hunter2 " + gh + " token=a1b2c3d4e5",
			[]string{"password hunter2", "github " + gh, "secret a1b2c3d4e5"}},
		{"split by controls", "é\x00 " + gh[:7] + "\x00\x01" + gh[7:] + "\x7f y",
			[]string{"github " + gh[:7] + "\x00\x01" + gh[7:]}},
		{"after broken bytes", "\xff\xff\xc3 password=hunter2\xff",
			[]string{"password hunter2\xff"}},
		{"whole of a marked value", `x password: "[REDACTED:x]hunter2"`,
			[]string{"password [REDACTED:x]hunter2"}},
		{"key around a format", `token=` + gh + `z9-y8 `, []string{"secret " + gh + "z9-y8"}},
		{"a URL in a pair", "db_password=redis://:s3cret1@cache password=hunter2",
			[]string{"url-password s3cret1", "password hunter2"}},
		{"already redacted", "password=[REDACTED:password] token=[REDACTED:secret]", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustFind(t, c.in); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestFindJSON(t *testing.T) {
	gh := "ghp" + "_" + rep("aB3", 36)
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"none", `{"a":["b",1]}`, nil},
		{"in a string", `{"a":["use ` + gh + ` now", "x"]}`, []string{"github " + gh}},
		{"as a name", `{"` + gh + `":1}`, []string{"github " + gh}},
		{"under a key", `{"n":1, "password":"hunter2"}`, []string{"password hunter2"}},
		{"with escapes", `["a\n` + gh + ` b ` + gh + `"]`,
			[]string{`github a\n` + gh + " b " + gh}},
		{"name and value", `{"name":"DB_PASSWORD","value":"hunter2"}`,
			[]string{"password hunter2"}},
		{"in a file", `{"data":"` + inFile(gh+" "+gh) + `","mimeType":"text/plain"}`,
			[]string{"github " + inFile(gh+" "+gh)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := FindJSON([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := told(t, c.in, found); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	if _, err := FindJSON([]byte("{")); err == nil {
		t.Error("no error for half a value")
	}
}

// agree returns an error if Find and Text disagree about b.
func agree(b []byte) error {
	found, err := Find(b)
	if err != nil {
		return err
	}
	var all tally
	out, err := text(b, &all)
	if err != nil {
		return err
	}
	secret := slices.ContainsFunc(all,
		func(f Finding) bool { return f.Class != "control" && f.Class != "utf8" })
	if secret != (len(found) > 0) {
		return fmt.Errorf("found %v, and redacted %v", found, all)
	}
	end := 0
	for _, f := range found {
		if f.From < end || f.To <= f.From || f.To > len(b) {
			return fmt.Errorf("%v out of order or range", found)
		}
		end = f.To
	}
	rest, err := text(secrets.Redact(b, found), new(tally))
	if err != nil {
		return err
	}
	if bytes.Count(rest, []byte("[REDACTED:")) < bytes.Count(out, []byte("[REDACTED:")) {
		return fmt.Errorf("redacting what was found gives %q, and Text %q", rest, out)
	}
	return nil
}

func TestFindAgrees(t *testing.T) {
	for _, s := range seeds() {
		for _, in := range []string{s, "\x00" + s + "\xff", strings.ReplaceAll(s, "a", "\x01a")} {
			if err := agree([]byte(in)); err != nil {
				t.Errorf("%q: %v", in, err)
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if err := agree(in); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
	})
}
