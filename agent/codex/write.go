package codex

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
)

// Writer writes messages as a rollout, oldest first. The same messages give the same bytes.
type Writer struct {
	out    *bufio.Writer
	o      transcript.WriteOptions
	d      *decoder
	begun  bool
	when   string
	open   []format.Call
	report transcript.Written
}

// NewWriter begins a rollout. Close ends it.
func NewWriter(w io.Writer, o transcript.WriteOptions) *Writer {
	wr := &Writer{out: bufio.NewWriterSize(w, 64<<10), o: o, d: newDecoder(), report: transcript.NewWritten()}
	wr.d.session = o.Session
	return wr
}

// Add writes the next message.
func (w *Writer) Add(it transcript.Item) error {
	m := &it.Message
	if len(m.Results) == 0 && !m.Note {
		w.answer()
	}
	w.when = transcript.Stamp(m.Time)
	kept := transcript.KeptIn(Agent, m)
	native := m.Origin.Agent == Agent && kept != nil && m.Gone == ""
	if !w.begun {
		w.begun = true
		if !native || kept.Text("type") != typeMeta {
			w.head()
		}
	}
	if native {
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

// head writes the record that says whose session it is, where no message is it.
func (w *Writer) head() {
	payload := transcript.Object{}
	payload.Set("id", w.o.Session)
	payload.Set("timestamp", w.when)
	payload.Set("cwd", w.o.Dir)
	payload.Set("originator", "ctx")
	payload.Set("cli_version", "0.0.0")
	payload.Set("source", "cli")
	payload.Set("instructions", nil)
	w.record(typeMeta, payload, transcript.Object{transcript.HintName: transcript.Encode(transcript.Hints{V: 1, Added: true, Home: w.o.Home})})
	w.o.Home = nil
}

// record writes a record. rest are the members of the envelope besides.
func (w *Writer) record(kind string, payload, rest transcript.Object) {
	rec := rest.Without()
	if rec["timestamp"] == nil {
		rec.Set("timestamp", w.when)
	}
	rec.Set("type", kind)
	rec["payload"] = payload.Ordered("type", "role", "id")
	w.line(rec.Ordered("timestamp", "type", "payload"))
}

func (w *Writer) line(raw json.RawMessage) {
	_, _ = w.out.Write(raw)
	_ = w.out.WriteByte('\n') // the first error is kept, and Close returns it
	w.report.Records++
}

// said writes a record with the hints with which it is read back as the message.
func (w *Writer) said(m *transcript.Message, rec transcript.Object, before []json.RawMessage, start transcript.Hints) {
	if start.Alone {
		rec.Set(transcript.HintName, start)
	}
	got := w.d.decode(rec, before)
	hints := transcript.Diff(m, &got)
	hints.Alone, hints.Home = start.Alone, w.o.Home
	w.o.Home = nil
	delete(rec, transcript.HintName)
	if !hints.Empty() {
		rec.Set(transcript.HintName, hints)
	}
	if rec.Has("payload") {
		rec["payload"] = rec.Object("payload").Ordered("type", "role", "id")
	}
	w.line(rec.Ordered("timestamp", "type", "payload"))
}

// native writes a message that Codex said as the record that it was.
func (w *Writer) native(m *transcript.Message, kept transcript.Object) {
	rec := kept.Without(keptBefore, "payload", "bare")
	list, _ := transcript.Elements(m.Parts)
	payload := kept.Object("payload").Without()
	kind := typeItem
	if s := kept.Text("type"); s != "" {
		kind = s
	}
	parts := list[:len(list)-1]
	switch kind {
	case typeItem:
		nativeItem(m, payload, parts)
	case typeMeta:
		payload.Set("id", w.o.Session)
		if w.o.Move {
			payload.Set("cwd", w.o.Dir)
		}
	case typeCompacted:
		if len(parts) > 0 {
			payload.Set("message", transcript.ReadPart(parts[0]).Text)
		}
	}
	if rec["timestamp"] == nil && !m.Time.IsZero() {
		rec.Set("timestamp", transcript.Stamp(m.Time))
	}
	if kept.True("bare") {
		when := rec["timestamp"]
		if rec = payload; when != nil {
			rec["timestamp"] = when
		}
	} else {
		rec.Set("type", kind)
		rec["payload"] = transcript.Encode(payload)
	}
	before, _ := kept.Array(keptBefore)
	for _, raw := range before {
		o := object(raw)
		if o.Text("type") == "" {
			continue // the head of a rollout without envelopes: this one has its own
		}
		w.d.see(o)
		if o.Text("type") == typeEvent && o.Object("payload").Text("type") == "thread_rolled_back" {
			// What was rolled back is not there: it must not be taken back twice.
			o.Set(transcript.HintName, transcript.Hints{V: 1, Added: true})
			raw = transcript.Encode(o)
		}
		w.line(raw)
	}
	w.said(m, rec, w.readable(before), transcript.Hints{V: 1})
	w.copyFor(m)
}

// readable are those of some records that a reader would keep.
func (w *Writer) readable(before []json.RawMessage) []json.RawMessage {
	return slices.DeleteFunc(slices.Clone(before), func(raw json.RawMessage) bool {
		o := object(raw)
		return o.Text("type") == typeEvent && o.Object("payload").Text("type") == "thread_rolled_back" ||
			o.Text("type") == "" // of a rollout without envelopes
	})
}

func nativeItem(m *transcript.Message, payload transcript.Object, parts []json.RawMessage) {
	kind := payload.Text("type")
	if kind == "" {
		kind = itemMessage
		if len(parts) > 0 {
			switch transcript.ReadPart(parts[0]).Kind {
			case transcript.PartCall:
				kind = itemCall
			case transcript.PartResult:
				kind = itemOutput
			}
		}
		payload.Set("type", kind)
	}
	switch kind {
	case itemMessage:
		if payload["role"] == nil {
			payload.Set("role", "user")
			if m.Role == transcript.RoleModel {
				payload.Set("role", "assistant")
			}
		}
		if payload["content"] == nil {
			payload["content"] = contentOf(payload.Text("role"), parts)
		}
	case itemReasoning:
		if payload["summary"] == nil {
			var list []json.RawMessage
			for _, raw := range parts {
				list = append(list, summaryText(transcript.ReadPart(raw).Text))
			}
			payload["summary"] = transcript.Array(list)
		}
	case itemCall, itemCustom, itemLocalShell:
		if len(parts) > 0 {
			callInto(transcript.ReadPart(parts[0]), kind, payload)
		}
	case itemOutput, itemCustomOut:
		if len(parts) > 0 {
			outputInto(transcript.ReadPart(parts[0]), payload)
		}
	}
}

func contentOf(role string, parts []json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	for _, p := range transcript.ReadParts(parts) {
		if piece, ok := pieceOf(p, role); ok {
			list = append(list, piece)
		}
	}
	return transcript.Array(list)
}

// pieceOf is a part as a piece of content; ok is false where it has no form.
func pieceOf(p transcript.Part, role string) (json.RawMessage, bool) {
	kept := p.Body.Object(Agent)
	out := kept.Without()
	switch p.Kind {
	case transcript.PartText:
		if out["type"] == nil {
			out.Set("type", "input_text")
			if role == "assistant" {
				out.Set("type", "output_text")
			}
		}
		out.Set("text", p.Text)
	case transcript.PartMedia:
		out.Set("type", "input_image")
		out.Set("image_url", p.URI)
		if p.URI == "" {
			out.Set("image_url", "data:"+p.Mime+";base64,"+p.Data)
		}
	case transcript.PartHidden:
		return kept["content"], kept.Has("content")
	default:
		return nil, false
	}
	return transcript.Encode(out), true
}

func callInto(p transcript.Part, kind string, payload transcript.Object) {
	payload.Set("call_id", p.ID)
	if payload["name"] == nil && kind != itemLocalShell && !(p.Tool == "unknown" && payload.Has("type")) {
		payload.Set("name", p.Tool)
	}
	args := object(p.Args)
	switch kind {
	case itemCall:
		if kept := p.Body.Object(Agent); kept["arguments"] != nil {
			payload["arguments"] = kept["arguments"]
		} else if payload["arguments"] == nil {
			payload.Set("arguments", string(p.Args))
		}
	case itemCustom:
		if payload["input"] == nil {
			payload["input"] = args["input"]
		}
	case itemLocalShell:
		if payload["action"] == nil {
			payload["action"] = p.Args
		}
	}
}

func outputInto(p transcript.Part, payload transcript.Object) {
	payload.Set("call_id", p.ID)
	if kept := p.Body.Object(Agent); kept["output"] != nil {
		payload["output"] = kept["output"]
	} else if payload["output"] == nil {
		text, _ := p.Said()
		payload.Set("output", text)
	}
}

// foreign writes a message of another origin: as several records where it is several things for Codex. The first says all of it.
func (w *Writer) foreign(it *transcript.Item) {
	m := &it.Message
	var items []transcript.Object
	switch {
	case m.Note:
		items = append(items, textItem("developer", transcript.WordsOr(&it.Message)))
	case m.Gone != "":
		w.report.Changed["forgotten"]++
		items = append(items, textItem(roleOf(m), transcript.GoneText))
	case it.Orphan:
		w.report.Changed["results without a call"]++
		items = append(items, textItem("user", transcript.WordsOr(&it.Message)))
	default:
		items = w.items(m)
	}
	for i, payload := range items {
		rec := transcript.Object{}
		rec.Set("timestamp", w.when)
		rec.Set("type", typeItem)
		rec["payload"] = transcript.Encode(payload)
		if i == 0 {
			w.said(m, rec, nil, transcript.Hints{V: 1, Alone: true})
			continue
		}
		rec.Set(transcript.HintName, transcript.Hints{V: 1, Added: true})
		rec["payload"] = payload.Ordered("type", "role", "id")
		w.line(rec.Ordered("timestamp", "type", "payload"))
	}
	w.copyFor(m)
}

func roleOf(m *transcript.Message) string {
	switch m.Role {
	case transcript.RoleModel:
		return "assistant"
	case transcript.RoleSystem:
		return "developer"
	}
	return "user"
}

func textItem(role, text string) transcript.Object {
	p := transcript.Object{}
	p.Set("type", itemMessage)
	p.Set("role", role)
	p["content"] = contentOf(role, []json.RawMessage{transcript.TextPart(text, nil)})
	return p
}

// items are the response items of a message of another origin.
func (w *Writer) items(m *transcript.Message) (items []transcript.Object) {
	role := roleOf(m)
	var run []json.RawMessage
	flush := func() {
		if len(run) > 0 {
			p := transcript.Object{}
			p.Set("type", itemMessage)
			p.Set("role", role)
			p["content"] = transcript.Array(run)
			items, run = append(items, p), nil
		}
	}
	for _, part := range transcript.PartsOf(m) {
		switch part.Kind {
		case transcript.PartCall:
			flush()
			p := transcript.Object{}
			p.Set("type", itemCall)
			callInto(part, itemCall, p)
			items = append(items, p)
		case transcript.PartResult:
			flush()
			p := transcript.Object{}
			p.Set("type", itemOutput)
			outputInto(part, p)
			items = append(items, p)
		default:
			piece, ok := pieceOf(part, role)
			switch {
			case ok:
				run = append(run, piece)
			case part.Kind == transcript.PartOther:
				w.report.Changed["parts without a form"]++
			case part.Body.Has("text"):
				w.report.Changed["thoughts of other models"]++
			}
		}
	}
	flush()
	if len(items) == 0 {
		items = append(items, textItem(role, transcript.EmptyText))
	}
	return items
}

// copyFor writes the event that Codex lists and shows a message by.
func (w *Writer) copyFor(m *transcript.Message) {
	kind := ""
	switch {
	case m.Note || m.Gone != "":
	case m.Role == transcript.RoleUser:
		kind = "user_message"
	case m.Role == transcript.RoleModel:
		kind = "agent_message"
	}
	var said []string
	for _, p := range transcript.PartsOf(m) {
		if p.Kind == transcript.PartText && p.Text != "" {
			said = append(said, p.Text)
		}
	}
	if kind == "" || len(said) == 0 {
		return
	}
	p := transcript.Object{}
	p.Set("type", kind)
	p.Set("message", strings.Join(said, "\n"))
	w.record(typeEvent, p, nil)
}

// answer has every open call answered: the API takes no call without a result.
func (w *Writer) answer() {
	for _, c := range w.open {
		p := transcript.Object{}
		p.Set("type", itemOutput)
		p.Set("call_id", c.ID)
		p.Set("output", transcript.NoResult)
		w.record(typeItem, p, transcript.Object{transcript.HintName: transcript.Encode(transcript.Hints{V: 1, Added: true})})
		w.report.Changed["calls answered with an error"]++
	}
	w.open = nil
}

// Close writes what is left, and returns what was written, or the first error that writing met.
func (w *Writer) Close() (transcript.Written, error) {
	w.answer()
	return w.report, w.out.Flush()
}
