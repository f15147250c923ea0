package claudecode

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
)

// Writer writes messages as a transcript, oldest first. The same messages give the same bytes.
type Writer struct {
	out    *bufio.Writer
	o      transcript.WriteOptions
	d      *decoder
	seen   map[string]bool
	last   string // the record of the message before
	prev   string // the record before, stand-ins included
	open   []format.Call
	when   string
	report transcript.Written
}

// NewWriter begins a transcript. Close ends it.
func NewWriter(w io.Writer, o transcript.WriteOptions) *Writer {
	return &Writer{out: bufio.NewWriterSize(w, 64<<10), o: o, d: newDecoder(), seen: map[string]bool{}, report: transcript.NewWritten()}
}

// Add writes the next message.
func (w *Writer) Add(it transcript.Item) error {
	m := &it.Message
	if len(m.Results) == 0 && !m.Note {
		w.answer()
	}
	w.when = transcript.Stamp(m.Time)
	kept := transcript.KeptIn(Agent, m)
	if m.Origin.Agent == Agent && kept != nil && m.Gone == "" {
		w.native(m, kept)
	} else {
		w.foreign(&it)
	}
	for _, c := range m.Calls {
		if slices.Contains(it.Open, c.ID) {
			w.open = append(w.open, c)
		}
	}
	w.report.Count(m)
	return nil
}

// native writes a message that Claude Code said as the record that it was.
func (w *Writer) native(m *transcript.Message, kept transcript.Object) {
	rec := kept.Without("listed", "untimed", keptBefore, "parentUuid", "message", "type")
	list, _ := transcript.Elements(m.Parts)
	kind := kindUser
	if m.Role == transcript.RoleModel {
		kind = kindAssistant
	}
	if s, ok := transcript.Text(kept["type"]); ok {
		kind = s
	}
	rec.Set("type", kind)
	switch kind {
	case kindUser, kindAssistant:
		rec["message"] = w.inner(m, kept, list[:len(list)-1])
	case kindQueue, kindAttachment:
		prompt(kind, kept, list[:len(list)-1], rec)
	default:
		if kept.Has("message") {
			rec["message"] = kept["message"]
		}
		for _, raw := range list[:len(list)-1] {
			p := transcript.ReadPart(raw)
			if member := p.Body.Object(Agent).Text("member"); member != "" {
				rec.Set(member, p.Text)
			}
		}
	}
	if rec["timestamp"] == nil && !m.Time.IsZero() && !kept.True("untimed") {
		rec.Set("timestamp", transcript.Stamp(m.Time))
	}
	if strings.HasPrefix(m.Origin.Message, summaryID) || strings.HasPrefix(m.Origin.Message, queuedID) {
		w.unnamed(m, rec, kept)
		return
	}
	up := w.prev
	if m.Note || m.Role == transcript.RoleTool {
		switch s, ok := transcript.Text(kept["parentUuid"]); {
		case ok && w.seen[s]:
			up = s
		case string(kept["parentUuid"]) == "null":
			up = ""
		}
	}
	before, _ := kept.Array(keptBefore)
	for _, raw := range before {
		w.line(raw)
	}
	w.record(m, rec, m.Origin.Message, up, before, transcript.Hints{V: 1})
}

// unnamed writes a record that has no id, and no place in the tree.
func (w *Writer) unnamed(m *transcript.Message, rec, kept transcript.Object) {
	before, _ := kept.Array(keptBefore)
	for _, raw := range before {
		w.line(raw)
	}
	got := w.d.decode(withID(rec, unnamedID(rec), w.o.Session), nil, before)
	if kept.True("untimed") {
		got.Time = m.Time // a reader takes it from the records around
	}
	hints := transcript.Diff(m, &got)
	w.hint(rec, hints)
	if rec.Text("type") == kindQueue {
		rec.Set("sessionId", w.o.Session)
		if hints.Empty() && rec[transcript.HintName] == nil {
			rec.Set(transcript.HintName, transcript.Hints{V: 1}) // it was said, whatever becomes of the queue
		}
	}
	w.write(rec)
}

