package transcript

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Flat reads transcripts of JSON lines in which a record is a message as a whole, or says nothing.
// The reader of an agent says of each record what it is, by one call of Say, Wait, Unknown or
// Stats.Skip.
type Flat struct {
	Stats Stats
	Names Names
	// Thread names the conversation of a subagent that the record belongs to; "" is the main one.
	Thread string
	// Begins is the session that this one may begin with a copy of; "" for none.
	Begins string
	// Copies are taken out of what is kept beside the messages.
	Copies Copies

	agent  string
	emit   func(Step) error
	before Before
	seen   map[string]string // the digest of each message, by its name
	chain  []link            // the records on the line that the user is on
	places map[string]int    // their indexes, by their ids
	open   bool              // the last one has no message yet
}

// link is a record that names the one before it, and the message that was made of it, if any.
type link struct {
	id     string
	origin Origin
}

// NewFlat begins a transcript of an agent.
func NewFlat(agent string, emit func(Step) error) *Flat {
	return &Flat{Stats: NewStats(), Names: Names{}, agent: agent, emit: emit,
		seen: map[string]string{}, places: map[string]int{}}
}

// Read calls record for each record of r. starts are the beginnings that a record can have.
func (f *Flat) Read(r io.Reader, starts []string, record func(jsonvalue.Object) error) error {
	err := Lines(r, &f.Stats, starts, true, record)
	f.end()
	return err
}

func (f *Flat) end() {
	for i, raw := range f.before.list {
		f.before.list[i] = f.Copies.Without(raw)
	}
	f.before.End(&f.Stats)
}

// ReadList calls record for each record of r, which is one JSON list, or an object with one as its
// member "messages". It reads as much of a list that is cut off as is whole.
func (f *Flat) ReadList(r io.Reader, record func(jsonvalue.Object) error) error {
	d := &Document{Stats: &f.Stats, List: "messages", Record: func(raw json.RawMessage) error {
		return f.Stats.each([]json.RawMessage{raw}, record)
	}}
	if _, err := d.Read(f.Stats.PastNoise(r)); err != nil {
		return err
	}
	if !d.Found {
		f.Stats.Skip(SkipBadJSON, 1)
	}
	f.Stats.Bytes = d.Bytes
	f.end()
	return nil
}

// ReadDocument calls record for each record that unfold makes of r, which is one JSON object.
// unfold returns nil for an object that is no transcript.
func (f *Flat) ReadDocument(r io.Reader,
	unfold func(jsonvalue.Object, *Stats) []jsonvalue.Object, record func(jsonvalue.Object) error,
) error {
	b, err := io.ReadAll(f.Stats.PastNoise(r))
	if err != nil {
		return &ReadError{Err: err}
	}
	f.Stats.Bytes = int64(len(b))
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
	doc, ok := jsonvalue.ParseObject(b)
	if !ok {
		if doc = f.begun(b); doc == nil {
			return nil
		}
	}
	list := unfold(doc, &f.Stats)
	if list == nil {
		f.Stats.Skip(SkipUnknown, 1)
	}
	for _, o := range list {
		if err := f.Stats.each([]json.RawMessage{jsonvalue.Encode(o)}, record); err != nil {
			return err
		}
	}
	f.end()
	return nil
}

// begun returns the object that b begins with, and counts what stands behind it, such as what a
// program printed; nil for none.
func (f *Flat) begun(b []byte) jsonvalue.Object {
	var first json.RawMessage
	_ = json.NewDecoder(bytes.NewReader(b)).Decode(&first)
	doc, ok := jsonvalue.ParseObject(first)
	switch rest := bytes.Trim(b[len(first):], "\x00 \t\r\n"); {
	case len(b) == 0:
	case !ok, len(rest) > 0:
		f.Stats.Skip(SkipBadJSON, 1)
	default:
		f.Stats.Skip(SkipNULRun, 1)
	}
	return doc
}

// Wait keeps a record that says nothing for the message that follows.
func (f *Flat) Wait(o jsonvalue.Object) { f.before.Add(o, &f.Stats) }

// Unknown is Wait for a record of a kind that the reader does not know.
func (f *Flat) Unknown(kind string, o jsonvalue.Object) {
	f.Stats.Kept[Fit(kind)]++
	f.Wait(o)
}

// Hints returns the hints of a record; nil for none. over says that the record stands in for a
// message that the transcript could not have: it has been counted.
func (f *Flat) Hints(o jsonvalue.Object) (h *Hints, over bool) {
	h = ReadHints(o[HintName])
	f.Stats.ReadHome(h)
	if h != nil && (h.Added || h.Gone != "") {
		f.Stats.Pass("stand-in")
		return h, true
	}
	return h, false
}

