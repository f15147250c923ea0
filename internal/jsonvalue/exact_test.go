package jsonvalue

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestExact(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"x","b":[1,2]} `:   "",
		` {"b":null}`:            "",
		`{"a":"x","a":"x"}`:      `"/a" twice`,
		`{"c":{"d":1,"d":1}}`:    `"/c/d" twice`,
		`{"e":1}`:                `unknown field "e"`,
		`{"a":1}`:                `a: "number" is of another kind`,
		`{"b":[1e2]}`:            `b: "number 1e2" is of another kind`,
		`[1]`:                    `"array" in place of the object`,
		`{"a":"x"} {}`:           "something follows the value",
		`{"a":"x"}}`:             "something follows the value",
		`{"a":"x"`:               "not JSON in Unicode",
		"":                       "not JSON in Unicode",
		`{"a":"\ud800"}`:         "not JSON in Unicode",
		"{\"a\":\"\xff\"}":       "not JSON in Unicode",
		`{"a":"` + "\n" + `\u"}`: "not JSON in Unicode",
	} {
		var v struct {
			A string          `json:"a"`
			B []int           `json:"b"`
			C json.RawMessage `json:"c"`
		}
		got := ""
		if err := Exact([]byte(in), &v); err != nil {
			got = fmt.Sprint(err)
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}
