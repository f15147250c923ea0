// Many programs have the same few words for conversations as JSON lines, a message a line. This
// file reads and writes them. docs/agents/jsonl.md has the words.

package shape

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// Agent is the agent in the source of a message that was a line of JSON.
const JSONLAgent = "jsonl"

func starts() []string { return []string{`{"`} }

// Read reads JSON lines, as transcript.Read says.
func ReadJSONL(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
	d := &jsonlReader{decoder: newDecoder(), stats: transcript.NewStats(), emit: emit}
	err := transcript.Lines(r, &d.stats, starts(), true, d.record)
	return d.stats, err
}

type jsonlReader struct {
	*decoder
	stats transcript.Stats
	emit  func(transcript.Step) error
}

func (d *jsonlReader) record(o jsonvalue.Object) error {
	hints := transcript.ReadHints(o[transcript.HintName])
	d.stats.ReadHome(hints)
	switch {
	case hints != nil && hints.Gone != "":
		d.stats.Pass("stand-in")
		return nil
	case o.True("partial"):
		d.stats.Pass("partial")
		return nil
	}
	if d.stats.Session == "" {
		d.stats.Session = first(o, "session", "session_id", "sessionId", "conversation_id")
		d.session = d.stats.Session
	}
	m, ok := d.decode(o)
	if !ok {
		d.stats.Skip(transcript.SkipUnknown, 1)
		return nil
	}
	return d.emit(transcript.Step{Message: m, Session: d.stats.Session, Home: d.stats.Home})
}

func first(o jsonvalue.Object, names ...string) string {
	for _, name := range names {
		if s := o.Text(name); s != "" {
			return s
		}
	}
	return ""
}

// decoder makes messages of lines.
type decoder struct {
	session string
	names   transcript.Names  // that were made up
	tools   map[string]string // the tool of each call
}

func newDecoder() *decoder {
	return &decoder{names: transcript.Names{}, tools: map[string]string{}}
}

// roleOf reads a role in the words of several programs; "" for none.
func roleOf(s string) string {
	switch strings.ToLower(s) {
	case "user", "human":
		return transcript.RoleUser
	case "model", "assistant", "ai", "bot":
		return transcript.RoleModel
	case "tool", "function":
		return transcript.RoleTool
	case "system", "developer":
		return transcript.RoleSystem
	}
	return ""
}

// decode makes a message of a line; ok is false if it is none.
func (d *decoder) decode(o jsonvalue.Object) (m transcript.Message, ok bool) {
	rest := o.Without(transcript.HintName, "session", "session_id", "sessionId", "conversation_id")
	m = transcript.Message{Role: roleOf(o.Text("role")), Note: o.True("note")}
	if m.Role == "" {
		return m, false
	}
	if m.Role == o.Text("role") {
		delete(rest, "role")
	}
	if m.Note || string(o["note"]) == "false" {
		delete(rest, "note")
	}
	for _, name := range []string{"author", "model", "name"} {
		if s := o.Text(name); s != "" && m.Author == "" && transcript.Fit(s) == s {
			m.Author = s
			delete(rest, name)
		}
	}
	m.Time = d.when(o, rest)
	if s := o.Text("invocation"); s != "" && transcript.Fit(s) == s {
		m.Invocation = s
		delete(rest, "invocation")
	}
	if n := o.Number("tokens"); n > 0 {
		m.Tokens = n
		delete(rest, "tokens")
	}
	parts, ok := d.words(o, rest, &m)
	if !ok {
		return m, false
	}
	m.Calls, m.Results = linksOf(o, rest)
	name := ""
	for _, id := range []string{"id", "uuid", "message_id", "source"} {
		if s := o.Text(id); s != "" && name == "" {
			name = s
			delete(rest, id)
		}
	}
	hints := transcript.ReadHints(o[transcript.HintName])
	if len(rest) > 0 && (hints == nil || !hints.Alone) {
		parts = append(parts, transcript.Kept(JSONLAgent, rest))
	}
	calls, results := m.Calls, m.Results
	m.SetParts(parts)
	if m.Parts == nil {
		m.Calls, m.Results = calls, results
	}
	if name == "" {
		name = d.names.Next(
			"derived:" +
				transcript.Derive(16, transcript.Stamp(m.Time), m.Role, m.Text,
					string(jsonvalue.Canonical(m.Parts))))
	}
	m.Origin = transcript.Origin{Agent: JSONLAgent, Session: transcript.Fit(d.session),
		Message: transcript.Fit(name)}
	if hints != nil {
		hints.Apply(&m)
	}
	return m, true
}

// when reads a time: RFC 3339, or a number of seconds or milliseconds since 1970.
func (d *decoder) when(o, rest jsonvalue.Object) time.Time {
	for _, name := range []string{"time", "timestamp", "created_at", "ts"} {
		t, exact := transcript.TimeOf(o[name])
		if exact {
			delete(rest, name)
		}
		if !t.IsZero() || o.Text(name) != "" {
			return t
		}
	}
	return time.Time{}
}