// prompt gives the record of a prompt that was queued its words back.
func prompt(kind string, kept transcript.Object, parts []json.RawMessage, rec transcript.Object) {
	to, member, listed := rec, "content", kept.True("listed")
	if kind == kindAttachment {
		if to = kept.Object(kindAttachment); to == nil {
			return
		}
		member, listed = "prompt", to.True("listed")
		delete(to, "listed")
		defer func() { rec[kindAttachment] = transcript.Encode(to) }()
	}
	if listed {
		var blocks []json.RawMessage
		for _, p := range transcript.ReadParts(parts) {
			if block, ok := blockOf(p); ok {
				blocks = append(blocks, block)
			}
		}
		to[member] = transcript.Array(blocks)
	} else if len(parts) > 0 {
		to.Set(member, transcript.ReadPart(parts[0]).Text)
	}
}

// hint adds to a record what does not follow from it.
func (w *Writer) hint(rec transcript.Object, hints transcript.Hints) {
	if w.o.Home != nil && w.report.Messages+w.report.Notes == 0 {
		hints.Home = w.o.Home
	}
	delete(rec, transcript.HintName)
	if !hints.Empty() {
		rec.Set(transcript.HintName, hints)
	}
}

// inner is the message of a record: what was said, and what was kept of it.
func (w *Writer) inner(m *transcript.Message, kept transcript.Object, parts []json.RawMessage) json.RawMessage {
	inner := kept.Object("message").Without()
	if inner["role"] == nil {
		inner.Set("role", kindUser)
		if m.Role == transcript.RoleModel || kept.Text("type") == kindAssistant {
			inner.Set("role", kindAssistant)
		}
	} else if string(inner["role"]) == "null" {
		delete(inner, "role")
	}
	if m.Role == transcript.RoleModel && m.Author != "" {
		inner.Set("model", m.Author)
	}
	if string(inner["content"]) == "null" {
		delete(inner, "content")
	} else if inner["content"] == nil {
		inner["content"] = w.content(m.Role == transcript.RoleModel, kept["listed"], parts)
	}
	return transcript.Encode(inner)
}

// content is what was said: a string where a person said it in one text, else blocks. listed says otherwise.
func (w *Writer) content(model bool, listed json.RawMessage, parts []json.RawMessage) json.RawMessage {
	asText := !model
	if listed != nil {
		asText = string(listed) == "false"
	}
	if asText && len(parts) == 1 && plain(parts[0]) {
		return transcript.Encode(transcript.ReadPart(parts[0]).Text)
	}
	var blocks []json.RawMessage
	for _, p := range transcript.ReadParts(parts) {
		if block, ok := blockOf(p); ok {
			blocks = append(blocks, block)
		}
	}
	return transcript.Array(blocks)
}

// foreign writes a message of another origin.
func (w *Writer) foreign(it *transcript.Item) {
	m := &it.Message
	id := m.Origin.Message
	if m.Origin.Agent != Agent || !transcript.IsUUID(id) {
		id = transcript.UUID(Agent, m.Origin.Agent, m.Origin.Session, m.Origin.Message)
	}
	rec := transcript.Object{
		"isSidechain": json.RawMessage("false"), "userType": transcript.Encode("external"), "cwd": transcript.Encode(w.o.Dir),
		"timestamp": transcript.Encode(w.when),
	}
	switch {
	case m.Note:
		rec.Set("type", kindSystem)
		rec.Set("subtype", "informational")
		rec.Set("level", "info")
		rec.Set("content", transcript.WordsOr(&it.Message))
	case m.Role == transcript.RoleModel:
		rec.Set("type", kindAssistant)
		rec["message"] = w.answerOf(it, id)
	default:
		rec.Set("type", kindUser)
		rec["message"] = transcript.Encode(transcript.Object{"role": transcript.Encode(kindUser), "content": w.blocks(it)})
	}
	w.record(m, rec, id, w.prev, nil, transcript.Hints{V: 1, Alone: true})
}

func (w *Writer) answerOf(it *transcript.Item, id string) json.RawMessage {
	model := it.Author
	if model == "" {
		model = "unknown"
	}
	return transcript.Encode(transcript.Object{
		"id": transcript.Encode("msg_" + transcript.Derive(24, id)), "type": transcript.Encode("message"), "role": transcript.Encode(kindAssistant),
		"model": transcript.Encode(model), "content": w.blocks(it), "stop_reason": json.RawMessage("null"), "stop_sequence": json.RawMessage("null"),
		"usage": transcript.Encode(map[string]uint64{"input_tokens": 0, "output_tokens": it.Tokens}),
	})
}

