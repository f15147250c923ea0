package geminicli

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// recordWriter makes transcripts as an agent might: messages, changed messages, results, lists,
// rewinds.
type recordWriter struct {
	*rand.Rand
	records []string
	list    []string // ids of what was written so far
	content map[string]string
	said    []string // every word that a person or the model said for the first time
}

func (w *recordWriter) write() {
	id := fmt.Sprintf("m%d", len(w.content))
	word := fmt.Sprintf("word%d.", len(w.said))
	switch n := w.IntN(10); {
	case n < 3 || len(w.list) == 0:
		w.add(id, user(id, `"`+word+`"`), word)
	case n < 5:
		w.add(id, gemini(id, `[{"text":"`+word+`"}]`), word)
	case n < 6:
		call := fmt.Sprintf(
			`{"id":"c%d","name":"ls","args":{},"result":{"functionResponse":{"id":"c%d","response":{"output":%q}}}}`,
			w.IntN(5), w.IntN(5), word)
		w.add(id, `{"id":"`+id+`","type":"gemini","content":"","toolCalls":[`+call+`]}`, word)
	case n < 8:
		w.copyList()
	case n < 9:
		w.records = append(w.records, rewindTo(w.list[w.IntN(len(w.list))]))
	default:
		last := w.list[len(w.list)-1]
		w.add(last, gemini(last, `"`+word+`"`), word)
	}
}

func (w *recordWriter) add(id, record, word string) {
	if _, ok := w.content[id]; !ok {
		w.list = append(w.list, id)
	}
	w.content[id] = record
	w.records = append(w.records, record)
	w.said = append(w.said, word)
}

// copyList writes some of the messages again, some of them without their words.
func (w *recordWriter) copyList() {
	var copies []string
	for _, id := range w.list {
		switch w.IntN(4) {
		case 0:
		case 1:
			copies = append(copies, gemini(id, `"…"`))
		default:
			copies = append(copies, w.content[id])
		}
	}
	w.records = append(w.records, set(copies...))
}

func TestRandomTranscripts(t *testing.T) {
	for seed := range uint64(150) {
		w := &recordWriter{Rand: rand.New(rand.NewPCG(seed, 1)), content: map[string]string{}}
		for range 25 {
			w.write()
		}
		data := []byte(lines(slices.Insert(w.records, 0, header)...))
		steps, _ := readAll(t, data)
		checkSteps(t, steps)
		all := trace(steps)
		for _, word := range w.said {
			if !strings.Contains(all, word) {
				t.Errorf("seed %d: %q is lost", seed, word)
			}
		}
		for range 5 {
			checkPrefix(t, data, w.IntN(len(data)), steps)
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, data)
		}
	}
}

// TestCopiesAddNothing writes the whole conversation again, as a resume does.
func TestCopiesAddNothing(t *testing.T) {
	messages := []string{user("u", `"a"`), modelC1, user("t", `[`+resultC1+`]`), gemini("h", `"b"`)}
	once, _ := readAll(t, []byte(lines(messages...)))
	more, stats := readAll(t,
		[]byte(lines(append(slices.Clone(messages), set(messages...), set(), set(messages...))...)))
	if trace(once) != trace(more) {
		t.Errorf("once:\n%safter copies:\n%s", trace(once), trace(more))
	}
	if stats.Passed[passedRepeated] != 11 {
		t.Errorf("%v", stats.Passed)
	}
}
