package forestfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

func idOf(s string) format.ID { return format.Sum([]byte(s)) }

func at(minute int) Time { return Time{time.Date(2026, 11, 21, 9, minute, 0, 0, time.UTC)} }

func textOf(s string) *string { return &s }

// sample is a small forest: one evicted cluster, one live one whose summary was made of another,
// and one that nothing covers.
func sample() *Document {
	d := &Document{Head: Head{Store: "5a6f9c1e0b7d4832a1c4e6f80b9d2e37", Forest: "main",
		Operation: 42, Time: at(30)}}
	say := func(parent int, role, author, text string) {
		i := len(d.Nodes)
		d.Nodes = append(d.Nodes, Node{
			ID: i, Stable: idOf(fmt.Sprint("node ", i)), Parent: parent, Session: "work",
			Seq: uint64(i + 1), Role: role, Author: author, Time: at(i), Text: &text,
		})
	}
	say(0, "user", "ann", "Where do temporary files go?")
	say(0, "model", "gemini-2.5-flash", "To tmp/, and gc sweeps them.")
	say(2, "user", "ann", "The build fails on line 40 of <parser.go>.")
	say(2, "model", "gemini-2.5-flash", "")
	say(3, "tool", "", "exit status 1")
	say(5, "user", "", "")
	d.Nodes[3].Text, d.Nodes[3].Parts =
		nil, []byte(`[{"functionCall":{"id":"c1","name":"shell","args":{"command":"go build"}}}]`)
	d.Nodes[3].Calls = []format.Call{{ID: "c1", Tool: "shell"}}
	d.Nodes[3].Invocation, d.Nodes[3].Tokens = "run-1", 31
	d.Nodes[4].Results = []string{"c1"}
	d.Nodes[4].Source = &Source{Agent: "gemini-cli", Session: "s-1", Message: "m-5"}
	d.Nodes[5].Text, d.Nodes[5].Gone = nil, "forgotten"
	d.Clusters = []Cluster{
		{
			Root: 0, Stable: idOf("cluster 0"), Number: 0, Members: []int{0, 1}, Arrival: 2,
			Covers: []format.ID{idOf("summary 0")},
			Tombstone: &Tombstone{Stable: idOf("stone"), Line: "tmp/, gc (2 messages)", Eviction: 0,
				Moment: Moment{41, at(29)}},
		},
		{Root: 2, Stable: idOf("cluster 1"), Number: 1, Members: []int{2, 3, 4}, Arrival: 5,
			Covers: []format.ID{idOf("summary 2")}},
		{Root: 5, Stable: idOf("cluster 4"), Number: 4, Members: []int{5}, Arrival: 6,
			Covers: []format.ID{}},
	}
	d.Lineage = []Summary{
		{
			Stable: idOf("summary 0"), Members: []int{0, 1}, Parents: []format.ID{}, Generation: 1,
			Summarizer: "extractive", Version: "1", Moment: Moment{40, at(28)},
			Text: textOf("Temporary files go to tmp/; gc sweeps them."),
		},
		{Stable: idOf("summary 1"), Root: 2, Members: []int{2, 3}, Parents: []format.ID{},
			Generation: 1, Interim: true, Summarizer: "extractive", Version: "1",
			Gone: "forgotten"},
		{
			Stable: idOf("summary 2"), Root: 2, Members: []int{2, 3, 4},
			Parents: []format.ID{idOf("summary 1")}, Generation: 2, Summarizer: "gemini",
			Version: "2.5", Prompt: idOf("prompt"), Moment: Moment{42, at(30)},
			Text: textOf("`go build` fails on line 40 of parser.go with exit status 1."),
		},
	}
	return d
}

