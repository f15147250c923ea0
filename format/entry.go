package format

import (
	"errors"
	"fmt"
	"time"
)

// The kinds of entries.
const (
	KindMessage = "message" // the user, the model, a tool or the system said something
	KindAmend   = "amend"   // a newer version of a message, shown in place of the first one
	KindFork    = "fork"    // branches start here
	KindJoin    = "join"    // branches come together
	KindRewind  = "rewind"  // the entries that follow the parent leave the branch
	KindMask    = "mask"    // parts of earlier entries are shown shortened
	KindReplace = "replace" // a worker's text stands for earlier entries
	KindEpoch   = "epoch"   // the model is told a changed value
	KindNote    = "note"    // a remark about the conversation, outside of it
)

// Call names a tool call that an entry makes. ID is the id that the result of the call will name.
type Call struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
}

// JSONLAgent is the agent of the sources of bulk appends, which name no agent.
const JSONLAgent = "jsonl"

// Source says where an entry was imported from. Agent, Session and Message name the imported
// message. Digest names its version: 16 lower-case hexadecimal digits, keyed with the store's key
// so that it reveals nothing about the text. Importing the same four values twice adds nothing.
type Source struct{ Agent, Session, Message, Digest string }

// Entry is one step of a conversation and one node of the session DAG. docs/format/entry.md
// describes its header.
type Entry struct {
	Parents    []ID   // none for a root; of a join, the tip of its own branch first
	Seq        uint64 // number of messages along first parents, this one included
	Session    string // the session in which it was first said
	Kind       string
	Role       string // user, model, tool or system; "" where the kind has none
	Author     string
	Time       time.Time // UTC, milliseconds; only for display, never used for ordering
	Invocation string
	Calls      []Call
	Results    []string // ids of the calls that the entry answers
	Amends     ID       // amend only
	Left       ID       // rewind only: the tip that was left
	Epoch      ID       // epoch only
	// Children of a fork are the branches that start here. Children of a join are the branches that
	// end here, in the order of their tips in Parents.
	Children []string
	Source   *Source
	Tokens   uint64 // as the agent reported it; 0 if it did not
	Body     *Body
}

const entryVersion = 1

// Encode returns the entry's header. It refuses every entry that DecodeEntry would refuse, with one
// exception: the body may be too small for its nonce, because the nonce is derived from such a
// header.
func (e *Entry) Encode() ([]byte, error) {
	return encode("entry", entryVersion, e)
}

// DecodeEntry reads an entry's header. Encoding the result again gives the same bytes.
func DecodeEntry(b []byte) (*Entry, error) { return decode(b, "entry", entryVersion, &Entry{}) }

func (e *Entry) lines(c *Lines) {
	Each(c, "parent", &e.Parents, (*Lines).ID)
	c.Must("seq").Number(&e.Seq)
	c.Must("session").Name(&e.Session)
	c.Must("kind").Word(&e.Kind)
	c.Opt("role", e.Role != "").Word(&e.Role)
	c.Opt("author", e.Author != "").Name(&e.Author)
	c.Must("time").Time(&e.Time)
	c.Opt("invocation", e.Invocation != "").Name(&e.Invocation)
	Each(c, "call", &e.Calls, func(c *Lines, call *Call) *Lines {
		return c.Name(&call.ID).Name(&call.Tool)
	})
	Each(c, "result", &e.Results, (*Lines).Name)
	c.Opt("amends", !e.Amends.IsZero()).ID(&e.Amends)
	c.Opt("left", !e.Left.IsZero()).ID(&e.Left)
	c.Opt("epoch", !e.Epoch.IsZero()).ID(&e.Epoch)
	Each(c, "child", &e.Children, (*Lines).Name)
	if c.Opt("source", e.Source != nil).Has() {
		if c.Reads() {
			e.Source = &Source{}
		}
		e.Source.fields(c)
	}
	c.Opt("tokens", e.Tokens > 0).Positive(&e.Tokens)
	c.optBody(&e.Body, true)
}

func (s *Source) fields(c *Lines) {
	c.Name(&s.Agent).Name(&s.Session).Name(&s.Message).Name(&s.Digest)
}

