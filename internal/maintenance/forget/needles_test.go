package forget

import (
	"testing"
)

// A text is found as it is, as JSON writes it, and in strings of JSON in strings of JSON; and not
// where it does not stand.
func TestNeedles(t *testing.T) {
	for _, tt := range []struct {
		text, body string
		want       bool
	}{
		{"secret", "a secret here", true},
		{"secret", "Secret", false},
		{"secret", `{"a":"b","n":1}`, false},
		{"secret", `["sec","ret"]`, false},
		{"secret", `{"a":["\u0073ecret"]}`, true},
		{"secret", `{"\u0073ecret":1}`, true},
		{`a"b`, `{"x":"a\"b"}`, true},
		{`a"b`, `{"x":"{\"y\":\"a\\\"b\"}"}`, true},
		{"a<b", `{"x":"a\u003cb"}`, true},
		{"a<b", `{"x":"a<c"}`, false},
		{"the lamp+1", "https://depot.example/?q=the+lamp%2B1", true},
		{"the lamp+1", "https://depot.example/the%20lamp%2b1", true},
		{`the "lamp"`, "<b>the &quot;lamp&quot;</b>", true},
		{"the 'lamp'", `echo 'the '\''lamp'\'''`, true},
		{"the lamp+1", "746865206c616d702b31", true},
		{"the lamp+1", "dGhlIGxhbXArMQ==", true},
		{"the lamp+1", "Authorization: Basic Ym9iOnRoZSBsYW1wKzE=", true},
		{"the lamp+1", "Authorization: Basic Ym86dGhlIGxhbXArMQ==", true},
		{"the lamp+1", "Authorization: Basic YWI6dGhlIGx1bXArMQ==", false},
		{"the lamp of the depot", "see the lamp of \r\nthe depot", true},
		{"the lamp of the depot", `{"x":"see the lamp of \nthe depot"}`, true},
		{"the lamp of the depot", "see the lamp\n  of the depot", true},
		{"the lamp of the depot", "see the lamp\n  of a depot", false},
		{"the lamp+1", "746865206C616D702B31", true},
		{"lamp", "la\nmp", false},
		{"secret", `{"x":"{\"y\":\"\\u0073ecret\"}"}`, true},
	} {
		if got := needles(tt.text).in([]byte(tt.body)); got != tt.want {
			t.Errorf("%s in %s: %v", tt.text, tt.body, got)
		}
	}
}
