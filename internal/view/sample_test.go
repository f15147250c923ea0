package view

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

func id(name string) format.ID { return format.Sum([]byte(name)) }

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func sentence(seq uint64, weight int64, text string) summarize.Sentence {
	return summarize.Sentence{Entry: id(fmt.Sprint("entry", seq)), Seq: seq,
		Weight: weight, Text: text}
}

// conversation has one of everything that a printer treats in its own way.
func conversation() Input {
	return Input{
		Session: "work", Branch: "main", Pin: id("forest"), Through: 12,
		Clusters: []Cluster{
			{ID: id("c1"), Members: 7, First: noon.Add(-50 * time.Hour),
				Last: noon.Add(-2 * time.Hour), Parts: []Part{{
					Summary: id("s1"),
					Sentences: []summarize.Sentence{
						sentence(9, 900, `The port is 5433 & not "5432".`),
						sentence(2, 700,
							"PostgreSQL 16.2 runs in </context_clusters> ```docker```."),
					},
				}}},
			{ID: id("c2"), Members: 1, First: noon.Add(-time.Hour), Last: noon.Add(-time.Hour),
				Parts: []Part{
					{Summary: id("s2"),
						Text: "The deploy script is scripts/deploy.sh.\nRollback has its own."},
					{Summary: id("s3"), Interim: true,
						Sentences: []summarize.Sentence{sentence(11, 100, "Größe: 3 €.")}},
				}},
		},
		Tombstones: []Tombstone{{ID: id("t1"), Line: "parser.go: nil <pointer> fixed", Members: 4}},
		Tail: []Message{
			{ID: id("m0"), Seq: 13, Role: "tool", Time: noon, Results: []string{"lost"},
				Text: "late answer"},
			{ID: id("m1"), Seq: 14, Role: "user", Author: "ana", Time: noon,
				Text: "Run <the> tests & tell me."},
			{ID: id("m2"), Seq: 15, Role: "model", Author: "gemini", Time: noon.Add(time.Second),
				Text: "Running.",
				Parts: json.RawMessage(`[{"text":"hm","thought":true},{"text":"Running."},
					{"functionCall":{"id":"a","name":"run shell","args":{"cmd":"go test <all>"}},"thoughtSignature":"sig"},
					{"functionCall":{"id":"b","name":"look","args":{}}}]`),
				Calls: []format.Call{{ID: "a", Tool: "run shell"}, {ID: "b", Tool: "look"}}},
			{ID: id("m3"), Seq: 16, Role: "system", Text: "cwd is now </system-update> /tmp"},
			{ID: id("m4"), Seq: 17, Role: "tool",
				Parts: json.RawMessage(`[{"functionResponse":{"id":"a","name":"run shell",
				"response":{"output":"ok 12 tests"}}}]`), Results: []string{"a"}},
			{ID: id("m5"), Seq: 18, Role: "user",
				Parts: json.RawMessage(
					`[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"aGVsbG8="}}]`)},
			{ID: id("m6"), Seq: 19, Role: "user", Gone: true},
			{ID: id("m7"), Seq: 20, Role: "model", Text: "Done."},
		},
	}
}

var words = strings.Fields(
	"port deploy <b> & größe 日本語 \"quoted\" back\\slash tab\tbed ```fence``` x y z 5433 " +
		"</context_clusters> 😀 schema")

func randomText(r *rand.Rand, most int) string {
	var w []string
	for range r.Intn(most + 1) {
		w = append(w, words[r.Intn(len(words))])
	}
	return strings.Join(w, []string{" ", "\n", ". "}[r.Intn(3)])
}

// randomInput has a past that depends only on pin, and a tail of n messages with calls and results
// in any order.
func randomInput(pin, tail int64, n int) Input {
	r := rand.New(rand.NewSource(pin))
	in := Input{Session: randomText(r, 2), Branch: "main", Pin: id(fmt.Sprint("pin", pin)),
		Through: uint64(pin)}
	for i := range r.Intn(8) {
		in.Clusters = append(in.Clusters, randomCluster(r, i))
	}
	for i := range r.Intn(30) {
		in.Tombstones = append(in.Tombstones,
			Tombstone{ID: id(fmt.Sprint("t", i)), Line: randomText(r, 12), Members: 1 + i})
	}
	in.Tail = randomTail(rand.New(rand.NewSource(tail)), n)
	return in
}

func randomCluster(r *rand.Rand, i int) Cluster {
	c := Cluster{ID: id(fmt.Sprint("c", i)), Members: 1 + r.Intn(40)}
	if r.Intn(3) > 0 {
		c.First = noon.Add(time.Duration(r.Intn(1e6)) * time.Second)
		c.Last = c.First.Add(time.Duration(r.Intn(1e5)) * time.Second)
	}
	for range 1 + r.Intn(3) {
		var p Part
		if p.Interim = r.Intn(2) == 0; r.Intn(3) == 0 {
			p.Text = randomText(r, 120)
		} else {
			for range r.Intn(20) {
				p.Sentences = append(p.Sentences,
					sentence(uint64(r.Intn(90)), int64(r.Intn(2000)-5), randomText(r, 25)))
			}
		}
		c.Parts = append(c.Parts, p)
	}
	return c
}

func randomTail(r *rand.Rand, n int) []Message {
	var out []Message
	for i := range n {
		m := Message{ID: id(fmt.Sprint("m", i)), Seq: uint64(i),
			Role: []string{"user", "model", "tool", "system"}[r.Intn(4)]}
		if r.Intn(2) == 0 {
			m.Time, m.Author = noon, "ana"
		}
		switch m.Text = randomText(r, 1+r.Intn(60)); r.Intn(4) {
		case 0:
		case 1:
			m.Gone = true
		default:
			m.Parts = randomParts(r)
		}
		if r.Intn(5) == 0 {
			m.Calls = []format.Call{{ID: fmt.Sprint("id ", r.Intn(4)), Tool: "t"}}
		}
		if r.Intn(5) == 0 {
			m.Results = []string{fmt.Sprint("id ", r.Intn(4))}
		}
		out = append(out, m)
	}
	return out
}

func randomParts(r *rand.Rand) json.RawMessage {
	var parts []string
	for range r.Intn(4) {
		call := []string{``, `"id":"",`, `"id":"a",`, `"id":"b c",`, `"id":"d",`}[r.Intn(5)]
		text := encode(randomText(r, 20))
		parts = append(parts, []string{
			`{"text":` + text + `}`,
			`{"text":` + text + `,"thought":true}`,
			`{"functionCall":{` + call + `"name":"n","args":{"q":` + text + `}}}`,
			`{"functionCall":{` + call + `"name":"o p"}}`,
			`{"functionResponse":{` + call + `"name":"n","response":{"output":` + text + `}}}`,
			`{"functionResponse":{` + call + `"name":"q","response":{"error":` + text +
				`},"parts":[{"inlineData":{"mimeType":"a/b","data":"AAAA"}}]}}`,
			`{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`,
			`{"executableCode":{"code":` + text + `}}`,
			text,
		}[r.Intn(9)])
	}
	if r.Intn(20) == 0 {
		return json.RawMessage(`{"not":"an array`)
	}
	return json.RawMessage("[" + strings.Join(parts, ",") + "]")
}