// Say emits the message of a record, whose origin names the record; a name that came before stands
// for a newer version. rest are the members of the record that are not in parts: they are kept with
// the message, and so are the records before it.
func (f *Flat) Say(
	o jsonvalue.Object, m Message, parts []json.RawMessage, rest jsonvalue.Object,
) error {
	digest := Derive(16, string(jsonvalue.Canonical(jsonvalue.Encode(o))))
	if f.seen[m.Origin.Message] == digest {
		f.Stats.Pass("repeated")
		return nil
	}
	f.seen[m.Origin.Message] = digest
	f.Copies.Hear(parts)
	for name, value := range rest {
		rest[name] = f.Copies.without(value, slices.Contains(f.Copies.Members, name))
	}
	before := f.before.Take()
	for i, raw := range before {
		before[i] = f.Copies.Without(raw)
	}
	m = Compose(f.agent, o, m, parts, rest, before)
	if f.open && f.Thread == "" {
		f.chain[len(f.chain)-1].origin, f.open = m.Origin, false
	}
	return f.emit(Step{Message: m, Session: f.Stats.Session, Home: f.Stats.Home, Thread: f.Thread,
		Begins: f.Begins})
}

// Compose completes the message of a record of an agent: with its parts, with the members of the
// record that are not in them, with the records before it, and by the hints of the record.
func Compose(
	agent string, o jsonvalue.Object, m Message, parts []json.RawMessage, rest jsonvalue.Object,
	before []json.RawMessage,
) Message {
	h := ReadHints(o[HintName])
	delete(rest, HintName)
	if len(before) > 0 {
		rest[BeforeName] = jsonvalue.Array(before)
	}
	if len(rest) > 0 && (h == nil || !h.Alone) {
		parts = append(parts, Kept(agent, rest))
	}
	m.SetParts(parts)
	if h != nil {
		h.Apply(&m)
	}
	return m
}

// Root is the parent, for Follow, of a record that says that it follows no other one.
const Root = "\x00root"

// Follow is called for each record that has an id, before anything is said of it. If parent,
// the id of the record that it names as the one before it, is not the last one, the user went back
// there: Follow emits the rewind over the messages in between. A parent that the transcript does
// not have, or "", changes nothing.
func (f *Flat) Follow(id, parent string, o jsonvalue.Object) error {
	f.open = false
	if _, again := f.places[id]; again || id == "" {
		return nil
	}
	at, known := f.places[parent]
	if parent == Root {
		at, known = -1, true
	}
	if known && at < len(f.chain)-1 {
		gone := f.chain[at+1:]
		f.chain = f.chain[:at+1]
		for _, l := range gone {
			delete(f.places, l.id)
		}
		if err := f.leave(gone, id, o); err != nil {
			return err
		}
	}
	f.places[id] = len(f.chain)
	f.chain, f.open = append(f.chain, link{id: id}), true
	return nil
}

// leave emits a rewind to the first message of some records, if there is one.
func (f *Flat) leave(gone []link, id string, o jsonvalue.Object) error {
	at := slices.IndexFunc(gone, func(l link) bool { return l.origin != (Origin{}) })
	if at < 0 {
		return nil
	}
	when, _ := TimeOf(o["timestamp"])
	return f.emit(f.Stats.Rewind(f.agent, "rewind:"+id, when, gone[at].origin))
}

// Origin returns the origin of a message of the transcript.
func (f *Flat) Origin(name string) Origin {
	return Origin{Agent: f.agent, Session: Fit(f.Stats.Session), Message: Fit(name)}
}

// DigestName names a record that has no id by what it says. Equal records get different names.
func (f *Flat) DigestName(o jsonvalue.Object) string {
	return f.Names.Next("derived:" + Derive(16, string(jsonvalue.Canonical(jsonvalue.Encode(o)))))
}

// Unwrap takes a text out of the element that an agent wraps it in, without the white space at its
// ends. around is what stands before and after it. Only other elements may: ok is false for a text
// that is not wrapped, or has the element in it.
func Unwrap(s, element string) (text string, around [2]string, ok bool) {
	open, end := "<"+element+">", "</"+element+">"
	from, to := strings.Index(s, open), strings.LastIndex(s, end)
	if from < 0 || to < from+len(open) {
		return s, around, false
	}
	for _, outside := range []string{s[:from], s[to+len(end):]} {
		outside = strings.TrimSpace(outside)
		if outside != "" && (outside[0] != '<' || outside[len(outside)-1] != '>') {
			return s, around, false
		}
	}
	from += len(open)
	text = strings.TrimSpace(s[from:to])
	from += strings.Index(s[from:to], text)
	return text, [2]string{s[:from], s[from+len(text):]}, true
}

// Decoded returns arguments that an agent has encoded twice, a string of JSON for each value, as
// they were meant. They are, if every value is such a string, and one at least holds more than a
// number or a word, which nobody could tell from text. exact says that encoding them again gives
// the same strings.
func Decoded(args jsonvalue.Object) (out jsonvalue.Object, exact, ok bool) {
	out, exact = jsonvalue.Object{}, true
	for name, raw := range args {
		s, isText := jsonvalue.Text(raw)
		if !isText || s == "" || jsonvalue.Skip([]byte(s)) != len(s) || strings.TrimSpace(s) != s {
			return args, false, false
		}
		ok = ok || strings.ContainsRune(`"[{`, rune(s[0]))
		out[name] = json.RawMessage(s)
		exact = exact && string(jsonvalue.Compact(out[name])) == s &&
			string(jsonvalue.Encode(out[name])) == s
	}
	if !ok {
		return args, false, false
	}
	return out, exact, true
}
