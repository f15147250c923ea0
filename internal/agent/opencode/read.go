package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Read reads a session as one document, or as a list of its messages. Of a document that breaks off
// it reads the messages before the break.
func Read(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
	d := newReader(emit)
	doc := &transcript.Document{Stats: &d.stats, List: "messages",
		Member: func(name string, raw json.RawMessage) {
			switch name {
			case "info":
				d.begin(jsonvalue.AsObject(raw))
			case transcript.HintName:
				d.stats.ReadHome(transcript.ReadHints(raw))
			}
		}}
	doc.Record = func(raw json.RawMessage) error {
		if d.begun || doc.Alone {
			d.begun = true
			d.record(raw)
		} else {
			d.early = append(d.early, raw)
		}
		return d.failed
	}
	rest, err := doc.Read(d.stats.PastNoise(r))
	if err != nil {
		return d.stats, err
	}
	if d.stats.Bytes = doc.Bytes; doc.Found {
		doc.After()
	} else if _, err := rest.Peek(1); err != nil {
		d.stats.Skip(transcript.SkipTornTail, 1)
	} else {
		d.stats.Skip(transcript.SkipBadJSON, 1)
	}
	d.end()
	return d.stats, d.failed
}

type reader struct {
	stats  transcript.Stats
	emit   func(transcript.Step) error
	info   jsonvalue.Object // of the session
	begun  bool
	held   *heldMessage
	early  []json.RawMessage // messages that came before the members of the session
	before transcript.Before // messages of opencode 2.x that say nothing
	order  []said
	ids    map[string]string // of messages, with what tells those of one id apart
	failed error             // from emit

	// about is the note of the members of the session, until the first message has been seen: what
	// names the store that wrote the document comes behind the members. In opencode's database only
	// parts of messages keep what ctx wrote, so that message says whether the note is a copy. With
	// hints of its own (kept) it is none.
	about  *transcript.Message
	copied bool
	forked bool // the session is a fork of one that was handed over
	kept   bool
}

type heldMessage struct {
	info  jsonvalue.Object
	parts []jsonvalue.Object
}

// said is a message of the conversation, by opencode's id.
type said struct {
	id     string
	origin transcript.Origin
}

func newReader(emit func(transcript.Step) error) *reader {
	return &reader{stats: transcript.NewStats(), emit: emit, ids: map[string]string{}}
}

// begin reads the members of the session, and emits a note of them.
func (d *reader) begin(info jsonvalue.Object) {
	if d.begun || info == nil {
		return
	}
	d.begun, d.info = true, info
	d.stats.Session, d.stats.Parent = info.Text("id"), transcript.Fit(info.Text("parentID"))
	d.stats.Version = info.Text("version")
	kept := keptInfo(info)
	for _, raw := range d.early {
		d.record(raw)
	}
	d.early = nil
	if len(kept) == 0 || len(d.order) > 0 {
		return
	}
	m := infoMessage(d.stats.Session, info, kept)
	if h := transcript.ReadHints(info[transcript.HintName]); h != nil {
		if h.Added {
			return
		}
		h.Apply(&m)
		d.kept = true
	}
	d.about = &m
}

// giveAbout emits the note of the members of the session, unless they are those of a copy that
// opencode made of a session of ctx: then the session that the copy goes on with has its own.
func (d *reader) giveAbout() {
	m := d.about
	d.about = nil
	switch {
	case m == nil:
	case d.copied && !d.kept:
		d.stats.Pass("stand-in")
	default:
		d.send(m.Origin.Message, *m)
	}
}

// keptInfo returns the members of a session that are kept: those that do not change with each
// message.
func keptInfo(info jsonvalue.Object) jsonvalue.Object {
	kept := jsonvalue.Object{}
	for _, name := range []string{"title", "directory", "version", "slug", "parentID",
		"projectID"} {
		if info.Text(name) != "" && len(info[name]) < maxFile {
			kept[name] = info[name]
		}
	}
	return kept
}