func encoded(t testing.TB, d *Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThereAndBack(t *testing.T) {
	for name, d := range map[string]*Document{"sample": sample(),
		"empty": {Head: Head{Store: sample().Store, Forest: "main"}}} {
		file := encoded(t, d)
		back, err := Decode(strings.NewReader(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again := encoded(t, back); again != file {
			t.Errorf("%s: prints as\n%s\nwant\n%s", name, again, file)
		}
		if name == "sample" && !reflect.DeepEqual(back.Clusters[:2], d.Clusters[:2]) {
			t.Errorf("clusters: %+v", back.Clusters)
		}
	}
}

// The page's example is the sample.
func TestPage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "format", "union-find-json.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(strings.ReplaceAll(string(b), "\r\n", "\n"), "```json\n")
	example, _, _ := strings.Cut(rest, "```")
	if want := encoded(t, sample()); example != want {
		t.Errorf("the page's example is not\n%s", want)
	}
}

// Keys may come in any order, with any white space; parents may lead to the root by way of others.
func TestDecodeOtherHands(t *testing.T) {
	s := encoded(t, sample())
	s = strings.Replace(s, `"id":4,"stable":"`+idOf("node 4").String()+`","parent":3`,
		`"parent" : 3, "stable":"`+idOf("node 4").String()+`" ,"id":4`, 1)
	head, lineage, _ := strings.Cut(s, `,"lineage":`)
	s = `{"lineage":` + strings.TrimSuffix(lineage, "}\n") + "," +
		strings.TrimPrefix(head, "{") + "}"
	d, err := Decode(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	if got := encoded(t, d); got != encoded(t, sample()) {
		t.Errorf("another document:\n%s", got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	node := func(n int) string { return idOf(fmt.Sprint("node ", n)).String() }
	for _, c := range []struct{ old, new, why string }{
		{`{"version"`, `["version"`, "not JSON"},
		{`"version":1`, `"version":2`, "version 2 is not known here"},
		{`"version":1`, `"version":1,"version":1`, `"/version" twice`},
		{`,"clusters":`, `,"nodes":[],"clusters":`, `"/nodes" twice`},
		{`,"clusters":[`, `,"clusters":[null,`, "clusters[0]: a key is missing"},
		{`"covers":[]`, `"covers":null`, "clusters[2]: covers: not an array"},
		{`"parents":[]`, `"parents":null`, "lineage[0]: parents: not an array"},
		{`"time":"2026-11-21T09:01:00.000Z"`, `"time":null`, "nodes[1]: no time"},
		{`"version":1,`, ``, "version 0 is not known"},
		{`"version":1`, `"Version":1`, "has another case"},
		{`"forest":"main"`, `"forest":"a/b"`, "forest:"},
		{`"forest":"main"`, `"forest":7`, `forest: "number" is of another kind`},
		{`"store":"5a6f`, `"store":"zzzz`, "store:"},
		{`"operation":42`, `"operation":NaN`, "not JSON"},
		{`"operation":42`, `"operation":1e2`, `operation: "number 1e2" is of another kind`},
		{`"operation":42`, `"operation":042`, "not JSON"},
		{`"operation":42`, `"operation":-1`, "operation: "},
		{`"operation":42`, `"operation":18446744073709551616`, "operation: "},
		{`"operation":42`, `"operation":0`, "one is there without the other"},
		{`"id":1`, `"id":2`, "nodes[1]: id 2: ids count from 0"},
		{`"id":1,`, `"id":1,"id":1,`, `"/nodes/1/id" twice`},
		{`"id":1,`, `"id":1,"extra":1,`, `nodes[1]: unknown field "extra"`},
		{`"parent":2,"session":"work","seq":3`, `"parent":6,"session":"work","seq":3`,
			"nodes[2]: parent 6 is no node: there are 6"},
		{`"parent":2,"session":"work","seq":3`, `"parent":4294967296,"session":"work","seq":3`,
			"nodes[2]: parent 4294967296 is no node"},
		{`"parent":2,"session":"work","seq":3`, `"parent":4,"session":"work","seq":3`,
			"lead in a circle"},
		{`"parent":2,"session":"work","seq":3`, `"parent":0,"session":"work","seq":3`,
			"clusters[1]: 2 is no root"},
		{node(1), node(0), "nodes[1]: stable id"},
		{node(1), strings.Repeat("0", 64), "not an id"},
		{node(1), strings.ToUpper(node(1)), "not an id"},
		{`"role":"tool"`, `"role":"wizard"`, "nodes[4]: unknown role"},
		{`"seq":1,`, `"seq":0,`, "seq counts from 1"},
		{`"time":"2026-11-21T09:01:00.000Z"`, `"time":"2026-11-21 09:01"`,
			"nodes[1]: not a time"},
		{`"text":"exit status 1"`, `"text":"exit status 1","parts":[]`,
			"nodes[4]: text: one of text, parts and gone"},
		{`,"text":"exit status 1"`, ``, "nodes[4]: text: one of"},
		{`"text":"exit status 1"`, `"parts":{}`, "parts: not an array"},
		{`"text":"exit status 1"`, "\"text\":\"\xff\"", "not JSON in Unicode"},
		{`"tokens":31`, `"tokens":0`, "nodes[3]: a key is missing, or has another case, or an empty"},
		{`"results":["c1"]`, `"results":[1]`, "results: "},
		{`"source":{"agent"`, `"source":{"agency"`, `unknown field "agency"`},
		{`"members":[0,1],"arrival"`, `"members":[0],"arrival"`, "nodes are in no cluster"},
		{`"members":[0,1],"arrival"`, `"members":[0,0],"arrival"`, "twice"},
		{`"members":[0,1],"arrival"`, `"members":[0,9],"arrival"`, "no node"},
		{`"members":[0,1],"arrival"`, `"members":[0,2],"arrival"`, "lead to 2"},
		{`"members":[0,1],"arrival"`, `"members":[],"arrival"`, "no members"},
		{`"number":4`, `"number":1`, "does not come after"},
		{`"arrival":2`, `"arrival":0`, "arrival counts from 1"},
		{`{"root":5,`, `{"root":2,`, "root 2 is that of"},
		{`"dirty":true`, `"dirty":false`, "dirty or summary: the rest says otherwise"},
		{`"first":"2026-11-21T09:02`, `"first":"2026-11-21T09:03`, "first, last"},
		{`"summary":"Temp`, `"summary":"Camp`, "summary: the rest says"},
		{`"covers":["` + idOf("summary 0").String(), `"covers":["` + idOf("summary 2").String(),
			"no summary of it"},
		{`"covers":["` + idOf("summary 0").String(), `"covers":["` + idOf("summary 9").String(),
			"not in the lineage"},
		{`"covers":["` + idOf("summary 0").String() + `"`, `"covers":[`,
			"tombstone: of a cluster that has no summary"},
		{`"line":"tmp/`, `"line":"tmp/\n`, "not one line"},
		{`"operation":41`, `"operation":null`, "one is there without the other"},
		{`"members":[2,3],"parents"`, `"members":[3,2],"parents"`, "does not follow"},
		{`"members":[2,3],"parents"`, `"members":[],"parents"`, "no members"},
		{`"parents":["` + idOf("summary 1").String(), `"parents":["` + idOf("summary 2").String(),
			"does not stand before"},
		{`"generation":2`, `"generation":1`, "generation 1 is not after"},
		{`"summarizer":"gemini"`, `"summarizer":""`, "no summarizer"},
		{`"interim":true`, `"interim":"yes"`, "interim: "},
		{"]}\n", "]}{", "something follows"},
		{"]}\n", "", "ends too early"},
	} {
		s := encoded(t, sample())
		if !strings.Contains(s, c.old) {
			t.Errorf("%s is not in the sample", c.old)
			continue
		}
		_, err := Decode(strings.NewReader(strings.Replace(s, c.old, c.new, 1)))
		if !errors.Is(err, ErrForm) || !strings.Contains(fmt.Sprint(err), c.why) ||
			strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s for %s: got %v, want %s", c.new, c.old, err, c.why)
		}
	}
}

// What goes wrong while reading is told as it is.
func TestDecodeEnds(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Decode(io.MultiReader(strings.NewReader(`{"version":1,`),
		failing{broken})); !errors.Is(err, broken) || errors.Is(err, ErrForm) {
		t.Errorf("broken: %v", err)
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

func TestEncodeRefuses(t *testing.T) {
	for why, spoil := range map[string]func(*Document){
		"circle":      func(d *Document) { d.Nodes[2].Parent = 3; d.Nodes[3].Parent = 2 },
		"no node":     func(d *Document) { d.Nodes[2].Parent = -1 },
		"no root":     func(d *Document) { d.Lineage[0].Root = 1 },
		"covers":      func(d *Document) { d.Clusters[0].Covers = []format.ID{idOf("x")} },
		"before it":   func(d *Document) { d.Lineage[2].Parents = []format.ID{idOf("summary 2")} },
		"author":      func(d *Document) { d.Nodes[0].Author = strings.Repeat("a", 300) },
		"millisecond": func(d *Document) { d.Nodes[0].Time = Time{at(0).Add(1)} },
	} {
		d := sample()
		spoil(d)
		if err := Encode(io.Discard, d); err == nil {
			t.Errorf("%s: was written", why)
		}
	}
}

// What is read is written the same way every time, and nothing makes the reader fail otherwise.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(encoded(f, sample())))
	f.Add([]byte(encoded(f, &Document{Head: Head{Store: sample().Store, Forest: "main"}})))
	f.Add([]byte(`{"version":1,"nodes":[{"id":0}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, ErrForm) {
				t.Fatalf("another kind of error: %v", err)
			}
			return
		}
		file := encoded(t, d)
		again, err := Decode(strings.NewReader(file))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, file)
		}
		if encoded(t, again) != file {
			t.Fatal("written another way the second time")
		}
	})
}
