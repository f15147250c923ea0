package opencode

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// decode makes messages of one opencode message. An answer becomes a message for each step and one
// for each result.
func decode(session string, info jsonvalue.Object, parts []jsonvalue.Object) []transcript.Message {
	var hints *transcript.Hints
	info = unmoved(info, session, "id", "parentID")
	d := &decoder{session: session, info: info, id: info.Text("id")}
	for _, o := range parts {
		o = unmoved(o, session, "id")
		if h := hintsOf(o); h != nil {
			hints = h
			continue
		}
		d.part(o)
	}
	d.flush()
	list := d.list
	if hints == nil {
		return list
	}
	if hints.Alone || len(hints.Of) != len(list) {
		list = make([]transcript.Message, len(hints.Of))
		for i := range list {
			list[i] = blank(session, d.id)
		}
	}
	for i := range list {
		hints.Of[i].Apply(&list[i])
	}
	return list
}

// blank returns a message without content. Hints complete it.
func blank(session, id string) transcript.Message {
	return transcript.Message{
		Origin: transcript.Origin{Agent: Agent, Session: transcript.Fit(session),
			Message: transcript.Fit(id)}, Role: transcript.RoleUser,
	}
}

type decoder struct {
	session string
	info    jsonvalue.Object
	id      string
	list    []transcript.Message
	said    []json.RawMessage // of the step that is being read
	first   string            // the id of its first part
	answers []answer          // the results of its calls
}

type answer struct {
	part  json.RawMessage
	typed string // by the person who refused the call
	id    string
	when  time.Time
}

// saidName ends the name of the message with the words of a person who refused a call.
const saidName = "/said"

func (d *decoder) part(o jsonvalue.Object) {
	kind := o.Text("type")
	if len(d.answers) > 0 && kind != "tool" && kind != "step-finish" && kind != "patch" &&
		kind != "snapshot" {
		d.flush()
	}
	d.first = cmp.Or(d.first, o.Text("id"))
	if kind != "tool" {
		d.said = append(d.said, partOf(o))
		return
	}
	call, result, typed := toolPart(o)
	d.said = append(d.said, call)
	if result != nil {
		d.answers = append(d.answers, answer{result, typed, o.Text("id"),
			stamp(o.Object("state").Object("time").Number("end"))})
	}
}

func stamp(ms uint64) time.Time {
	if ms == 0 || ms > 253402300799999 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// flush ends a step.
func (d *decoder) flush() {
	if len(d.list) == 0 || len(d.said) > 0 {
		d.step()
	}
	for _, a := range d.answers {
		d.answer(a, "/result", transcript.RoleTool, a.part)
	}
	for _, a := range d.answers {
		if a.typed != "" {
			d.answer(a, saidName, transcript.RoleUser, transcript.TextPart(a.typed, nil))
		}
	}
	d.said, d.first, d.answers = nil, "", nil
}

// answer adds a message with what came of a call.
func (d *decoder) answer(a answer, name, role string, part json.RawMessage) {
	m := d.message(d.id+"/"+a.id+name, role)
	if !a.when.IsZero() {
		m.Time = a.when
	}
	m.SetParts([]json.RawMessage{part})
	d.list = append(d.list, m)
}

func (d *decoder) step() {
	role := transcript.RoleModel
	if d.info.Text("role") == "user" {
		role = transcript.RoleUser
	}
	name := d.id
	if len(d.list) > 0 {
		name += "/" + d.first
	}
	m := d.message(name, role)
	if role == transcript.RoleModel {
		if model := d.info.Text("modelID"); transcript.Fit(model) == model {
			m.Author = model
		}
		if len(d.list) == 0 {
			m.Tokens = d.info.Object("tokens").Number("output")
		}
		if d.info.True("summary") {
			m.Note, m.Role, m.Author = true, transcript.RoleSystem, ""
		}
	}
	if isNoted(d.info) || role == transcript.RoleUser && isClients(d.said) {
		m.Note, m.Role, m.Author = true, transcript.RoleSystem, ""
	}
	if m.Role == transcript.RoleUser {
		hideClients(d.said)
	}
	rest := jsonvalue.Object{}
	if len(d.list) == 0 {
		rest["info"] = jsonvalue.Encode(withoutDiffs(d.info.Without("id", "sessionID")))
	}
	m.SetParts(append(d.said, transcript.Kept(Agent, rest)))
	d.list = append(d.list, m)
}

// withoutDiffs empties in the summary of a turn the texts that its calls wrote: a forget of a
// call would not reach them.
func withoutDiffs(info jsonvalue.Object) jsonvalue.Object {
	if info.Object("summary").Has("diffs") {
		copies := transcript.Copies{Members: []string{"before", "after", "patch"}}
		info["summary"] = copies.Without(info["summary"])
	}
	return info
}

// hideClients hides what opencode added to the words of a person.
func hideClients(parts []json.RawMessage) {
	for i, raw := range parts {
		p := transcript.ReadPart(raw)
		kept := p.Body.Object(Agent)
		if p.Kind == transcript.PartText && p.Text != "" && isOwn(p, kept) {
			parts[i] = hidden(plainPart(p, kept))
		}
	}
}

// isOwn reports whether a text of a message of the user is opencode's, or that of a plugin, which
// shows it to the person alone.
func isOwn(p transcript.Part, kept jsonvalue.Object) bool {
	return kept.Text("type") == subtask || kept.True("synthetic") || kept.True("ignored") ||
		clientMarks.Client(p.Text)
}

// isClients reports whether a message of the user has texts, and none that a person typed. See
// partOf.
func isClients(parts []json.RawMessage) bool {
	texts := 0
	for _, raw := range parts {
		p := transcript.ReadPart(raw)
		kept := p.Body.Object(Agent)
		switch {
		case p.Kind == transcript.PartText && !isOwn(p, kept):
			return false
		case p.Kind == transcript.PartText:
			texts++
		case p.Kind == transcript.PartMedia:
			return false
		case kept.Object("part").Text("type") == "compaction": // asks for a summary
			texts++
		}
	}
	return texts > 0
}

func (d *decoder) message(name, role string) transcript.Message {
	m := blank(d.session, name)
	m.Role, m.Time = role, stamp(d.info.Object("time").Number("created"))
	return m
}

// A moved id is that of a message or a part that opencode said, in the copy of its session that
// another session begins with: the id, an underscore, and eight digits that follow from the new
// session and the id. Ids are unique in all of opencode's database: an import of opencode passes
// over a message whose id it has, without a word. A moved id sorts where the id does, and it is
// read as the id.

// movedDigits is the number of digits that a moved id adds.
const movedDigits = 8

// moveIDs gives members of a record their moved ids in a session.
func moveIDs(o jsonvalue.Object, session string, names ...string) {
	for _, name := range names {
		if id := o.Text(name); id != "" {
			o.Set(name, id+"_"+transcript.Derive(movedDigits, session, id))
		}
	}
}

// unmoved returns a record with its ids as they were before they moved to a session. It does not
// change o.
func unmoved(o jsonvalue.Object, session string, names ...string) jsonvalue.Object {
	out := o
	for _, name := range names {
		id := o.Text(name)
		i := strings.LastIndexByte(id, '_')
		if i < 0 || id[i+1:] != transcript.Derive(movedDigits, session, id[:i]) {
			continue
		}
		out = out.Without()
		out.Set(name, id[:i])
	}
	return out
}