// words reads what was said.
func (d *decoder) words(
	o, rest jsonvalue.Object, m *transcript.Message,
) (parts []json.RawMessage, ok bool) {
	if list, isList := o.Array("parts"); isList {
		if _, err := message.Parse(o["parts"]); err != nil {
			return nil, false // two members of one name
		}
		delete(rest, "parts")
		for _, raw := range list {
			parts = append(parts, jsonvalue.Encode(raw))
		}
		return parts, true
	}
	name := "text"
	if !o.Has(name) {
		name = "content"
	}
	text, isText := jsonvalue.Text(o[name])
	list, isList := o.Array(name)
	tools, hasTools := o.Array("tool_calls")
	switch {
	case isText:
		if name == "text" {
			delete(rest, name)
		} else {
			rest["content"] = json.RawMessage("true")
		}
	case isList:
		for _, raw := range list {
			text += textIn(raw)
		}
	case !hasTools:
		return nil, false
	}
	if id := o.Text("tool_call_id"); id != "" {
		delete(rest, "tool_call_id")
		if m.Role == transcript.RoleTool {
			return append(parts,
				transcript.ResultPart(id, d.tools[id],
					jsonvalue.Encode(map[string]string{"output": text}), nil)), true
		}
	}
	if text != "" || !hasTools {
		parts = append(parts, transcript.TextPart(text, nil))
	}
	for _, raw := range tools {
		call, _ := jsonvalue.ParseObject(raw)
		f := call.Object("function")
		id, tool := call.Text("id"), f.Text("name")
		if id == "" || tool == "" {
			continue
		}
		args := json.RawMessage(f.Text("arguments"))
		if _, ok := jsonvalue.ParseObject(args); !ok {
			args = jsonvalue.Encode(map[string]string{"input": f.Text("arguments")})
		}
		d.tools[id] = tool
		parts = append(parts, transcript.CallPart(id, tool, args, nil))
	}
	return parts, true
}

// writer is the codec of JSON lines.
type jsonlWriter struct {
	*transcript.Output
	d *decoder
}

// NewJSONLWriter begins a file of JSON lines.
func NewJSONLWriter(w io.Writer, o transcript.WriteOptions) transcript.Writer {
	o.Beside = true
	return transcript.NewWriter(w, o, func(out *transcript.Output) transcript.Codec {
		d := newDecoder()
		d.session = o.Session
		return &jsonlWriter{Output: out, d: d}
	})
}

// Message writes a message as a line.
func (w *jsonlWriter) Message(it *transcript.Item) bool {
	m := &it.Message
	said, kept, native := transcript.Native(JSONLAgent, m)
	o := jsonvalue.Object{}
	if native {
		o = kept.Without()
	}
	w.fields(o, m, said, native)
	w.Hint(o, m, false, func(o jsonvalue.Object) transcript.Message {
		got, _ := w.d.decode(o)
		return got
	})
	w.Record(o.Ordered("id", "session", "role", "author", "time", "text", "parts"))
	return true
}

func (w *jsonlWriter) fields(
	o jsonvalue.Object, m *transcript.Message, said []json.RawMessage, native bool,
) {
	set := func(name string, v any) {
		if o[name] == nil {
			o.Set(name, v)
		}
	}
	set("id", m.Origin.Message)
	if w.Session != "" {
		set("session", w.Session)
	}
	set("role", m.Role)
	if m.Note {
		set("note", true)
	}
	if m.Author != "" {
		set("author", m.Author)
	}
	if !m.Time.IsZero() {
		set("time", transcript.Stamp(m.Time))
	}
	if m.Invocation != "" {
		set("invocation", m.Invocation)
	}
	if m.Tokens > 0 {
		set("tokens", m.Tokens)
	}
	if native {
		delete(o, "content")
	} else {
		said, _ = jsonvalue.Elements(m.Parts)
	}
	switch {
	case m.Gone != "":
		w.Report.Changed[transcript.ChangedForgotten]++
		o.Set("text", transcript.GoneText)
	case m.Parts == nil:
		o.Set("text", m.Text)
		w.links(o, m)
	default:
		delete(o, "tool_calls")
		delete(o, "text")
		o["parts"] = jsonvalue.Array(said)
	}
}

// links writes the calls and results of a message that has no parts.
func (w *jsonlWriter) links(o jsonvalue.Object, m *transcript.Message) {
	if len(m.Calls) > 0 {
		list := slices.Clone(m.Calls)
		for i := range list {
			list[i].Tool = cmp.Or(list[i].Tool, "unknown")
		}
		o.Set("calls", list)
	}
	if len(m.Results) > 0 {
		o.Set("results", m.Results)
	}
}

// linksOf reads what links writes.
func linksOf(o, rest jsonvalue.Object) (calls []format.Call, results []string) {
	if list, ok := o.Array("calls"); ok {
		delete(rest, "calls")
		for _, raw := range list {
			c, _ := jsonvalue.ParseObject(raw)
			if c.Text("id") != "" && c.Text("tool") != "" {
				calls = append(calls,
					format.Call{ID: transcript.Fit(c.Text("id")),
						Tool: transcript.Fit(c.Text("tool"))})
			}
		}
	}
	if list, ok := o.Array("results"); ok {
		delete(rest, "results")
		for _, raw := range list {
			if s, _ := jsonvalue.Text(raw); s != "" {
				results = append(results, transcript.Fit(s))
			}
		}
	}
	return calls, results
}
