package sanitize

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func mustJSON(t *testing.T, in string) (string, []Finding) {
	t.Helper()
	out, found, err := JSON([]byte(in))
	if err != nil {
		t.Fatalf("JSON(%s): %v", in, err)
	}
	if !json.Valid(out) {
		t.Fatalf("JSON(%s) is not JSON: %s", in, out)
	}
	again, more, err := JSON(out)
	if err != nil || len(more) != 0 || !bytes.Equal(again, out) {
		t.Fatalf("JSON is not idempotent on %s:\n once  %s\n twice %s %v %v", in, out,
			again, more, err)
	}
	return string(out), found
}

func TestJSON(t *testing.T) {
	gh := "ghp" + "_" + rep("aB3", 36)
	for _, c := range []struct{ name, in, want string }{
		{"untouched", ` { "a" : [ 1 , 2.50e1, "x\u00e9\/", null ] , "b":{}}` + "\n",
			` { "a" : [ 1 , 2.50e1, "x\u00e9\/", null ] , "b":{}}` + "\n"},
		{"scalar", `"` + gh + `"`, `"[REDACTED:github]"`},
		{"cookie", `{"name":"Cookie","value":"sid=Vq3xTz8LmK1wRb7Yc2"}`,
			`{"name":"Cookie","value":"[REDACTED:authorization]"}`},
		{"escapes kept elsewhere", `["\u0041", "` + gh + `", "\/"]`,
			`["\u0041", "[REDACTED:github]", "\/"]`},
		{"escaped secret", `{"t":"\u0067\u0068\u0070\u005f` + gh[4:] + `"}`,
			`{"t":"[REDACTED:github]"}`},
		{"escaped control splits secret", `{"t":"` + gh[:7] + `\u0000` + gh[7:] + `"}`,
			`{"t":"[REDACTED:github]"}`},
		{"control", `["a\u0000b\b\fc\td\ne\rf\u007f", "\"\\"]`, `["abc\td\ne\rf", "\"\\"]`},
		{"no html escapes", `["<a>&\u0001"]`, `["<a>&"]`},
		{"key", `{"password":"hunter2","n":1}`, `{"password":"[REDACTED:password]","n":1}`},
		{"escaped key", `{"pass\u0077ord":"hunter2"}`, `{"pass\u0077ord":"[REDACTED:password]"}`},
		{"key with control", `{"pass\u0000word":"hunter2"}`, `{"password":"[REDACTED:password]"}`},
		{"array under key", `{"api_keys":1,"apiKey":["a1b2c3d4e5","x"]}`,
			`{"api_keys":1,"apiKey":["[REDACTED:secret]","x"]}`},
		{"object under key ends it", `{"secret":{"a":"a1b2c3d4e5"}}`,
			`{"secret":{"a":"a1b2c3d4e5"}}`},
		{"name and value",
			`[{"name":"DB_PASSWORD","value":"hunter2"},{"name":"x","value":"hunter2"}]`,
			`[{"name":"DB_PASSWORD","value":"[REDACTED:password]"},{"name":"x","value":"hunter2"}]`},
		{"number under key", `{"password":12345678,"token":null,"secret":true}`,
			`{"password":12345678,"token":null,"secret":true}`},
		{"no secret under key", `{"password":"string","token":"${X1}"}`,
			`{"password":"string","token":"${X1}"}`},
		{"authorization", `{"Authorization":"Bearer abc123def"}`,
			`{"Authorization":"[REDACTED:authorization]"}`},
		{"pem under key",
			`{"private_key":"-----BEGIN PRIVATE ` + `KEY-----\n` + rep("aB3", 64) +
				`\n-----END PRIVATE ` + `KEY-----\n"}`, `{"private_key":"[REDACTED:pem]\n"}`},
		{"secret as name", `{"` + gh + `":1}`, `{"[REDACTED:github]":1}`},
		{"source in string", `{"args":{"content":"password: hunter2\nx"}}`,
			`{"args":{"content":"password: [REDACTED:password]\nx"}}`},
		{"json in string", `{"out":"{\"password\":\"hunter2\"}"}`,
			`{"out":"{\"password\":\"[REDACTED:password]\"}"}`},
		{"half surrogate", `["\ud800x","\ud83d\ude00"]`, `["` + "\ufffd" + `x","\ud83d\ude00"]`},
		{"half surrogate first", `["\ud800\ud83d\ude00"]`, `["` + "\ufffd😀" + `"]`},
		{"one secret in pieces, one whole",
			`[{"text":"` + gh[:20] + `"},{"text":"` + gh[20:] + `"},{"t":"` + gh + `"}]`,
			`[{"text":"[REDACTED:github]"},{"text":""},{"t":"[REDACTED:github]"}]`},
		{"broken utf8", "[\"a\xffb\"]", "[\"a\ufffdb\"]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, found := mustJSON(t, c.in)
			if out != c.want {
				t.Errorf("got  %s\nwant %s", out, c.want)
			}
			if (len(found) == 0) != (out == c.in) {
				t.Errorf("changed: %v, found %v", out != c.in, found)
			}
		})
	}
}

func TestJSONFormats(t *testing.T) {
	for class, samples := range bareSamples() {
		for _, s := range samples {
			out, found := mustJSON(t, `{"x":["a `+s+` b"],"n":1.0}`)
			if want := `{"x":["a [REDACTED:` + class + `] b"],"n":1.0}`; out != want {
				t.Errorf("got %s, want %s", out, want)
			}
			if !slices.Equal(found, []Finding{{class, 1}}) {
				t.Errorf("%s: found %v", class, found)
			}
		}
	}
}

func TestJSONErrors(t *testing.T) {
	for _, in := range []string{"", "{", `{"a":}`, `"a` + "\n" + `"`, "1 2", `{"a":1}x`, "nul",
		strings.Repeat("[", 202) + strings.Repeat("]", 202)} {
		if out, found, err := JSON([]byte(in)); err == nil || out != nil || found != nil {
			t.Errorf("JSON(%q) = %q %v %v", in, out, found, err)
		}
	}
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	if out, _ := mustJSON(t, deep); out != deep {
		t.Error("200 levels changed")
	}
	wide := "[" + strings.Repeat(`{"a":[]},`, 300) + `{}]`
	if out, _ := mustJSON(t, wide); out != wide {
		t.Error("a wide value changed")
	}
}
