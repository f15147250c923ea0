package adk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// event is an event taken apart.
type event struct {
	origin     transcript.Origin
	invocation string
	time       time.Time
	rewind     string // the invocation to rewind to; "" for none
	messages   []transcript.Message
}

// decode makes messages of an event.
func (d *reader) decode(o jsonvalue.Object) event {
	h, own := hintsOf(o)
	e := &decoder{reader: d, in: o, hints: h, own: own, rest: jsonvalue.Object{}}
	e.identify()
	e.fields()
	e.m.Tokens = e.tokens
	out := event{origin: e.m.Origin, invocation: e.invocation, time: e.m.Time, rewind: e.rewind}
	switch {
	case h.Gone != "":
		d.stats.Pass(passedStandIn)
	case own && len(h.Of)+len(h.Stand) > 0:
		out.messages = e.segments()
	case own:
		out.messages = []transcript.Message{e.message(&h.Hints, e.parts)}
	case e.rewind == "" || e.says():
		out.messages = []transcript.Message{e.foreign()}
	}
	return out
}

func hintsOf(o jsonvalue.Object) (hints, bool) {
	return readHints(o.Object("customMetadata")[ownMetadata])
}

// decoder takes one event apart.
type decoder struct {
	*reader
	in    jsonvalue.Object
	hints hints
	own   bool // ctx wrote the event

	m          transcript.Message // the fields that all messages of the event share
	invocation string
	author     string
	rewind     string
	rest       jsonvalue.Object  // the fields that are kept with the message
	content    jsonvalue.Object  // nil if there is none, or it cannot be read
	parts      []json.RawMessage // of content
	role       string            // of content
	badTime    bool
	below      string
	tokens     uint64
}

// identify reads the id, invocation, author and time of an event.
func (e *decoder) identify() {
	id := e.in.Text("id")
	if id == "" {
		id = e.deriveID()
	}
	e.m.Origin = transcript.Origin{Agent: Agent, Session: transcript.Fit(e.stats.Session),
		Message: transcript.Fit(id)}
	e.invocation, e.author = e.in.Text("invocationId"), e.in.Text("author")
	if raw := get(e.in, "timestamp"); raw != nil {
		t, below, ok := parseStamp(raw, e.unit)
		if e.m.Time, e.below = t, below; !ok {
			e.badTime = true
			e.stats.Odd++
		}
	}
}

// deriveID names an event without an id by a digest of its fields, and numbers equal ones.
func (e *decoder) deriveID() string {
	h := sha256.New()
	for _, name := range []string{"author", "invocationId", "timestamp", "content", "actions"} {
		_, _ = h.Write(append(transcript.Normal(e.in[name]), '\n'))
	}
	base := "derived:" + hex.EncodeToString(h.Sum(nil)[:8])
	return e.derived.Next(base)
}

// fields collects the fields that a message has no field for.
func (e *decoder) fields() {
	odd := false
	for _, name := range slices.Sorted(maps.Keys(e.in)) {
		value := e.in[name]
		switch {
		case string(value) == "null":
			continue
		case !isField(name):
			e.keep(name)
		case fits(name, value):
			value = e.left(name, value)
		default:
			if odd = true; name == "timestamp" {
				value = e.left(name, value)
			}
		}
		if value != nil {
			e.rest[name] = value
		}
	}
	if e.below != "" {
		e.rest.Set("belowMillisecond", e.below)
	}
	if odd {
		e.stats.Odd++
	}
}

// left returns the part of a known field that the message does not say; nil for nothing.
func (e *decoder) left(name string, value json.RawMessage) json.RawMessage {
	switch name {
	case "id", "invocationId":
		if s, _ := jsonvalue.Text(value); s != transcript.Fit(s) {
			return value
		}
		return nil
	case "author":
		if s, _ := jsonvalue.Text(value); !e.own && s != transcript.Fit(s) {
			return value
		}
		return nil
	case "timestamp":
		if e.badTime {
			return value
		}
		return nil
	case "content":
		return e.readContent(value)
	case "actions":
		return e.readActions(value)
	case "usageMetadata":
		return e.readUsage(value)
	case "customMetadata":
		o := jsonvalue.AsObject(value)
		if e.own {
			o = o.Without(ownMetadata, "model")
		}
		value = jsonvalue.Encode(o)
	case "branch":
		if string(value) == `""` {
			return nil
		}
	case "partial":
		if string(value) == "false" {
			return nil
		}
	}
	if isEmpty(value) {
		return nil
	}
	return value
}