// blocks is the content of a message of another origin.
func (w *Writer) blocks(it *transcript.Item) json.RawMessage {
	m := &it.Message
	if m.Gone != "" {
		w.report.Changed["forgotten"]++
		return transcript.Encode(transcript.GoneText)
	}
	if it.Orphan {
		w.report.Changed["results without a call"]++
		return transcript.Encode(transcript.WordsOr(&it.Message))
	}
	if m.Parts == nil && len(m.Calls)+len(m.Results) == 0 && m.Role != transcript.RoleModel && m.Text != "" {
		return transcript.Encode(m.Text)
	}
	var list []json.RawMessage
	for _, p := range transcript.PartsOf(m) {
		if p.Kind == transcript.PartText && p.Text == "" {
			continue // the API takes no empty text
		}
		block, ok := blockOf(p)
		switch {
		case ok:
			list = append(list, block)
		case p.Kind == transcript.PartOther:
			w.report.Changed["parts without a form"]++
		case p.Body.Has("text"):
			w.report.Changed["thoughts of other models"]++
		}
	}
	if len(list) == 0 {
		return transcript.Encode(transcript.EmptyText)
	}
	return transcript.Array(list)
}

// record writes a record with the hints with which it is read back as the message.
func (w *Writer) record(m *transcript.Message, rec transcript.Object, id, up string, before []json.RawMessage, start transcript.Hints) {
	rec.Set("uuid", id)
	rec.Set("sessionId", w.o.Session)
	rec["parentUuid"] = json.RawMessage("null")
	if up != "" {
		rec.Set("parentUuid", up)
	}
	var parent json.RawMessage
	switch up {
	case w.prev, w.last:
	case "":
		parent = json.RawMessage("null")
	default:
		parent = transcript.Encode(up)
	}
	if start.Alone {
		rec.Set(transcript.HintName, start)
	}
	got := w.d.decode(rec, parent, before)
	hints := transcript.Diff(m, &got)
	hints.Alone = start.Alone
	w.hint(rec, hints)
	w.write(rec)
	w.seen[id], w.last, w.prev = true, id, id
}

// answer has every open call answered: the API takes no call without a result.
func (w *Writer) answer() {
	if len(w.open) == 0 {
		return
	}
	var list []json.RawMessage
	for _, c := range w.open {
		list = append(list, transcript.Encode(transcript.Object{
			"type": transcript.Encode("tool_result"), "tool_use_id": transcript.Encode(wire(c.ID)), "content": transcript.Encode(transcript.NoResult),
			"is_error": json.RawMessage("true"),
		}))
	}
	w.report.Changed["calls answered with an error"] += len(w.open)
	w.open = nil
	id := transcript.UUID(Agent, "stand-in", w.last)
	rec := transcript.Object{
		"type": transcript.Encode(kindUser), "uuid": transcript.Encode(id), "parentUuid": transcript.Encode(w.prev), "sessionId": transcript.Encode(w.o.Session),
		"isSidechain": json.RawMessage("false"), "userType": transcript.Encode("external"), "cwd": transcript.Encode(w.o.Dir),
		"timestamp": transcript.Encode(w.when), transcript.HintName: transcript.Encode(transcript.Hints{V: 1, Added: true}),
		"message": transcript.Encode(transcript.Object{"role": transcript.Encode(kindUser), "content": transcript.Array(list)}),
	}
	w.write(rec)
	w.prev = id
}

func (w *Writer) write(rec transcript.Object) {
	w.line(rec.Ordered("parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "type", "message", "uuid", "timestamp"))
	w.report.Records++
}

func (w *Writer) line(raw json.RawMessage) {
	_, _ = w.out.Write(raw)
	_ = w.out.WriteByte('\n') // the first error is kept, and Close returns it
}

// Close writes what is left, and returns what was written, or the first error that writing met.
func (w *Writer) Close() (transcript.Written, error) {
	w.answer()
	return w.report, w.out.Flush()
}
