package adk

import (
	"encoding/json"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// sessionMessage is the message id of the note with the members that a session has besides events.
// ADK makes no such id for an event.
const sessionMessage = "#session"

// The defaults for the names that ADK demands of a session.
const (
	DefaultApp  = "ctx"
	DefaultUser = "user"
)

// decides tells a session from an event, by a member that only one of the two can have.
func decides(name string) transcript.Decision {
	switch name {
	case "events", "session":
		return transcript.IsDocument
	case "author", "content", "actions", "invocationId", "timestamp", "partial":
		return transcript.IsNone
	}
	return transcript.Undecided
}

// member keeps a member of the session.
func (d *reader) member(name string, raw json.RawMessage) {
	if jsonvalue.Depth(raw) > maxDepth {
		d.stats.Skip(transcript.SkipDeep, 1)
		return
	}
	if id, ok := jsonvalue.Text(raw); name == "id" && ok && id != "" && d.stats.Session == "" {
		d.stats.Session, d.named = id, true
		return
	}
	switch name {
	case "appName", "userId", "state", "lastUpdateTime":
	case "events", "session", "id": // of the wrong kind, or a second one
		if !isEmpty(raw) && string(raw) != `""` {
			d.stats.Skip(SkipNoEvent, 1)
		}
		return
	default:
		d.keep("session." + name)
	}
	if d.kept += len(name) + len(raw); d.kept > MaxEvent || len(d.session) == maxMembers {
		d.stats.Skip(SkipMembers, 1)
		return
	}
	d.session[name] = jsonvalue.Compact(raw)
}

// maxMembers is the most members of a session that are kept besides its events. ADK writes four.
const maxMembers = 1000

// finish emits a note with the members that the session has besides events, without those that
// every export has.
func (d *reader) finish() error {
	rest := d.session.Without()
	for name, same := range map[string]string{"appName": DefaultApp, "userId": DefaultUser} {
		if rest.Text(name) == same {
			delete(rest, name)
		}
	}
	if rest.Has("lastUpdateTime") {
		t, _, ok := parseStamp(rest["lastUpdateTime"], d.unit)
		switch {
		case !ok:
		case t.UnixMilli() != 0 && t.After(d.newest):
			rest["lastUpdateTime"] = printStamp(t, "", JavaScript)
		default:
			delete(rest, "lastUpdateTime")
		}
	}
	for name, value := range rest {
		if isEmpty(value) || string(value) == `""` {
			delete(rest, name)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	m := transcript.Message{Note: true, Role: transcript.RoleSystem,
		Origin: transcript.Origin{Agent: Agent, Session: transcript.Fit(d.stats.Session),
			Message: sessionMessage}}
	m.SetParts([]json.RawMessage{carried(jsonvalue.NewObject("session", rest))})
	return d.emit(d.step(m))
}

// IsSession reports whether a message is the note with the members that a session has besides
// events.
func IsSession(o transcript.Origin) bool { return o.Agent == Agent && o.Message == sessionMessage }

// keep counts an unknown field.
func (d *reader) keep(name string) {
	if len(name) > 80 || len(d.stats.Kept) >= 100 && d.stats.Kept[name] == 0 {
		name = "others"
	}
	d.stats.Kept[name]++
}
