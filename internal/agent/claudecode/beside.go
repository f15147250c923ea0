package claudecode

import (
	"bytes"
	"encoding/json"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file keeps the records of the client that have an id and no words with the message that
// follows them. They are links of the chain of records, so an export has to put them back into it.

// beside keeps such a record.
func (d *reader) beside(e *entry, o jsonvalue.Object) {
	switch {
	case e.again:
		d.stats.Pass("repeated")
	case d.copies(o):
		d.stats.Pass("copy of a message")
	default:
		o = o.Without("rendered") // what the client made of it for the model
		d.before.Add(anonymous(o), &d.stats)
	}
}

// shared are members that a record mostly has in common with the one after it.
var shared = [...]string{"sessionId", "cwd", "version", "gitBranch", "userType", "entrypoint",
	"isSidechain"}

// bare returns records that are kept with the record host, without what they have in common with
// it: linked puts it back. A member that only host has is null.
func bare(list []json.RawMessage, host jsonvalue.Object) []json.RawMessage {
	for i, raw := range list {
		o := jsonvalue.AsObject(raw)
		if !o.Has("uuid") {
			continue
		}
		delete(o, "parentUuid")
		for _, name := range shared {
			switch {
			case bytes.Equal(o[name], host[name]):
				delete(o, name)
			case o[name] == nil:
				o[name] = json.RawMessage("null")
			}
		}
		list[i] = jsonvalue.Encode(o)
	}
	return list
}

// linked writes the records that are kept with the record host, and returns what host follows if it
// was to follow up.
func (w *writer) linked(before []json.RawMessage, host jsonvalue.Object, up string) string {
	for i, raw := range before {
		o := jsonvalue.AsObject(raw)
		id := o.Text("uuid")
		// the directory of a record of the conversation may stand in its host, and in no other one
		hasPlace := id != "" && string(o["cwd"]) != "null" || o.Text("cwd") != ""
		if hasPlace && w.place(o) {
			raw = jsonvalue.Encode(o)
			before[i] = raw
		}
		if id == "" {
			w.Line(raw)
			continue
		}
		for _, name := range shared {
			switch {
			case string(o[name]) == "null":
				delete(o, name)
			case o[name] == nil && host[name] != nil:
				o[name] = host[name]
			}
		}
		o.Set("sessionId", w.Session)
		o["parentUuid"] = json.RawMessage("null")
		if w.prev != "" {
			o.Set("parentUuid", w.prev)
		}
		w.write(o)
		if up == w.prev {
			up = id
		}
		w.seen[id], w.prev = true, id
	}
	return up
}
