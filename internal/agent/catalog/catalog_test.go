package catalog

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// packages returns the directories of agent packages, by the name of the agent.
func packages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^\s*(?:const )?\w*Agent\s*=\s*"([^"]+)"`)
	found := map[string]string{}
	for _, file := range files {
		for _, m := range named.FindAllStringSubmatch(read(t, file), -1) {
			found[m[1]] = filepath.Dir(file)
		}
	}
	return found
}

// TestRowsAreComplete checks that every agent package has a row, and that nothing of an agent is
// missing: the fields of its row, its page, scripts for import and export, fixtures and a fuzz
// target. The checklist is in CONTRIBUTING.md.
func TestRowsAreComplete(t *testing.T) {
	found := packages(t)
	index := read(t, "../../../docs/agents/README.md")
	scripts, err := filepath.Glob("../../../testscript/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, a := range All() {
		if a.Name == "" || a.Title == "" || a.Example == "" || a.Form == nil == (a.Reads == nil) {
			t.Errorf("the row of %q lacks a field", a.Name)
		}
		finds := a.Files != nil || a.InEditors != nil || a.Find != nil
		listed := a.Database != nil && !a.Database.Within
		if a.Root == nil == (finds || listed) || finds != (a.Began != nil) ||
			a.Place == nil != (a.ResumeCommand == nil) {
			t.Errorf("%s: Root and what finds files go together, and so do Place and ResumeCommand",
				a.Name)
		}
		if a.Write == nil != (a.NewID == nil) || a.Write == nil != (a.TakesID == nil) ||
			a.Write == nil && a.Place != nil {
			t.Errorf("%s: Write, NewID and TakesID go together, and Place needs them", a.Name)
		}
		dir, ok := found[a.Source]
		if !ok {
			t.Errorf("%s: no package of %q", a.Name, a.Source)
		}
		delete(found, a.Source)
		page := cmp.Or(a.Page, a.Name)
		read(t, "../../../docs/agents/"+page+".md")
		if !strings.Contains(index, "("+page+".md)") {
			t.Errorf("%s: docs/agents/README.md does not link its page", a.Name)
		}
		commands := []string{"ctx import " + a.Name + " "}
		if a.Write != nil {
			commands = append(commands, "--format "+a.Name)
		}
		for _, command := range commands {
			if !slices.ContainsFunc(scripts,
				func(file string) bool { return strings.Contains(read(t, file), command) }) {
				t.Errorf("%s: no script has %q", a.Name, command)
			}
		}
		data, reader := dir+"/testdata/*", filepath.Base(dir)
		if filepath.Base(dir) == "shape" {
			data, reader = dir+"/testdata/"+page+"/*", page
		}
		if fixtures, _ := filepath.Glob(data); len(fixtures) == 0 {
			t.Errorf("%s: no fixtures in testdata", a.Name)
		}
		tests, _ := filepath.Glob(dir + "/*_test.go")
		shared, _ := filepath.Glob("../*_test.go")
		target := regexp.MustCompile(`(?i)func Fuzz(Read|` + reader + `)\(`)
		if !slices.ContainsFunc(append(tests, shared...),
			func(file string) bool { return target.MatchString(read(t, file)) }) {
			t.Errorf("%s: no fuzz target reads transcripts", a.Name)
		}
	}
	delete(found, adk.Agent) // has events instead of transcripts
	for agent := range found {
		t.Errorf("no row for %q", agent)
	}
}

