package adk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
func (d *reader) decode(o object) event {
	h, own := hintsOf(o)
	e := &decoder{reader: d, in: o, hints: h, own: own}
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

func hintsOf(o object) (hints, bool) {
	custom, _ := parseObject(o.get("customMetadata"))
	return readHints(custom.get(ownMetadata))
}

// decoder takes one event apart.
type decoder struct {
	*reader
	in    object
	hints hints
	own   bool // ctx wrote the event

	m          transcript.Message // the fields that all messages of the event share
	invocation string
	author     string
	rewind     string
	rest       object            // the fields that are kept with the message
	content    object            // nil if there is none, or it cannot be read
	parts      []json.RawMessage // of content
	role       string            // of content
	badTime    bool
	below      string
	tokens     uint64
}

// identify reads the id, invocation, author and time of an event.
func (e *decoder) identify() {
	id, _ := jsonvalue.Text(e.in.get("id"))
	if id == "" {
		id = e.deriveID()
	}
	e.m.Origin = transcript.Origin{Agent: Agent, Session: transcript.Fit(e.stats.Session),
		Message: transcript.Fit(id)}
	e.invocation, _ = jsonvalue.Text(e.in.get("invocationId"))
	e.author, _ = jsonvalue.Text(e.in.get("author"))
	if raw := e.in.get("timestamp"); raw != nil {
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
		v := jsonvalue.Encode(transcript.Normalise(jsonvalue.Decode(e.in.get(name))))
		_, _ = h.Write(append(v, '\n'))
	}
	base := "derived:" + hex.EncodeToString(h.Sum(nil)[:8])
	return e.derived.Next(base)
}

// fields collects the fields that a message has no field for.
func (e *decoder) fields() {
	odd := false
	keep := func(name string, value json.RawMessage) { // a name that does not come twice
		e.rest = append(e.rest, field{name, value})
	}
	for _, f := range e.in {
		if string(f.Value) == "null" {
			continue
		}
		if !isField(f.Name) {
			e.keep(f.Name)
			keep(f.Name, f.Value)
			continue
		}
		if !fits(f.Name, f.Value) {
			odd = true
			if f.Name != "timestamp" {
				keep(f.Name, f.Value)
				continue
			}
		}
		if value := e.left(f.Name, f.Value); value != nil {
			keep(f.Name, value)
		}
	}
	if e.below != "" {
		keep("belowMillisecond", jsonvalue.Encode(e.below))
	}
	if odd {
		e.stats.Odd++
	}
	e.rest = inOrder(e.rest) // the same fields are then the same bytes
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
		o, _ := parseObject(value)
		if e.own {
			o = o.without(ownMetadata, "model")
		}
		value = o.encode()
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
	content, _ := parseObject(value)
	raw, has := content.get("parts"), content.index("parts") >= 0
	list, err := jsonvalue.Elements(raw)
	ok := err == nil
	for _, p := range list {
		_, isObject := parseObject(p)
		_, err := message.ParsePart(p)
		ok = ok && isObject && err == nil
	}
	if !ok || len(list) == 0 {
		if has && raw != nil && !ok {
			e.stats.Odd++
		}
		return value
	}
	e.content, e.parts = content, list
	e.role, _ = jsonvalue.Text(content.get("role"))
	rest := content.without("parts")
	if role := content.get("role"); role == nil || e.role == contentRole(e.derivedRole()) || e.own {
		rest = rest.without("role")
	}
	if len(rest) == 0 {
		return nil
	}
	return rest.encode()
}

// readActions reads a rewind. It returns the other actions that are not empty, or nil.
func (e *decoder) readActions(value json.RawMessage) json.RawMessage {
	actions, _ := parseObject(value)
	if to, _ := jsonvalue.Text(actions.get("rewindBeforeInvocationId")); to != "" {
		if _, known := e.begun[to]; known {
			e.rewind = to
			actions = actions.without("rewindBeforeInvocationId")
		} else {
			e.stats.Unknown++
		}
	}
	var rest object
	for _, f := range actions {
		if !isEmpty(f.Value) {
			rest = append(rest, f)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return rest.encode()
}

func (e *decoder) readUsage(value json.RawMessage) json.RawMessage {
	usage, _ := parseObject(value)
	n, err := strconv.ParseUint(string(usage.get("candidatesTokenCount")), 10, 63)
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
	setParts(&m, e.parts, e.rest, e.content == nil)
	m.Calls, m.Results = transcript.LinksOf(e.parts)
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
		custom, _ := parseObject(e.in.get("customMetadata"))
		m.Author, _ = jsonvalue.Text(custom.get("model"))
		m.Author = transcript.Fit(m.Author)
	}
	setParts(&m, parts, nil, false)
	m.Calls, m.Results = transcript.LinksOf(parts)
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
