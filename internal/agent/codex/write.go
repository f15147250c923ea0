package codex

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// writer is the codec of rollouts.
type writer struct {
	*transcript.Output
	d *decoder
}

// NewWriter begins a rollout.
func NewWriter(w io.Writer, o transcript.WriteOptions) transcript.Writer {
	return transcript.NewWriter(w, o, func(out *transcript.Output) transcript.Codec {
		d := newDecoder()
		d.session = o.Session
		return &writer{Output: out, d: d}
	})
}

// Begin writes the record that names the session, unless the first message is that record, and then
// what stands for the conversation before the first message.
func (w *writer) Begin(first *transcript.Item) {
	if first == nil {
		return
	}
	if namesSession(&first.Message) {
		return
	}
	w.record(typeMeta, w.AddedHere(), jsonvalue.NewObject(
		"id", w.Session, "timestamp", w.When, "cwd", w.Dir, "originator",
		"ctx", "cli_version", "0.0.0", "source", "cli", "instructions", nil))
	if w.Before != "" {
		w.record(typeItem, transcript.Added(), textItem("user", w.Before))
		w.record(typeEvent, nil,
			jsonvalue.NewObject("type", "user_message", "message", w.Before))
	}
}

// namesSession reports whether a message is the record that names a session.
func namesSession(m *transcript.Message) bool {
	_, kept, native := transcript.Native(Agent, m)
	return native && kept.Text("type") == typeMeta
}

// Message writes a message as a record, or as several. A fork has the record that names its session
// after what it shares with the origin: one such record is enough.
func (w *writer) Message(it *transcript.Item) bool {
	m := &it.Message
	if namesSession(m) && w.Report.Notes+w.Report.Messages > 0 {
		w.Report.Left["records that name a fork"]++
		return false
	}
	if said, kept, native := transcript.Native(Agent, m); native && kept.Text("type") != typeEvent {
		w.native(m, said, kept)
	} else {
		w.foreign(it)
	}
	w.copyFor(m)
	return true
}

// record writes a record. hints may be nil.
func (w *writer) record(kind string, hints any, payload jsonvalue.Object) {
	rec := jsonvalue.NewObject("timestamp", w.When, "type", kind, "payload", payload)
	if hints != nil {
		rec.Set(transcript.HintName, hints)
	}
	w.print(rec)
}

func (w *writer) print(rec jsonvalue.Object) {
	if rec.Has("payload") {
		rec["payload"] = rec.Object("payload").Ordered("type", "role", "id")
	}
	w.Record(rec.Ordered("timestamp", "type", "payload"))
}

// said writes a record with the hints with which it is read back as the message.
func (w *writer) said(
	m *transcript.Message, rec jsonvalue.Object, before []json.RawMessage, made bool,
) {
	w.Hint(rec, m, made,
		func(rec jsonvalue.Object) transcript.Message { return w.d.decode(rec, before) })
	w.print(rec)
}