// infoMessage returns the note with the members of a session.
func infoMessage(session string, info, kept jsonvalue.Object) transcript.Message {
	name := "info:" + transcript.Derive(16, string(jsonvalue.Canonical(jsonvalue.Encode(kept))))
	m := blank(session, name)
	m.Note, m.Role, m.Time = true, transcript.RoleSystem,
		stamp(info.Object("time").Number("created"))
	var parts []json.RawMessage
	if title := kept.Text("title"); title != "" {
		parts = append(parts, transcript.TextPart(title, nil))
		kept = kept.Without("title")
	}
	m.SetParts(
		append(parts, transcript.Kept(Agent, jsonvalue.Object{"session": jsonvalue.Encode(kept)})))
	return m
}

// record reads the next message of the document.
func (d *reader) record(raw json.RawMessage) {
	o, ok := d.stats.Parse(raw)
	if !ok {
		return
	}
	if isSecond(o) {
		d.second(o)
		return
	}
	list, _ := o.Array("parts")
	var parts []jsonvalue.Object
	for _, raw := range list {
		if part, ok := jsonvalue.ParseObject(raw); ok {
			parts = append(parts, part)
		} else {
			d.stats.Skip(transcript.SkipUnknown, 1)
		}
	}
	d.message(o.Object("info"), parts)
}

// message holds a message back, and emits the one before, which must be finished by now.
func (d *reader) message(info jsonvalue.Object, parts []jsonvalue.Object) {
	if info.Text("id") == "" || info.Text("role") != "user" && info.Text("role") != "assistant" {
		d.stats.Skip(transcript.SkipUnknown, 1)
		return
	}
	d.stats.Session = cmp.Or(d.stats.Session, info.Text("sessionID"))
	d.give()
	info = d.named(info)
	for _, part := range parts {
		if kind := part.Text("type"); !isKnownPart(kind) {
			d.stats.Kept[transcript.Fit("part "+kind)]++
		}
	}
	d.held = &heldMessage{info, parts}
}

// named returns the members of a message with an id of its own, where another message of the
// session has the same one: who publishes a session may put one word for every id.
func (d *reader) named(info jsonvalue.Object) jsonvalue.Object {
	id, of := info.Text("id"), info.Text("role")+string(info.Object("time")["created"])
	if was, again := d.ids[id]; !again {
		d.ids[id] = of
	} else if was != of {
		info = info.Without()
		info.Set("id", id+":"+transcript.Derive(8, of))
	}
	return info
}

// isKnownPart reports whether a type of part is no drift.
func isKnownPart(kind string) bool {
	return slices.Contains([]string{"text", "reasoning", "file", "tool", "step-start",
		"step-finish", "snapshot", "patch", "agent", "retry", "compaction", subtask}, kind)
}

// give emits the message that is held back.
func (d *reader) give() {
	if d.held == nil || d.failed != nil {
		return
	}
	m := d.held
	d.held = nil
	for _, o := range m.parts {
		if h := hintsOf(o); h != nil && h.Home != nil {
			d.copied = d.stats.Home == nil
			d.stats.ReadHome(h)
		}
	}
	d.giveAbout()
	d.spawns(m)
	for _, one := range decode(d.stats.Session, m.info, m.parts) {
		if one.Gone != "" {
			d.stats.Pass("stand-in")
			continue
		}
		d.send(m.info.Text("id"), one)
	}
}

func (d *reader) send(id string, m transcript.Message) {
	if d.failed == nil {
		if len(d.order) == 0 {
			d.forked = d.isFork(&m)
		}
		d.order = append(d.order, said{id, m.Origin})
		st := transcript.Step{Message: m, Session: d.stats.Session, Home: d.stats.Home}
		if d.forked {
			st.Home, st.Begins = nil, st.Home.Session
		}
		d.failed = d.emit(st)
	}
}

