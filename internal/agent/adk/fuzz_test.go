package adk

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// FuzzRead reads anything, and holds what comes out to what a session can take: written and read
// again it is the same.
func FuzzRead(f *testing.F) {
	f.Add(sample(f))
	out, _ := writeAll(f, conversation(), WriteOptions{Session: "s"})
	f.Add(out)
	out, _ = writeAll(f, conversation(), WriteOptions{Session: "s", Lines: true, Unit: Python})
	f.Add(out)
	for _, s := range []string{
		"", "\x00", "[", "{", "[]", "{}", `{"events":[{}`, `{"session":{"events":[]}}`,
		`[{"author":"a","timestamp":1e9}`, "\xef\xbb\xbf{\"author\":\"u\"}\n\x00\x00{",
		`{"author":"a","customMetadata":{"ctx":{"v":1,"of":[{"at":3,"count":9}],"standIn":[-1]}}}`,
		`{"author":"a","customMetadata":{"ctx":{"v":1,"hidden":[{"at":-4,"part":{"thought":true}}],"wrapped":[7,-1]}}}`,
		`{"author":"a","content":{"parts":[{"adk":{},"thought":true}]}}`,
		`{"author":"a","actions":{"rewindBeforeInvocationId":""}}`,
		`{"author":"a","content":{"role":"model","parts":[{"functionResponse":{"id":"x","response":"y"}},{"functionCall":{"id":"z","name":"n"}}]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		steps, now, stats := readAll(t, data, ReadOptions{Session: "s"})
		again, _, _ := readAll(t, bytes.Clone(data), ReadOptions{Session: "s"})
		if len(again) != len(steps) {
			t.Fatalf("%d steps, then %d", len(steps), len(again))
		}
		for i := range now {
			checkMessage(t, &now[i])
			if now[i].Time.IsZero() {
				now[i].Time = time.UnixMilli(0).UTC() // an entry has one always
			}
		}
		session := transcript.Fit(stats.Session)
		out, done := writeAll(t, now, WriteOptions{Session: session})
		if len(done.Left) > 0 {
			t.Errorf("%+v", done)
		}
		if len(out) > 8*len(data)+1000*len(now)+10000 {
			t.Errorf("%d bytes became %d", len(data), len(out))
		}
		twice, _ := writeAll(t, now, WriteOptions{Session: session})
		if !bytes.Equal(out, twice) {
			t.Error("other bytes")
		}
		// The times of the first years are of any unit
		_, back, _ := readAll(t, out, ReadOptions{Unit: JavaScript})
		for i := range back {
			if IsSession(back[i].Origin) {
				back[i].Time = time.UnixMilli(0).UTC()
			}
		}
		sameAll(t, back, now)
	})
}

func checkMessage(t *testing.T, m *transcript.Message) {
	t.Helper()
	if m.Parts != nil && m.Text != "" || m.Origin.Agent == "" || m.Origin.Message == "" {
		t.Errorf("%s", show(*m))
	}
	if _, err := jsonvalue.Elements(m.Parts); m.Parts != nil &&
		(err != nil || !json.Valid(m.Parts)) {
		t.Errorf("parts %s", m.Parts)
	}
	switch m.Role {
	case transcript.RoleUser, transcript.RoleModel, transcript.RoleTool, transcript.RoleSystem:
	default:
		t.Errorf("role %q", m.Role)
	}
	if !json.Valid(Normal(m)) {
		t.Errorf("normal %s", Normal(m))
	}
}

// FuzzOwn has messages with any parts come back as they were.
func FuzzOwn(f *testing.F) {
	for _, m := range conversation() {
		f.Add(m.Role, m.Author, string(m.Parts), m.Note)
	}
	f.Add("model", "a",
		`[{"text":"a","thought":true,"functionCall":{"id":"c","name":"n"}},{"functionResponse":{"id":"c"},"functionCall":{"id":"d"}}]`, false)
	f.Add("model", "a", `[{"Text":"a","Thought":true,"FunctionCall":{"id":"c"},"text":"b"}]`, false)
	f.Fuzz(func(t *testing.T, role, author, parts string, note bool) {
		var list []json.RawMessage
		raw := bytes.ToValidUTF8([]byte(parts), []byte("?"))
		if json.Unmarshal(raw, &list) != nil || list == nil || jsonvalue.Depth(raw) > 100 ||
			strings.Contains(parts, `\u`) || transcript.Fit(author) != author {
			return
		}
		if _, err := message.Parse(raw); err != nil {
			return // no store takes it
		}
		switch role {
		case transcript.RoleUser, transcript.RoleModel, transcript.RoleTool, transcript.RoleSystem:
		default:
			return
		}
		m := own(1, role, author, "")
		m.Parts = jsonvalue.Compact(raw)
		m.Note = note
		list, _ = jsonvalue.Elements(m.Parts)
		said, _ := transcript.CutKept(carriedName, list)
		if len(said) != len(list) {
			return // an import made it
		}
		var links transcript.Message
		links.SetParts(list)
		m.Calls, m.Results = links.Calls, links.Results
		out, _ := writeAll(t, []transcript.Message{m}, WriteOptions{Session: "s"})
		_, got, _ := readAll(t, out, ReadOptions{})
		sameAll(t, got, []transcript.Message{m})
	})
}
