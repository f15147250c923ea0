package sanitize

import (
	"encoding/base64"
	"strings"
	"testing"
)

func inFile(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// TestFiles has tokens in files that are texts, as agents attach them, and in what is none.
func TestFiles(t *testing.T) {
	gh := "ghp" + "_" + rep("aB3", 36)
	was := "notes of \xff today\nexport T=" + gh + "\n"
	is := inFile(strings.ReplaceAll(was, gh, "[REDACTED:github]"))
	in := inFile(was)
	for _, c := range []struct{ name, in, want string }{
		{"a part", `[{"inlineData":{"mimeType":"text/plain","data":"%"}}]`, is},
		{"data first", `[{"inlineData":{"data":"%","displayName":"a","mimeType":"text/x-go"}}]`, is},
		{"of the Anthropic API", `{"type":"base64","media_type":"text/plain;a=b","data":"%"}`, is},
		{"beside a secret", `{"data":"%","mime":"application/json","password":"hunter2"}`, is},
		{"another kind", `{"mimeType":"application/x-yaml","data":"%"}`, is},
		{"a suffix", `{"mimeType":"application/vnd.a+json","data":"%"}`, is},
		{"a URL", `{"url":"data:text/plain;charset=utf-8;base64,%"}`, is},
		{"a picture", `{"mimeType":"image/png","data":"%"}`, in},
		{"a URL of a picture", `["data:image/png;base64,%"]`, in},
		{"no type", `{"data":"%"}`, in},
		{"a type in another object", `{"a":{"mimeType":"text/plain"},"data":"%"}`, in},
		{"no base64", `{"mimeType":"text/plain","data":"!%"}`, in},
	} {
		text := strings.ReplaceAll(c.in, "%", in)
		want := strings.ReplaceAll(strings.ReplaceAll(c.in, "%", c.want), "hunter2",
			"[REDACTED:password]")
		if out, _ := mustJSON(t, text); out != want {
			t.Errorf("%s: got  %s\nwant %s", c.name, out, want)
		}
		spots, err := FindJSON([]byte(text))
		if err != nil || (len(spots) > 0) != (want != text) {
			t.Errorf("%s: FindJSON: %v %v", c.name, spots, err)
		}
	}
}