// check holds the rules that relate the fields of an entry. Encode and DecodeEntry both call it.
func (e *Entry) check() error {
	says, body, ok := entryRule(e.Kind)
	switch {
	case !ok:
		return fmt.Errorf("unknown kind: %.40q", e.Kind)
	case says != (e.Role != ""):
		return fmt.Errorf("%s: a role belongs to message, amend and note, and to them alone",
			e.Kind)
	case e.Role != "" && !IsRole(e.Role):
		return fmt.Errorf("unknown role: %.40q", e.Role)
	case body != (e.Body != nil):
		return fmt.Errorf("%s: body missing or not allowed", e.Kind)
	case (e.Kind == KindAmend) == e.Amends.IsZero():
		return fmt.Errorf("%s: amends belongs in an amend, and nowhere else", e.Kind)
	case (e.Kind == KindRewind) == e.Left.IsZero():
		return fmt.Errorf("%s: left belongs in a rewind, and nowhere else", e.Kind)
	case (e.Kind == KindEpoch) == e.Epoch.IsZero():
		return fmt.Errorf("%s: epoch belongs in an epoch, and nowhere else", e.Kind)
	case e.Kind == KindFork && len(e.Children) == 0:
		return errors.New("fork: no child")
	case e.Kind != KindFork && e.Kind != KindJoin && len(e.Children) > 0:
		return fmt.Errorf("%s: child belongs to fork and join, and to them alone", e.Kind)
	case e.Kind == KindJoin && (len(e.Parents) < 2 || len(e.Children) != len(e.Parents)-1):
		return errors.New("join: two parents at least, and a child for each but the first")
	case e.Kind != KindJoin && len(e.Parents) > 1:
		return fmt.Errorf("%s: one parent at most", e.Kind)
	case e.Kind == KindMessage && e.Seq == 0:
		return errors.New("message: seq counts from 1")
	case (len(e.Calls) > 0 || len(e.Results) > 0) && !says:
		return fmt.Errorf("%s: calls and results belong to what is said", e.Kind)
	case e.Source != nil && (len(e.Source.Digest) != 16 || !isLowerHex(e.Source.Digest)):
		return fmt.Errorf("source: bad digest: %.40q", e.Source.Digest)
	case e.Time.Nanosecond()%int(time.Millisecond) != 0 || e.Time.UTC().Year() < 0 ||
		e.Time.UTC().Year() > 9999:
		return errors.New("time: not a whole millisecond of the years 0 to 9999")
	}
	return nil
}

// entryRule says whether an entry of a kind has a role (says), and whether it has a body. ok is
// false for an unknown kind.
func entryRule(kind string) (says, body, ok bool) {
	switch kind {
	case KindMessage, KindAmend, KindNote:
		return true, true, true
	case KindMask, KindReplace:
		return false, true, true
	case KindFork, KindJoin, KindRewind, KindEpoch:
		return false, false, true
	}
	return false, false, false
}

// IsRole reports whether s is a role of a message: user, model, tool or system.
func IsRole(s string) bool {
	return s == "user" || s == "model" || s == "tool" || s == "system"
}

// Key returns the key under which an index finds entries of this source. It equals the result of
// SourceKey for the header of such an entry.
func (s *Source) Key() ([16]byte, error) {
	b, err := EncodeLines("entry", entryVersion, func(c *Lines) { s.fields(c.Must("source")) })
	if err != nil {
		return [16]byte{}, err
	}
	key, _ := SourceKey(b)
	return key, nil
}

// Links returns the parents first, so that the first len(e.Parents) links are theirs.
func (e *Entry) Links() []Link {
	list := make([]Link, 0, len(e.Parents)+3)
	for _, id := range e.Parents {
		list = append(list, Link{id, EntryKind})
	}
	return links(append(list, Link{e.Amends, EntryKind}, Link{e.Left, EntryKind},
		Link{e.Epoch, EpochKind})...)
}

// IsTime reports whether a header can hold the time of a message: milliseconds of the years 0 to
// 9999 in UTC. The zero time stands for none.
func IsTime(t time.Time) bool {
	t = t.UTC().Truncate(time.Millisecond)
	return !t.IsZero() && t.Year() >= 0 && t.Year() <= 9999
}
