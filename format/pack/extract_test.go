package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// told makes an object with a text, its nonce derived.
func told(lines, media, text string) Object {
	body := append(bytes.Clone(newNonces(testKey).of([]byte(lines))), text...)
	sum := format.SumBody(body, media)
	header := fmt.Appendf(nil, "%sbody sha256:%x %d %s\n", lines, sum.Digest, sum.Size, sum.Media)
	return Object{ID: format.Sum(header), Header: header, Body: body}
}

func said(seq int, role, media, text string) Object {
	return told(fmt.Sprintf("entry 1\nseq %d\nsession talk\nrole %s\n", seq, role), media, text)
}

func extractOf(lines ...string) Object {
	return told("summary 1\ngeneration 1\n", format.MediaExtract,
		"[\n"+strings.Join(lines, ",\n")+"\n]\n")
}

func line(id format.ID, seq int, role string, pos, weight int, text string) string {
	if role != "" {
		role = `,"role":"` + role + `"`
	}
	return fmt.Sprintf(`{"entry":"%v","seq":%d%s,"pos":%d,"weight":%d,"text":"%s"}`, id, seq, role,
		pos, weight, text)
}

// An extract comes back to the byte, whatever it quotes, and says whether it was stored as one.
func TestExtracts(t *testing.T) {
	user := said(7, "user", format.MediaText, "Use port 5433. Not \"5432\".\n\tNever\x02\\.")
	tool := said(8, "tool", format.MediaParts, `[{"text":"It is \"16.2\", I think."}]`)
	gone := said(9, "user", format.MediaText, "Forgotten.")
	gone.Body = nil
	far := format.ID{9, 8, 7}
	for name, c := range map[string]struct {
		lines  []string
		stored bool // as an extract
		hidden []string
	}{
		"whole text": {[]string{line(user.ID, 7, "", 0, 9,
			`Use port 5433. Not \"5432\".\n\tNever\u0002\\.`)}, true, []string{"port", "5433"}},
		"parts": {[]string{line(user.ID, 7, "", 1, 9, `Not \"5432\".`),
			line(user.ID, 7, "", 0, 5, "Use port 5433."),
			line(tool.ID, 8, "tool", 0, 1, "I think")}, true, nil},
		"parts of JSON": {[]string{line(tool.ID, 8, "tool", 0, 9, `It is \"16.2\"`)}, true, nil},
		"other words":   {[]string{line(user.ID, 7, "", 0, 9, "Nobody said that.")}, true, nil},
		"other seq, role": {[]string{line(user.ID, 70, "", 0, 9, "Use"),
			line(user.ID, 7, "model", 1, 8, "port")}, true, nil},
		"a body gone": {[]string{line(gone.ID, 9, "", 0, 9, "Forgotten.")}, true, nil},
		"not in the block": {[]string{line(far, 3, "", 0, 9, "Use port 5433."),
			line(far, 3, "", 1, 8, "x"), line(user.ID, 7, "", 0, 8, "Use")}, true, nil},
		"twice": {[]string{line(user.ID, 7, "", 0, 9, "Use"),
			line(user.ID, 7, "", 0, 9, "port"), line(user.ID, 7, "", 0, 9, "5433")}, true, nil},
		"an empty text":    {[]string{line(user.ID, 7, "", 0, 9, "")}, true, nil},
		"negative numbers": {[]string{line(user.ID, 7, "", -3, -9, "Use")}, true, nil},
		"not by weight": {[]string{line(user.ID, 7, "", 0, 8, "Use"),
			line(user.ID, 7, "", 1, 9, "port")}, false, nil},
		"another escape": {[]string{line(user.ID, 7, "", 0, 9, `\u0055se`)}, true, nil},
		"other keys":     {[]string{`{"entry":"x","text":"y"}`}, false, nil},
		"a zero before": {[]string{strings.Replace(line(user.ID, 7, "", 0, 9, "Use"), ":7,",
			":07,", 1)}, false, nil},
		"a role of none": {[]string{line(user.ID, 7, "user", 0, 9, "Use")}, true, nil},
	} {
		list := []Object{user, tool, gone, extractOf(c.lines...), extractOf()}
		raw, digest := Encode(list, testKey, nil)
		for _, bodies := range []bool{true, false} {
			got, err := Decode(raw, len(list), digest, testKey, bodies, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range list {
				if bodies && !equal(list[i], got[i]) || got[i].ID != list[i].ID {
					t.Errorf("%s: %q became %q", name, list[i].Body, got[i].Body)
				}
			}
		}
		if stored := bytes.Contains(raw, []byte("\x01entry")) &&
			!bytes.Contains(raw, []byte(c.lines[0])); stored != c.stored {
			t.Errorf("%s: stored as an extract: %v", name, stored)
		}
	}
}

// Sentences that are in the block take a few bytes each.
func TestExtractsAreDense(t *testing.T) {
	var list []Object
	var lines []string
	for i := range 100 {
		text := fmt.Sprintf("message %d says that much. And a bit more.", i)
		list = append(list, said(i+1, "user", format.MediaText, text))
		lines = append(lines,
			line(list[i].ID, i+1, "", 0, 1000-i, strings.TrimSuffix(text, " And a bit more.")))
	}
	before, _ := Encode(list, testKey, nil)
	list = append(list, extractOf(lines...))
	after, _ := Encode(list, testKey, nil)
	if more := len(after) - len(before); more > 100*9+250 {
		t.Errorf("an extract of 100 sentences takes %d bytes", more)
	}
}

// A small block that quotes a long text again and again ends before it takes the memory.
func TestExtractsThatGrow(t *testing.T) {
	const size, quotes = 1 << 20, 4000
	list := []Object{said(1, "user", format.MediaText, strings.Repeat("x", size)),
		extractOf(line(format.ID{}, 1, "", 0, 0, ""))}
	raw, digest := Encode(list, testKey, nil)
	// The block says that the sentence is there very many times.
	r, err := Open(raw, 2, digest, testKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range [extractColumns][]byte{exEntry: {1}, exWho: {0}, exPos: {0}, exWeight: {0},
		exHow: {textAll}} {
		r.d.columns[r.d.special[i]].Rest = bytes.Repeat(b, quotes)
	}
	r.d.columns[colSizes].Rest = binary.AppendUvarint(binary.AppendUvarint(nil, size), quotes)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := r.All(); err == nil {
		t.Fatal("it was read")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 6*maxExtracts {
		t.Errorf("%d bytes were allocated", used)
	}
}

// A writer that has too much for the extracts of a block stores the rest as texts.
func TestManyExtracts(t *testing.T) {
	long := said(1, "user", format.MediaText, strings.Repeat("x", 5<<20))
	list := []Object{long}
	for i := range 5 {
		text := "[\n" + line(long.ID, 1, "", 0, i, strings.Repeat("x", 5<<20)) + "\n]\n"
		list = append(list,
			told(fmt.Sprintf("summary 1\ngeneration %d\n", i+1), format.MediaExtract, text))
	}
	raw, digest := Encode(list, testKey, nil)
	got, err := Decode(raw, len(list), digest, testKey, true, nil)
	if err != nil || !slices.EqualFunc(list, got, equal) {
		t.Fatal(err)
	}
	if most := (5 + 2*5 + 1) << 20; len(raw) > most {
		t.Errorf("%d bytes, %d at most are expected", len(raw), most)
	}
}

// extract makes an extract of some of the objects that were made.
func (m *maker) extract() []byte {
	var list []sentence
	for range m.IntN(5) {
		s := sentence{Sentence: format.Sentence{Entry: format.ID{byte(m.IntN(3))},
			Seq: uint64(m.IntN(3)), Pos: int64(m.IntN(4)), Weight: int64(m.IntN(9)) - 3,
			Text: []byte("said")}}
		if m.IntN(3) == 0 {
			s.Role = []byte("tool")
		}
		if len(m.list) > 0 && m.IntN(4) > 0 {
			o := m.list[m.IntN(len(m.list))]
			s.Entry = o.ID
			if n := len(o.Body); n > 0 && m.IntN(4) > 0 {
				at := m.IntN(n)
				s.Text, s.Plain = o.Body[at:at+m.IntN(n-at+1)], m.IntN(5) > 0
			}
		}
		list = append(list, s)
	}
	if m.IntN(4) > 0 {
		rank(list)
	}
	text, _ := appendExtract(nil, list, maxExtracts)
	return text
}

func FuzzExtract(f *testing.F) {
	user := said(7, "user", format.MediaText, "Use port 5433. Not \"5432\".")
	f.Add([]byte("[\n"+line(user.ID, 7, "", 0, 9, "Use port 5433.")+"\n]\n"),
		"Use port 5433. Not \"5432\".")
	m := &maker{Rand: rand.New(rand.NewPCG(3, 1)), key: testKey}
	for range 8 {
		m.object()
		f.Add(m.extract(), "word word")
	}
	f.Fuzz(func(t *testing.T, text []byte, words string) {
		list := []Object{said(7, "user", format.MediaText, words),
			told("summary 1\n", format.MediaExtract, string(text))}
		// Quote the entry that there is.
		quoting := strings.ReplaceAll(string(text), user.ID.String(), list[0].ID.String())
		list = append(list, told("summary 2\n", format.MediaExtract, quoting))
		raw, digest := Encode(list, testKey, nil)
		if got, err := Decode(raw, len(list), digest, testKey, true, nil); err != nil ||
			!slices.EqualFunc(list, got, equal) {
			t.Fatalf("%q does not come back: %v", text, err)
		}
	})
}