// native writes a message of Codex as its original record.
func (w *writer) native(
	m *transcript.Message, parts []json.RawMessage, kept jsonvalue.Object,
) {
	rec := kept.Without(transcript.BeforeName, "payload", "bare")
	payload := kept.Object("payload").Without()
	kind := cmp.Or(kept.Text("type"), typeItem)
	switch kind {
	case typeItem:
		nativeItem(m, payload, parts)
	case typeMeta:
		payload.Set("id", w.Session)
		// In a paginated rollout each line has its number, and each message a copy of another form.
		// Codex goes on with a rollout of the older form as well.
		delete(payload, "history_mode")
		if w.Move {
			payload.Set("cwd", w.Dir)
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
		rec["payload"] = jsonvalue.Encode(payload)
	}
	before, _ := kept.Array(transcript.BeforeName)
	for _, raw := range before {
		o := jsonvalue.AsObject(raw)
		if o.Text("type") == "" {
			continue // the head of a rollout without envelopes: Begin wrote another one
		}
		w.d.see(o)
		if o.Text("type") == typeEvent && o.Object("payload").Text("type") == "thread_rolled_back" {
			// The turns that it rolled back are not written: it must not roll back others.
			o.Set(transcript.HintName, transcript.Added())
			raw = jsonvalue.Encode(o)
		}
		w.Record(raw)
	}
	w.said(m, rec, w.readable(before), false)
}

// readable returns the records that a reader would keep.
func (w *writer) readable(before []json.RawMessage) []json.RawMessage {
	return slices.DeleteFunc(slices.Clone(before), func(raw json.RawMessage) bool {
		o := jsonvalue.AsObject(raw)
		return o.Text("type") == typeEvent &&
			o.Object("payload").Text("type") == "thread_rolled_back" ||
			o.Text("type") == "" // of a rollout without envelopes
	})
}

func nativeItem(m *transcript.Message, payload jsonvalue.Object, parts []json.RawMessage) {
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
	case itemAgentMessage:
		if payload["content"] == nil {
			payload["content"] = contentOf("user", parts)
		}
	case itemWebSearch, itemToolSearch:
		if len(parts) > 0 {
			action := payload.Object(searchIn(kind)).Without()
			action.Set(searchedMember(action), transcript.ReadPart(parts[0]).Text)
			payload[searchIn(kind)] = jsonvalue.Encode(action)
		}
	case itemReasoning:
		if payload["summary"] == nil {
			list := lists.Map(parts, func(raw json.RawMessage) json.RawMessage {
				return summaryText(transcript.ReadPart(raw).Text)
			})
			payload["summary"] = jsonvalue.Array(list)
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
	for _, p := range transcript.ReadParts(transcript.Joined(Agent, parts)) {
		if piece, ok := pieceOf(p, role); ok {
			list = append(list, piece)
		}
	}
	return jsonvalue.Array(list)
}

// pieceOf returns a part as a piece of content; ok is false if Codex has no form for it.
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
	return jsonvalue.Encode(out), true
}

func callInto(p transcript.Part, kind string, payload jsonvalue.Object) {
	payload.Set("call_id", p.ID)
	if payload["name"] == nil && kind != itemLocalShell &&
		!(p.Tool == "unknown" && payload.Has("type")) {
		payload.Set("name", p.Tool)
	}
	args := jsonvalue.AsObject(p.Args)
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

func outputInto(p transcript.Part, payload jsonvalue.Object) {
	payload.Set("call_id", p.ID)
	if kept := p.Body.Object(Agent); kept["output"] != nil {
		payload["output"] = kept["output"]
	} else if payload["output"] == nil {
		text, _ := p.Said()
		payload.Set("output", text)
	}
}

// foreign writes a message of another origin, as one record or several. The first one has the hints
// for the whole message.
func (w *writer) foreign(it *transcript.Item) {
	m := &it.Message
	var items []jsonvalue.Object
	if m.Note {
		items = append(items, textItem("developer", transcript.WordsOr(m)))
	} else if text, ok := w.StandIn(it); ok && m.Gone != "" {
		items = append(items, textItem(roleOf(m), text))
	} else if ok {
		items = append(items, textItem("user", text))
	} else {
		items = w.items(m)
	}
	w.said(m, jsonvalue.NewObject("timestamp", w.When, "type", typeItem, "payload", items[0]), nil,
		true)
	for _, payload := range items[1:] {
		w.record(typeItem, transcript.Added(), payload)
	}
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

func messageItem(role string, content json.RawMessage) jsonvalue.Object {
	return jsonvalue.NewObject("type", itemMessage, "role", role, "content", content)
}

func textItem(role, text string) jsonvalue.Object {
	return messageItem(role, contentOf(role, []json.RawMessage{transcript.TextPart(text, nil)}))
}

// items returns the response items of a message of another origin.
func (w *writer) items(m *transcript.Message) (items []jsonvalue.Object) {
	role := roleOf(m)
	var run []json.RawMessage
	flush := func() {
		if len(run) > 0 {
			items, run = append(items, messageItem(role, jsonvalue.Array(run))), nil
		}
	}
	for _, part := range transcript.PartsOf(m) {
		switch part.Kind {
		case transcript.PartCall:
			flush()
			p := jsonvalue.NewObject("type", itemCall)
			callInto(part, itemCall, p)
			items = append(items, p)
		case transcript.PartResult:
			flush()
			p := jsonvalue.NewObject("type", itemOutput)
			outputInto(part, p)
			items = append(items, p)
		default:
			if piece, ok := pieceOf(part, role); ok {
				run = append(run, piece)
			} else {
				w.Lose(part)
			}
		}
	}
	flush()
	if len(items) == 0 {
		items = append(items, textItem(role, transcript.EmptyText))
	}
	return items
}

// copyFor writes the event with the text of a message, from which Codex lists and shows messages.
func (w *writer) copyFor(m *transcript.Message) {
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
	w.record(typeEvent, nil,
		jsonvalue.NewObject("type", kind, "message", strings.Join(said, "\n")))
}

// Answer writes an error as the result of each call.
func (w *writer) Answer(open []format.Call) {
	for _, c := range open {
		w.record(typeItem, transcript.Added(),
			jsonvalue.NewObject("type", itemOutput, "call_id", c.ID, "output", transcript.NoResult))
	}
}
