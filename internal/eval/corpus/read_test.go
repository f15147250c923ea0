package corpus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

const good = `{"conversation":"a","seq":0,"role":"user","author":null,"time":null,"text":"hi","topic":null,"votes":3}` + "\n"

func TestRead(t *testing.T) {
	got, err := corpus.Read(
		strings.NewReader(good + `{"conversation":"a","seq":4,"role":"model","text":""}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Text != "hi" || got[0].Topic != "" || got[1].Seq != 4 {
		t.Errorf("read %+v", got)
	}
	if _, ok := got[0].When(); ok {
		t.Error("a message without a time has one")
	}
}

// Two people's logs are often one file in order of time.
func TestReadGathersConversations(t *testing.T) {
	var file strings.Builder
	for _, at := range []string{"b 1", "a 0", "b 2", "c 0", "a 3"} {
		conversation, seq, _ := strings.Cut(at, " ")
		fmt.Fprintf(&file, `{"conversation":%q,"seq":%s,"role":"user","text":""}`+"\n",
			conversation, seq)
	}
	set, err := corpus.Read(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range corpus.Conversations(set) {
		for _, m := range c {
			got += fmt.Sprintf("%s%d ", m.Conversation, m.Seq)
		}
		got += "| "
	}
	if want := "b1 b2 | a0 a3 | c0 | "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestReadByteOrderMark(t *testing.T) {
	_, err := corpus.Read(strings.NewReader("\ufeff" + good))
	if err == nil || !strings.HasPrefix(err.Error(), "line 1: begins with a byte order mark") {
		t.Errorf("error %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"not JSON", `nonsense`,
			"line 2: not JSON: invalid character 'o' in literal null (expecting 'u')"},
		{"half a line", `{"conversation":"a",`, "line 2: not JSON: unexpected end of JSON input"},
		{"empty line", "\n", "line 2: not JSON: unexpected end of JSON input"},
		{"two values", `{} {}`, "line 2: not JSON: invalid character '{' after top-level value"},
		{"array", `[1]`, "line 2: not a JSON object but: array"},
		{"null", `null`, "line 2: no conversation"},
		{"no seq", `{"conversation":"a","role":"user","text":""}`, "line 2: no seq"},
		{"no role", `{"conversation":"a","seq":1,"text":""}`, "line 2: no role"},
		{"no text", `{"conversation":"a","seq":1,"role":"user"}`, "line 2: no text"},
		{"null text", `{"conversation":"a","seq":1,"role":"user","text":null}`, "line 2: no text"},
		{"strange role", `{"conversation":"a","seq":1,"role":"poet","text":""}`,
			`line 2: unknown role "poet"`},
		{"wrong type", `{"conversation":"a","seq":"1","role":"user","text":""}`,
			"line 2: seq: unexpected string"},
		{"same seq", `{"conversation":"a","seq":0,"role":"user","text":""}`,
			`line 2: seq 0 is out of order in conversation "a"`},
		{"negative seq", `{"conversation":"b","seq":-1,"role":"user","text":""}`,
			`line 2: seq -1 is out of order in conversation "b"`},
		{"not UTF-8", "{\"conversation\":\"a\",\"seq\":1,\"role\":\"user\",\"text\":\"\xff\"}",
			"line 2: not UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := corpus.Read(strings.NewReader(good + test.line))
			if err == nil || err.Error() != test.want || got != nil {
				t.Errorf("%d messages, error %v, want %s", len(got), err, test.want)
			}
		})
	}
}

func TestReadTooLong(t *testing.T) {
	_, err := corpus.Read(strings.NewReader(good + strings.Repeat("x", 17<<20)))
	if err == nil || err.Error() != "line 2: longer than 16 MiB" {
		t.Errorf("error %v", err)
	}
}

func TestReadFacts(t *testing.T) {
	got, err := corpus.ReadFacts(
		strings.NewReader(
			`{"conversation":"a","query":"q","answer":"x","evidence":[1,2],"extra":{}}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(got[0].Evidence) != 2 || got[0].Kind != "" {
		t.Errorf("read %+v", got)
	}
	for _, test := range []struct{ line, want string }{
		{`{`, "line 1: not JSON: unexpected end of JSON input"},
		{`{"query":"q","answer":"x"}`, "line 1: no conversation"},
		{`{"conversation":"a","answer":"x"}`, "line 1: no query"},
		{`{"conversation":"a","query":"q"}`, "line 1: no answer"},
		{`{"conversation":"a","query":"q","answer":"x","evidence":"all"}`,
			"line 1: evidence: unexpected string"},
	} {
		if _, err := corpus.ReadFacts(strings.NewReader(test.line)); err == nil ||
			err.Error() != test.want {
			t.Errorf("%s: error %v, want %s", test.line, err, test.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(good)
	f.Add(good + good)
	f.Add(
		`{"conversation":"a","seq":1,"role":"model","text":"x","calls":[{"id":"1","name":"n","args":{"a":[1]}}],"rewind_to":0}`)
	f.Fuzz(func(t *testing.T, s string) {
		got, err := corpus.Read(strings.NewReader(s))
		if err != nil && (got != nil || !strings.HasPrefix(err.Error(), "line ")) {
			t.Fatalf("%d messages and error %v", len(got), err)
		}
		last := map[string]int{}
		for _, m := range got {
			if before, ok := last[m.Conversation]; m.Conversation == "" || ok && m.Seq <= before {
				t.Fatalf("took %+v", m)
			}
			last[m.Conversation] = m.Seq
		}
	})
}
