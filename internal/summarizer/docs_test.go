package summarizer

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// page returns docs/summarizers.md with LF line ends, whatever line ends the checkout has.
func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/summarizers.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

var exampleBlock = regexp.MustCompile("(?m)^```json ([a-z]+)\n(.*)\n```$")

// TestDocs decodes the examples of the page as ctx does, and compares its tables with the code.
func TestDocs(t *testing.T) {
	text := page(t)
	found := exampleBlock.FindAllStringSubmatch(text, -1)
	if len(found) != 4 {
		t.Fatalf("%d examples", len(found))
	}
	ask := summarize.Request{Claim: format.ID{1, 2}, Tokens: 150, Inputs: []summarize.Input{
		{Summary: true, ID: format.ID{3, 4}, Text: "The database is PostgreSQL 16.2."},
		{ID: format.ID{5, 6}, Role: "user", Author: "ann",
			Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Text: "Put it on port 5433 <now>."},
	}}
	for _, m := range found {
		line := []byte(m[2])
		switch m[1] {
		case "capability":
			if c, f := decodeCapability(line); f != nil || c.Name != "my-model" {
				t.Errorf("%s: %+v, %v", line, c, f)
			}
		case "request":
			want := requestOf(ask, AnswerTimeout)
			want.Prompt = "…"
			b, err := encodeLine(want)
			if err != nil || string(b) != m[2]+"\n" {
				t.Errorf("the request is %s, %v", b, err)
			}
		case "answer":
			a, f := decodeAnswer(line, ask.Claim.String(), nil)
			if f != nil && f.Kind != Capacity || f == nil && a.Text == "" {
				t.Errorf("%s: %+v, %v", line, a, f)
			}
		}
	}
	kinds := append(saidKinds(), Missing, Silent, Slow, Crashed, Garbage, Binary, Oversized,
		WrongClaim, Twice, Empty, Longer, TooLong)
	for _, k := range kinds {
		if !strings.Contains(text, "\n| `"+string(k)+"` |") {
			t.Errorf("%s is not on the page", k)
		}
	}
	for _, of := range []any{Capability{}, WireRequest{}} {
		typ := reflect.TypeOf(of)
		for i := range typ.NumField() {
			key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !strings.Contains(text, "`"+key+"`") && key != "v" {
				t.Errorf("%s is not on the page", key)
			}
		}
	}
	if !json.Valid([]byte(`"`+PromptVersion+`"`)) ||
		!strings.Contains(text, "`\""+PromptVersion+"\"`") {
		t.Error("the version of the prompt is not on the page")
	}
}