// Every row writes a conversation that it reads back: each message with its words, and none
// besides.
func TestRowsRoundTrip(t *testing.T) {
	list := []transcript.Message{
		{Role: "user", Text: "Which lamps are lit?"},
		{Role: "model", Author: "m", Text: "The north one."}, {Role: "user", Text: "Thank you."},
	}
	for i := range list {
		list[i].Origin = transcript.Origin{Agent: transcript.Own,
			Message: strings.Repeat(string(rune('a'+i)), 64)}
	}
	for _, a := range All() {
		if a.Write == nil {
			continue
		}
		var b bytes.Buffer
		w := a.Write(&b, transcript.WriteOptions{Session: a.NewID("s"), Keeps: Keeps})
		for _, m := range list {
			if err := w.Add(transcript.Item{Message: m}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var got []string
		stats, err := a.Read("", &b, func(st transcript.Step) error {
			got = append(got, st.Message.Role+" "+st.Message.Text)
			return nil
		})
		want := []string{"user Which lamps are lit?", "model The north one.", "user Thank you."}
		if err != nil || len(stats.Skipped) > 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, skipped %v, %v", a.Name, got, stats.Skipped, err)
		}
		if id := a.NewID("s"); id != "" && !a.TakesID(id) {
			t.Errorf("%s does not take its own id %q", a.Name, id)
		}
	}
}

// An agent is found by its name, and its traits by that of its messages.
func TestLookUp(t *testing.T) {
	for _, a := range All() {
		if got, ok := Named(a.Name); !ok || got.Source != a.Source ||
			!TraitsOf(a.Source).Keeps && a.unlike == (Traits{}) {
			t.Errorf("%s: %v", a.Name, got.Source)
		}
	}
	if _, ok := Named("nobody"); ok || TraitsOf("nobody") != (Traits{}) ||
		!TraitsOf(adk.Agent).Keeps || !TraitsOf(transcript.Own).ByWords {
		t.Error("traits of agents without a row")
	}
}

// Codex compresses rollouts that are a week old. They are found and read as the others are.
func TestCompressedRollout(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "sessions", "2026", "01", "02")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lines :=
		`{"timestamp":"2026-01-02T03:00:00Z","type":"session_meta","payload":{"id":"one","cwd":"/p"}}` + "\n" +
			`{"timestamp":"2026-01-02T03:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Paint the buoy"}]}}` + "\n"
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := enc.EncodeAll([]byte(lines), nil)
	for name, data := range map[string][]byte{
		"rollout-a.jsonl.zst": packed, "rollout-b.jsonl": []byte(lines),
		"rollout-b.jsonl.zst": packed, "rollout-c.jsonl.zst": packed[:len(packed)/2],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	row, _ := Named("codex")
	var files []string
	for _, b := range row.Sessions(root, nil) {
		if b.Dir == "/p" {
			files = append(files, b.File)
		}
	}
	if len(files) != 2 || filepath.Base(files[0]) != "rollout-a.jsonl.zst" ||
		filepath.Base(files[1]) != "rollout-b.jsonl" {
		t.Fatalf("found %q", files)
	}
	n, stats, err := readPacked(&row, packed)
	if err != nil || stats.Session != "one" || n != 2 {
		t.Errorf("read %d, %+v, %v", n, stats, err)
	}
	if name := row.NameOf(files[0]); name != "rollout-a" {
		t.Errorf("named %q", name)
	}
}

// readPacked reads a transcript as an import does, and returns how many messages it has.
func readPacked(row *Agent, b []byte) (n int, stats transcript.Stats, err error) {
	in, end, err := Unpack(bytes.NewReader(b))
	if err != nil {
		return 0, stats, err
	}
	defer end()
	stats, err = row.Read("", in, func(transcript.Step) error { n++; return nil })
	if of, ok := in.(*transcript.UpToCut); ok {
		of.CountIn(&stats)
	}
	return n, stats, err
}

// A transcript that is packed with bzip2 is read. Of what is packed in a form that is not, the
// error says what unpacks it.
func TestOtherPackings(t *testing.T) {
	row, _ := Named("codex")
	b, err := base64.StdEncoding.DecodeString("" +
		"QlpoOTFBWSZTWZuDZvwAAHrbgAAQUAb5EAQarufe6jAAuNhqaRoaMmg0yZABg1E2UBtJoAGgGgSmkmmpkHpNMIaD" +
		"ahpsY6+3x8PV0L26+yqJBM7nGK2dnEknBD0lMDIwHi14sRzMyGiIaocYzIDtAlCWF2vMoTcmb2+0zKWUkHy20Wmj" +
		"poFi4IVVOWxO6u4rsJEFGWRAhzuiO3jwxWA+5CDSJxMNQL4LNhBCsmasKwJjKEjEZgP+H54C2RTF3JFOFCQm4Nm/" +
		"AA==")
	if err != nil {
		t.Fatal(err)
	}
	if n, stats, err := readPacked(&row, b); err != nil || n != 2 || len(stats.Skipped) > 0 {
		t.Errorf("read %d, %+v, %v", n, stats, err)
	}
	if n, stats, err := readPacked(&row, b[:len(b)-40]); err != nil || n > 0 ||
		stats.Skipped[transcript.SkipTornTail] != 1 {
		t.Errorf("of a file that was cut off: %d, %+v, %v", n, stats, err)
	}
	for begin, program := range map[string]string{"\xfd7zXZ\x00": "xz -d", "PK\x03\x04": "unzip"} {
		if _, _, err := readPacked(&row, []byte(begin)); err == nil ||
			!strings.Contains(err.Error(), program) {
			t.Errorf("of %q: %v", begin, err)
		}
	}
}

// A packed transcript is read up to where it was cut off, wherever that is, and the cut is counted.
func TestCutPacked(t *testing.T) {
	var lines []byte
	lines = fmt.Appendf(lines, "%s\n",
		`{"timestamp":"2026-01-02T03:00:00Z","type":"session_meta","payload":{"id":"one","cwd":"/p"}}`)
	draw := rand.New(rand.NewPCG(1, 2))
	const said = 400
	for i := range said {
		lines = fmt.Appendf(lines, `{"timestamp":"2026-01-02T03:00:01Z","type":"response_item",`+
			`"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%d %x"}]}}`+
			"\n", i, [][8]uint64{{draw.Uint64(), draw.Uint64(), draw.Uint64(), draw.Uint64()}})
		for range 60 {
			lines = fmt.Appendf(lines[:len(lines)-6], `%x"}]}}`+"\n", draw.Uint64())
		}
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(lines); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	row, _ := Named("codex")
	for form, packed := range map[string][]byte{
		"zstd": enc.EncodeAll(lines, nil), "gzip": zipped.Bytes(),
	} {
		for _, at := range []int{5, 9, len(packed) / 10, len(packed) / 2, len(packed) - 1} {
			n, stats, err := readPacked(&row, packed[:at])
			if err != nil || stats.Skipped[transcript.SkipTornTail] == 0 || n > 1+said ||
				n < said*(10*at/len(packed)-3)/10 {
				t.Errorf("%s, %d of %d bytes: %d messages, %v, %v", form, at, len(packed), n,
					stats.Skipped, err)
			}
		}
		n, stats, err := readPacked(&row, packed)
		if n != 1+said || len(stats.Skipped) > 0 || err != nil {
			t.Errorf("%s, whole: %d messages, %v, %v", form, n, stats.Skipped, err)
		}
	}
}

// Members that name the account of the person are in no step of any agent, and are counted.
func TestAccountIsLeftOut(t *testing.T) {
	for name, file := range map[string]string{
		"antigravity": "shape/testdata/antigravity/transcript_full.jsonl",
		"claude-code": "claudecode/testdata/session.jsonl",
		"codex":       "codex/testdata/rollout.jsonl",
		"copilot":     "shape/testdata/copilot/events.jsonl",
		"cursor":      "shape/testdata/cursor/cli.jsonl",
		"droid":       "shape/testdata/droid/session.jsonl",
		"gemini-cli":  "geminicli/testdata/turn.jsonl",
		"qwen":        "shape/testdata/qwen/session.jsonl",
	} {
		var with strings.Builder
		for line := range strings.Lines(read(t, "../"+file)) {
			if rest, ok := strings.CutPrefix(line, "{"); ok {
				line = `{"userEmail":"ada@quay.example","at":{"account_id":"acc0ffee-1"},` + rest
			}
			with.WriteString(line)
		}
		a, _ := Named(name)
		steps := 0
		stats, err := a.Read("", strings.NewReader(with.String()), func(s transcript.Step) error {
			steps++
			said := string(s.Message.Parts) + s.Message.Text
			if strings.Contains(said, "ada@quay") || strings.Contains(said, "acc0ffee") {
				t.Errorf("%s: %.400s", name, said)
			}
			return nil
		})
		if n := stats.Passed[transcript.PassedAccount]; err != nil || steps == 0 || n < steps {
			t.Errorf("%s: %d members are counted in %d steps, %v", name, n, steps, err)
		}
	}
}
