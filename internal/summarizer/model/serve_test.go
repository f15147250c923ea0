package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

func requestLine(t *testing.T, claim string) string {
	t.Helper()
	b, err := json.Marshal(summarizer.WireRequest{V: 1, Claim: claim, Tokens: 20, Words: 10,
		TimeoutMS: 60_000, Prompt: "summarize",
		Inputs: []summarizer.WireInput{
			{Kind: "entry", Role: "user", Author: "ann", Time: "2026-01-02T03:04:05.000Z",
				Text: "a < b"}, {Kind: "summary", Text: "before"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func TestServe(t *testing.T) {
	var out bytes.Buffer
	n := 0
	ask := func(ctx context.Context, r summarizer.WireRequest) (Reply, error) {
		if end, ok := ctx.Deadline(); !ok || time.Until(end) > 54*time.Second {
			t.Errorf("deadline in %v", time.Until(end))
		}
		n++
		switch n {
		case 1:
			return Reply{Text: "<think>hm.</think>\nport 5433\n", Model: "m"}, nil
		case 2:
			return Reply{}, &Error{Kind: summarizer.Quota, Message: "used\nup"}
		case 3:
			return Reply{}, errors.New("odd")
		}
		return Reply{Text: "<think>and so on"}, nil
	}
	in := requestLine(t, "c1") + requestLine(t, "c2") + requestLine(t, "c3") +
		strings.TrimSuffix(requestLine(t, "c4"), "\n")
	if err := Serve(t.Context(), strings.NewReader(in), &out,
		summarizer.Capability{Name: "n", Version: "1", MaxInputTokens: 1000}, ask); err != nil {
		t.Fatal(err)
	}
	want :=
		`{"ctx":"summarizer","v":1,"name":"n","version":"1","max_input_tokens":1000,"prompt_version":"` + summarizer.PromptVersion + `"}
{"v":1,"claim":"c1","text":"port 5433","model":"m"}
{"v":1,"claim":"c2","error":{"kind":"quota","message":"used up"}}
{"v":1,"claim":"c3","error":{"kind":"transient","message":"odd"}}
{"v":1,"claim":"c4","error":{"kind":"refused","message":"the model wrote no text"}}
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

func TestServeBadRequests(t *testing.T) {
	for _, in := range []string{"hello\n", "{\"v\":2}\n", "\n"} {
		if err := Serve(t.Context(), strings.NewReader(in), io.Discard, summarizer.Capability{},
			nil); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
	if err := Serve(t.Context(), strings.NewReader(""), io.Discard, summarizer.Capability{},
		nil); err != nil {
		t.Error(err)
	}
}

func TestText(t *testing.T) {
	var r summarizer.WireRequest
	if err := json.Unmarshal([]byte(requestLine(t, strings.Repeat("c1", 32))), &r); err != nil {
		t.Fatal(err)
	}
	got := Text(r)
	for _, want := range []string{
		"\n[[c1c1c1c1c1c1c1c1 input 1: user ann, 2026-01-02T03:04:05.000Z]]\na < b\n",
		"\n[[c1c1c1c1c1c1c1c1 input 2: an earlier summary]]\nbefore\n",
		"at most 10 words",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

func TestFit(t *testing.T) {
	long := "Port 5433. It was 5432! Is that so? 日本語です。次の文。\nlast line without an end"
	for _, c := range []struct {
		text   string
		tokens int
		cut    bool
		want   string
	}{
		{long, 100, false, long},
		{long, 100, true, "Port 5433. It was 5432! Is that so? 日本語です。次の文。"},
		{long, 19, false, "Port 5433. It was 5432! Is that so? 日本語です。"},
		{long, 12, false, "Port 5433. It was 5432! Is that so?"},
		{long, 5, false, "Port 5433. It was 5432!"},
		{long, 2, false, "Port 5433."},
		{long, 1, false, "Port 5433."},
		{"version 16.2 of it, no end", 3, true, "version 16.2 of it, no end"},
		{"a.b.c d. e", 100, true, "a.b.c d."},
		{"", 10, true, ""},
		{"日本語\n\n次 a", 4, false, "日本語"},
		{strings.Repeat("a. ", 2<<20), 12, false, strings.TrimSpace(strings.Repeat("a. ", 17))},
	} {
		got := fit(c.text, c.tokens, c.cut)
		if got != c.want {
			t.Errorf("%.80q to %d: got %.200q (%d tokens)", c.text, c.tokens, got,
				summarize.Tokens(got))
		}
	}
}

func TestRun(t *testing.T) {
	bad := Program{Name: "p",
		Open: func(Settings) (AnswerFunc, int, error) {
			return nil, 0, errors.New("no key: set KEY")
		}}
	var out, errs bytes.Buffer
	if code := bad.Run(t.Context(), nil, Settings{}, strings.NewReader(requestLine(t, "c")), &out,
		&errs); code != 0 ||
		!strings.Contains(out.String(),
			`{"v":1,"claim":"c","error":{"kind":"terminal","message":"no key: set KEY"}}`) {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
	for _, c := range []struct {
		args      []string
		in        string
		code      int
		out, errs string
	}{
		{[]string{"--version"}, "", 0, "p version", ""},
		{[]string{"--help"}, "", 0, "", "docs/summarizers.md"},
		{[]string{"--no-such"}, "", 2, "", "no-such"},
		{[]string{"more"}, "", 2, "", "takes no argument"},
		{nil, "garbage", 1, `"ctx":"summarizer"`, "cannot read a request"},
	} {
		out.Reset()
		errs.Reset()
		if code := bad.Run(t.Context(), c.args, Settings{}, strings.NewReader(c.in), &out,
			&errs); code != c.code || !strings.Contains(out.String(), c.out) ||
			!strings.Contains(errs.String(), c.errs) {
			t.Errorf("%q: %d, %q, %q", c.args, code, out.String(), errs.String())
		}
	}
}

func TestSettings(t *testing.T) {
	vars := map[string]string{"A": " ", "B": "x", "N": "5000", "BAD": "many", "LOW": "1"}
	s := Settings{Getenv: func(name string) string { return vars[name] }}
	if got := s.First("A", "B"); got != "x" {
		t.Error(got)
	}
	for name, want := range map[string]int{"N": 5000, "NONE": 7} {
		if got, err := s.Number(name, 7); err != nil || got != want {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
	for _, name := range []string{"BAD", "LOW"} {
		if _, err := s.Number(name, 7); err == nil {
			t.Error(name)
		}
	}
}

func TestSleep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := sleep(ctx, 0); err != nil {
		t.Error(err)
	}
	cancel()
	if err := sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
