package geminicli

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// checkOn cuts data at a line's end and holds reading on from there to what a reading of the whole
// gives. It reports whether it could be read on.
func checkOn(t *testing.T, data []byte, cut int) bool {
	t.Helper()
	at := bytes.LastIndexByte(data[:cut], '\n') + 1
	var m transcript.Mark
	if _, err := ReadOn("", bytes.NewReader(data[:at]), &m,
		func(transcript.Step) error { return nil }); err != nil {
		t.Fatal(err)
	}
	whole, stats := readAll(t, data)
	if before := isDocument(t, data[:at]); before || isDocument(t, data) {
		if before && m.State != nil {
			t.Errorf("a document can be read on: %+v", m)
		}
		return false
	}
	first, _ := readAll(t, data[:at])
	if m.State == nil {
		return false
	}
	kept := m
	var rest []transcript.Step
	_, err := ReadOn("", bytes.NewReader(data[m.Offset:]), &kept, func(s transcript.Step) error {
		rest = append(rest, s)
		return nil
	})
	if errors.Is(err, transcript.ErrWhole) {
		if rest != nil || kept.Offset != m.Offset {
			t.Errorf("%d steps were given of what cannot be read on", len(rest))
		}
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := trace(append(first, rest...)), trace(whole); got != want {
		t.Errorf("cut at %d:\n%swhole:\n%s", at, got, want)
	}
	if kept.Offset != stats.Bytes {
		t.Errorf("read on up to %d, whole up to %d", kept.Offset, stats.Bytes)
	}
	return true
}

func isDocument(t *testing.T, data []byte) bool {
	t.Helper()
	s := newReplay(func(transcript.Step) error { return nil })
	if err := s.read(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return s.document
}

// TestReadOn cuts every seed and random transcripts everywhere.
func TestReadOn(t *testing.T) {
	all := seeds(t)
	for seed := range uint64(40) {
		w := &recordWriter{Rand: rand.New(rand.NewPCG(seed, 7)), content: map[string]string{}}
		for range 12 {
			w.write()
		}
		all = append(all, []byte(lines(append([]string{header}, w.records...)...)))
	}
	on, whole := 0, 0
	for _, data := range all {
		for i := range data {
			if data[i] != '\n' {
				continue
			}
			if checkOn(t, data, i+1) {
				on++
			} else {
				whole++
			}
		}
	}
	if on < 100 || whole < 50 {
		t.Errorf("%d read on, %d read whole", on, whole)
	}
}

// TestReadOnTurn reads the turn of a real client on, record by record: what a hook sees between two
// rounds never leads back.
func TestReadOnTurn(t *testing.T) {
	question := user("u1", `[{"text":"1"},{"text":"<hook_context>x</hook_context>"}]`)
	model :=
		`{"id":"g1","type":"gemini","content":"","thoughts":[{"subject":"s","description":"d"}]}`
	called :=
		`{"id":"g1","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"ls","args":{},"result":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]}]}`
	answer := user("t1", `[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]`)
	update := `{"$set":{"lastUpdated":"2026-01-02T03:04:05.000Z"}}`
	start := lines(header,
		`{"$set":{"messages":[`+user(environmentID, `"<session_context>x</session_context>"`)+`]}}`)
	pieces := []string{lines(question, update), lines(model, update, called, answer, update),
		lines(gemini("g2", `"done"`), update)}
	var m transcript.Mark
	if _, err := ReadOn("", strings.NewReader(start), &m,
		func(transcript.Step) error { return nil }); err != nil {
		t.Fatal(err)
	}
	got := ""
	for i, piece := range pieces {
		if _, err := ReadOn("", strings.NewReader(piece+"{torn"),
			&m, func(s transcript.Step) error {
				got += trace([]transcript.Step{s})
				return nil
			}); err != nil {
			t.Fatalf("piece %d: %v", i, err)
		}
	}
	whole, _ := readAll(t, []byte(start+strings.Join(pieces, "")))
	if want := trace(whole); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	for name, piece := range map[string]string{
		"a message from before": lines(gemini("g2", `"more"`)),
		"a call from before": lines(
			`{"id":"g9","type":"gemini","toolCalls":[{"id":"c1","name":"ls"}]}`),
		"a rewind": lines(rewindTo("g2")), "a list": lines(set(user("u1", `"1"`))),
		"no id":    lines(`{"type":"user","content":"x"}`),
		"a header": lines(header),
		"a result without its call": lines(
			user("t9", `[{"functionResponse":{"id":"c9","name":"ls","response":{}}}]`)),
		"a result without an id": lines(
			user("t9", `[{"functionResponse":{"name":"ls","response":{}}}]`)),
	} {
		if _, err := ReadOn("", strings.NewReader(piece), &m,
			func(transcript.Step) error { return errors.New("emitted") }); !errors.Is(err,
			transcript.ErrWhole) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadOn(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed, uint(len(seed)/2))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint) {
		if len(data) > 0 {
			checkOn(t, data, int(cut%uint(len(data))))
		}
	})
}