// readContent reads the parts and, if it follows from the rest of the event, the role. It returns
// the other members, or nil.
func (e *decoder) readContent(value json.RawMessage) json.RawMessage {
	content := jsonvalue.AsObject(value)
	list, ok := content.Array("parts")
	for _, p := range list {
		_, err := message.ParsePart(p)
		ok = ok && jsonvalue.AsObject(p) != nil && err == nil
	}
	if !ok || len(list) == 0 {
		if content.Has("parts") && !ok {
			e.stats.Odd++
		}
		return value
	}
	e.content, e.parts, e.role = content, list, content.Text("role")
	rest := content.Without("parts")
	if !content.Has("role") || e.role == contentRole(e.derivedRole()) || e.own {
		delete(rest, "role")
	}
	if len(rest) == 0 {
		return nil
	}
	return jsonvalue.Encode(rest)
}

// readActions reads a rewind. It returns the other actions that are not empty, or nil.
func (e *decoder) readActions(value json.RawMessage) json.RawMessage {
	const to = "rewindBeforeInvocationId"
	rest := jsonvalue.AsObject(value).Without()
	if invocation := rest.Text(to); invocation != "" {
		if _, known := e.begun[invocation]; known {
			e.rewind = invocation
			delete(rest, to)
		} else {
			e.stats.Unknown++
		}
	}
	maps.DeleteFunc(rest, func(_ string, v json.RawMessage) bool { return isEmpty(v) })
	if len(rest) == 0 {
		return nil
	}
	return rest.Ordered(actionNames()...)
}

func (e *decoder) readUsage(value json.RawMessage) json.RawMessage {
	usage := jsonvalue.AsObject(value)
	n, err := strconv.ParseUint(string(usage["candidatesTokenCount"]), 10, 63)
	if err != nil {
		return value
	}
	e.tokens = n
	if n > 0 && len(usage) == 1 {
		return nil
	}
	return value
}

// derivedRole returns the role that follows from the parts and the author of an event.
func (e *decoder) derivedRole() string {
	calls, results := false, false
	for _, p := range e.parts {
		said := readPart(p)
		calls, results = calls || said.Call != nil, results || said.Result != nil
	}
	switch {
	case results && !calls:
		return transcript.RoleTool
	case e.author == transcript.RoleUser, e.role == transcript.RoleUser:
		return transcript.RoleUser
	}
	return transcript.RoleModel
}

// contentRole returns the role that ADK gives the content of a message with a role.
func contentRole(role string) string {
	if role == transcript.RoleModel {
		return transcript.RoleModel
	}
	return transcript.RoleUser
}

// says reports whether an event has anything besides a rewind.
func (e *decoder) says() bool { return e.content != nil || len(e.rest) > 0 }

// foreign returns the message of an event that ctx did not write.
func (e *decoder) foreign() transcript.Message {
	m := e.m
	m.Invocation = transcript.Fit(e.invocation)
	if e.author != transcript.RoleUser {
		m.Author = transcript.Fit(e.author)
	}
	m.Role, m.Note = e.derivedRole(), isConsent(e.parts)
	if e.content == nil {
		m.Role, m.Note = transcript.RoleSystem, true
	}
	setParts(&m, e.parts, e.rest)
	return m
}

// isConsent reports whether parts are a question of the runtime to the person, or the answer. No
// model sees these.
func isConsent(parts []json.RawMessage) bool {
	found := false
	for _, raw := range parts {
		p := readPart(raw)
		var tools []string
		if p.Call != nil {
			tools = append(tools, p.Call.Name)
		}
		if p.Result != nil {
			tools = append(tools, p.Result.Name)
		}
		for _, tool := range tools {
			if tool != "adk_request_credential" && tool != "adk_request_confirmation" {
				return false
			}
			found = true
		}
	}
	return found
}

// message returns a message that ctx wrote.
func (e *decoder) message(h *transcript.Hints, parts []json.RawMessage) transcript.Message {
	m := e.m
	m.Origin.Agent, m.Role = transcript.Own, e.derivedRole()
	if m.Role == transcript.RoleModel {
		m.Author = transcript.Fit(e.in.Object("customMetadata").Text("model"))
	}
	setParts(&m, parts, nil)
	h.Apply(&m)
	if len(e.rest) > 0 {
		said, _ := jsonvalue.Elements(m.Parts)
		if m.Parts == nil {
			said = []json.RawMessage{transcript.TextPart(m.Text, nil)}
		}
		m.Text, m.Parts = "", jsonvalue.Array(append(said, carried(e.rest)))
	}
	return m
}

// segments returns the messages of an event that has the results of several.
func (e *decoder) segments() (list []transcript.Message) {
	e.stats.PassN(passedStandIn, len(e.hints.Stand))
	for _, s := range e.hints.Of {
		from := min(s.At, len(e.parts))
		to := min(from+s.Count, len(e.parts))
		list = append(list, e.message(&s.Hints, e.parts[from:to]))
	}
	return list
}