// isFork reports whether the session is a fork of one that opencode was handed, by its first
// message: the copies have the hints of the export, and opencode gave the session its id.
func (d *reader) isFork(m *transcript.Message) bool {
	own, home := d.stats.Session, d.stats.Home
	return home != nil && home.Session != own && m.Origin.Session != transcript.Fit(own) &&
		!isDerived(own)
}

// spawns notes the sessions that calls began.
func (d *reader) spawns(m *heldMessage) {
	for _, o := range m.parts {
		meta := o.Object("state").Object("metadata")
		id := cmp.Or(meta.Text("sessionId"), meta.Text("sessionID"))
		if o.Text("type") == "tool" && o.Text("tool") == "task" && id != "" &&
			o.Text("callID") != "" {
			d.stats.Spawned = append(d.stats.Spawned,
				transcript.Spawn{Call: transcript.Fit(o.Text("callID")),
					Thread: transcript.Fit(id)})
		}
	}
}

// end emits the last message, as far as it is written, and then the rewind that the session is at.
// An answer that goes on is another version of it the next time.
func (d *reader) end() {
	d.begun = true
	for _, raw := range d.early {
		d.record(raw)
	}
	if d.held != nil && len(d.held.parts) == 0 && d.held.info.Text("role") == "assistant" {
		d.held = nil // it was not begun
	}
	d.give()
	d.giveAbout()
	d.before.End(&d.stats)
	from := d.info.Object("revert").Text("messageID")
	at := slices.IndexFunc(d.order, func(s said) bool { return s.id == from })
	if from == "" || at < 0 || d.failed != nil {
		return
	}
	d.failed = d.emit(d.stats.Rewind(Agent, "revert:"+from, time.Time{}, d.order[at].origin))
}

// maxFile is the most bytes of one file of the storage directory that are read.
const maxFile = transcript.MaxRecord

// ReadStorage reads a session from the files of a storage directory: file is that of the session,
// as session/<project>/<session>.json.
func ReadStorage(
	storage fs.FS, file string, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	d := newReader(emit)
	info, err := d.file(storage, file)
	if err != nil {
		return d.stats, &transcript.ReadError{Err: err}
	}
	d.begin(info)
	session := info.Text("id")
	if session == "" || !fs.ValidPath(session) || strings.Contains(session, "/") {
		d.stats.Skip(transcript.SkipUnknown, 1)
		return d.stats, d.failed
	}
	for _, name := range names(storage, path.Join("message", session)) {
		info, err := d.file(storage, name)
		if err != nil {
			d.stats.Skip(transcript.SkipUnread, 1)
			continue
		}
		var parts []jsonvalue.Object
		for _, name := range names(storage,
			path.Join("part", strings.TrimSuffix(path.Base(name), ".json"))) {
			part, err := d.file(storage, name)
			if err != nil {
				d.stats.Skip(transcript.SkipUnread, 1)
			} else if part != nil {
				parts = append(parts, part)
			}
		}
		if d.message(info, parts); d.failed != nil {
			break
		}
	}
	d.end()
	return d.stats, d.failed
}

// names returns the files of a directory by name, which is the order of time. It returns none if
// there is no such directory.
func names(storage fs.FS, dir string) (list []string) {
	entries, err := fs.ReadDir(storage, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !e.IsDir() {
			list = append(list, path.Join(dir, e.Name()))
		}
	}
	return list
}

// file reads a file with one object. It counts any other file, and returns nil for it.
func (d *reader) file(storage fs.FS, name string) (jsonvalue.Object, error) {
	f, err := storage.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(b, 0) >= 0 {
		d.stats.Skip(transcript.SkipNULRun, 1)
		b = bytes.ReplaceAll(b, []byte{0}, nil)
	}
	b = bytes.ToValidUTF8(bytes.TrimSpace(b), []byte("\uFFFD"))
	if !json.Valid(b) {
		d.stats.Skip(transcript.SkipBadJSON, 1)
		return nil, nil
	}
	o, _ := d.stats.Parse(b)
	return o, nil
}
