package adk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

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

// maxUndecided is the most bytes that are kept of an object before it is clear whether it is a
// session or an event.
const maxUndecided = 64 << 20

// object reads an input that begins with an object: a session, or an event a line. The first member
// that only one of the two can have decides.
func (d *reader) object(s *scanner) error {
	s.keep = true
	_, _ = s.next() // the bracket
	first, document := d.undecided(s)
	again := s.taken
	s.keep, s.taken = false, nil
	if !document {
		// What was read were members of an event.
		d.session, d.kept, d.named, d.stats.Session = nil, 0, false, ""
		clear(d.stats.Kept)
		clear(d.stats.Skipped)
		s.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(again), s.r), 64<<10)
		return d.lines(s)
	}
	whole, err := d.members(s, first)
	if err != nil {
		return err
	}
	d.settle()
	held := d.held
	d.held = nil
	for _, raw := range held {
		if err := d.event(raw); err != nil {
			return err
		}
	}
	if err = d.finish(); err == nil && whole {
		d.rest(s)
	}
	return err
}

// undecided reads members until one decides whether the input is a document. Of a document it
// returns the name of that member, with its colon read.
func (d *reader) undecided(s *scanner) (next string, document bool) {
	for {
		name, err := s.name()
		if err != nil {
			return "", false
		}
		switch name {
		case "events", "session":
			return name, true
		case "author", "content", "actions", "invocationId", "timestamp", "partial":
			return "", false
		}
		raw, err := s.value(MaxEvent)
		if err != nil || !json.Valid(raw) {
			return "", false
		}
		d.member(name, raw)
		if len(s.taken) > maxUndecided { // longer than any event
			name, err = s.name()
			return name, err == nil
		}
	}
}

var errNoMember = errors.New("no member")

// name reads the name of the next member of an object and the colon after it; errNoMember at the
// end of the object.
func (s *scanner) name() (string, error) {
	c, err := s.next()
	if err == nil && c == ',' {
		c, err = s.next()
	}
	switch {
	case err != nil:
		return "", err
	case c == '}':
		return "", errNoMember
	}
	s.back()
	raw, err := s.value(1 << 10)
	if err != nil {
		return "", err
	}
	name, ok := jsonvalue.Text(raw)
	if !ok || !json.Valid(raw) {
		return "", io.EOF
	}
	if c, err = s.next(); err != nil || c != ':' {
		return "", io.EOF
	}
	return name, nil
}

// members reads the members of an object to its end; the name of the first one is read already.
// whole is false if the input ends before the object does.
func (d *reader) members(s *scanner, name string) (whole bool, err error) {
	for {
		if whole, err = d.memberAt(s, name); err != nil || !whole {
			return whole, err
		}
		if name, err = s.name(); errors.Is(err, errNoMember) {
			return true, nil
		} else if err != nil {
			d.stats.Skip(transcript.SkipTornTail, 1)
			return false, nil
		}
	}
}

func (d *reader) memberAt(s *scanner, name string) (whole bool, err error) {
	c, err := s.next()
	if err != nil {
		d.stats.Skip(transcript.SkipTornTail, 1)
		return false, nil
	}
	switch {
	case name == "session" && c == '{' && !d.inside:
		d.inside = true
		inner, err := s.name()
		if errors.Is(err, errNoMember) {
			return true, nil
		} else if err != nil {
			d.stats.Skip(transcript.SkipTornTail, 1)
			return false, nil
		}
		return d.members(s, inner)
	case name == "events" && c == '[':
		s.back()
		torn := d.stats.Skipped[transcript.SkipTornTail]
		err := d.list(s)
		return d.stats.Skipped[transcript.SkipTornTail] == torn, err
	}
	s.back()
	raw, err := s.value(MaxEvent)
	switch {
	case errors.Is(err, errTooLong):
		d.stats.Skip(SkipLong, 1)
	case err != nil:
		d.stats.Skip(transcript.SkipTornTail, 1)
		return false, nil
	case !json.Valid(raw):
		d.stats.Skip(transcript.SkipBadJSON, 1)
	default:
		d.member(name, raw)
	}
	return true, nil
}

// member keeps a member of the session.
func (d *reader) member(name string, raw []byte) {
	raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
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
	d.session = d.session.with(name, jsonvalue.Compact(raw))
}

// maxMembers is the most members of a session that are kept besides its events. ADK writes four.
const maxMembers = 1000

// finish emits a note with the members that the session has besides events, without those that
// every export has.
func (d *reader) finish() error {
	rest := d.session
	for _, same := range []field{{"appName", jsonvalue.Encode(DefaultApp)},
		{"userId", jsonvalue.Encode(DefaultUser)}} {
		if bytes.Equal(rest.get(same.Name), same.Value) {
			rest = rest.without(same.Name)
		}
	}
	if updated := rest.get("lastUpdateTime"); updated != nil {
		t, _, ok := parseStamp(updated, d.unit)
		rest = rest.without("lastUpdateTime")
		if ok && t.UnixMilli() != 0 && t.After(d.newest) {
			rest = append(rest, field{"lastUpdateTime", printStamp(t, "", JavaScript)})
		} else if !ok {
			rest = append(rest, field{"lastUpdateTime", updated})
		}
	}
	var kept object
	for _, f := range rest {
		if !isEmpty(f.Value) && string(f.Value) != `""` {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	slices.SortFunc(kept, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	m := transcript.Message{
		Origin: transcript.Origin{Agent: Agent, Session: transcript.Fit(d.stats.Session),
			Message: sessionMessage}, Note: true, Role: transcript.RoleSystem,
	}
	m.Parts = jsonvalue.Array([]json.RawMessage{carried(object{{"session", kept.encode()}})})
	return d.emit(transcript.Step{Kind: transcript.KindMessage, Message: m})
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
