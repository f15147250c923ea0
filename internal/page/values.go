package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Session is what the page of a session shows.
type Session struct {
	Name, Branch, Title string
	Agent               string // "" if it is not known
	Store               string // id of the store
	Operation           uint64 // the newest one that the page knows
	First, Last         time.Time
	Messages, Tokens    int // of the branch; tokens are an estimate
	Told                []Told
	Turns               []Turn
	Clusters            []Cluster
	Others              int // clusters that have no message of the branch
	Seen                []Seen
	Marks               []Mark
	Left                map[string]int // what sanitizing took out when the page was made, by class
	Holes               int            // messages whose words are gone
	Entries             string         // the embedded entries; "" for none
	Embedded            int            // number of embedded objects
	Live                bool           // a program serves it, and it watches for news
}

// Told is a part of what the model was told before the conversation.
type Told struct{ Key, Text string }

// Turn is a prompt and what came of it, in order.
type Turn struct{ Items []Item }

// Item is a message, or an event between messages.
type Item struct {
	ID     string // 64 digits
	Digest string // of the stored words, 64 digits; "" for none
	Kind   string // message, or the kind of an event
	Role   string // of a message
	Author string
	Time   time.Time
	Seq    uint64 // of a message
	Pieces []Piece
	Aside  []string // thoughts
	Hole   string   // why there are no words, in words
	Note   string   // what there is to say of the message, such as that it was amended
	Text   string   // of an event
	Left   []Item   // of a rewind: what was taken back
	Tokens int
	Failed bool // some call in it failed
}

// Cluster is a cluster of the forest with the members that the branch has.
type Cluster struct {
	ID, Label, State string
	Count            int // members, also of other sessions
	First, Last      time.Time
	Summaries        []Summary
	Members          []Ref // that the branch has, in order
}

// Ref leads to a message on the page.
type Ref struct {
	ID  string
	Seq uint64
}

// Summary is a text that stands for members of a cluster.
type Summary struct {
	ID, By    string
	Sentences []Sentence
	More      int // sentences that are not shown
}

// Sentence is a sentence of a summary. From is the message that it comes from; "" for one of a
// model, which comes from all members.
type Sentence struct{ From, Text string }

// Seen says what the branch showed its model from a message on.
type Seen struct {
	Tip       uint64 // number of the newest message when it began
	Through   uint64 // messages up to it are only in summaries
	Pin       string // the forest that was shown; "" for none
	Operation uint64
	Verb      string
	Time      time.Time
}

// Mark is an event on the time line.
type Mark struct {
	Seq  uint64
	Kind string // leave, compact, rewind, fork, join or epoch
	Text string
}

// Project is what the page of a project shows.
type Project struct {
	Name      string // of the directory
	Store     string
	Operation uint64
	Sessions  []SessionRow
	Files     []FileRow
	Days      []Day // with messages, oldest first
	Left      map[string]int
	Live      bool // a program serves it, and it watches for news
}

// SessionRow is a session in the list. Lines are those of its brief; there are none of old
// sessions.
type SessionRow struct {
	Name, Title, Agent, Git string
	Labels                  string // "pinned", and tags
	Href                    string // the name of its page; "" for none
	First, Last             time.Time
	Messages                int
	Lines                   []Line
}

// Line is a line of a brief. Section says what it is of.
type Line struct{ Section, Text string }

// FileRow is a file that calls have named.
type FileRow struct {
	Name            string
	Calls, Sessions int
	Last            time.Time
}

// Day is a day with messages.
type Day struct {
	Day      string // 2006-01-02
	Messages int
}

// Piece is a part of the words of a message. The texts of all pieces, joined by line feeds, are the
// words that `ctx expand` prints.
type Piece struct {
	Kind   string // PieceText, PieceCall or PieceResult
	Tool   string // of a call or a result; "" if it is not known
	File   string // that a call names; "" for none
	Text   string
	Args   json.RawMessage // of a call
	Failed bool            // of a result
}

// The kinds of pieces.
const (
	PieceText   = "t"
	PieceCall   = "c"
	PieceResult = "r"
)

// anchorLen is the number of digits of an id that name a message in an address. 48 bits tell
// hundreds of thousands of messages apart.
const anchorLen = 12

// Anchor returns the digits of an id that name a message or another object on a page.
func Anchor(id string) string { return id[:anchorLen] }

// Minute is the form of a time on a page.
const Minute = "2006-01-02 15:04"

// Heading is what the page of a session is called: its title, or its name.
func (s *Session) Heading() string { return cmp.Or(s.Title, s.Name) }

// Heading is what a session is called in the list.
func (s *SessionRow) Heading() string { return cmp.Or(s.Title, s.Name) }

// Part is some items of a turn, in order. Those that are steps on the way are folded.
type Part struct {
	Items  []Item
	Folded bool
}

// Parts returns the parts of a turn: what is before the steps, with the prompt, the steps, the last
// words, and what came after them. None is empty.
func (t *Turn) Parts() (list []Part) {
	items, asked := t.Items, 0
	for asked < len(items) &&
		(items[asked].Kind != format.KindMessage || items[asked].Role == "user") {
		asked++
	}
	end := len(items)
	for end > asked && items[end-1].Kind != format.KindMessage {
		end--
	}
	answer := end - 1
	if end == asked || !items[answer].isAnswer() {
		answer, end = len(items), len(items)
	}
	for _, p := range []Part{{items[:asked], false}, {items[asked:answer], true},
		{items[answer:end], false}, {items[end:], true}} {
		if len(p.Items) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// isAnswer reports whether an item is words for the user, without calls.
func (it *Item) isAnswer() bool {
	return it.Kind == format.KindMessage && it.Role != "tool" &&
		!slices.ContainsFunc(it.Pieces, func(p Piece) bool { return p.Kind != PieceText })
}

// Steps says what steps are: how many, of which tools, and how many of them failed.
type Steps struct{ Count, Tools, Rest, Failed string }

// mostTools is how many tools a line about steps names.
const mostTools = 4

// Steps says in a line what the items of a part are.
func (p *Part) Steps() (line Steps) {
	calls, failed, said, events := 0, 0, 0, 0
	tools, files := map[string]int{}, map[string]bool{}
	for i := range p.Items {
		it := &p.Items[i]
		if it.Kind != format.KindMessage {
			events++
			continue
		}
		for _, piece := range it.Pieces {
			switch {
			case piece.Kind == PieceCall:
				calls++
				tools[piece.Tool]++
				if piece.File != "" {
					files[piece.File] = true
				}
			case piece.Kind == PieceText && it.Role != "tool":
				said++
			}
			if piece.Failed {
				failed++
			}
		}
	}
	switch {
	case events == len(p.Items):
		return Steps{Count: Count(events, "event")}
	case calls == 0:
		line.Count, events = Count(len(p.Items), "step"), 0
	default:
		line.Count, line.Tools = Count(calls, "call"), mostUsed(tools)
	}
	for _, more := range []struct {
		n    int
		text string
	}{{len(files), Count(len(files), "file")}, {said, Count(said, "remark") + " between"},
		{events, Count(events, "event")}} {
		if more.n > 0 {
			line.Rest += " · " + more.text
		}
	}
	if failed > 0 {
		line.Failed = Count(failed, "error")
	}
	return line
}

// mostUsed names the tools that were called most often.
func mostUsed(tools map[string]int) string {
	names := slices.SortedFunc(maps.Keys(tools), func(a, b string) int {
		return cmp.Or(tools[b]-tools[a], strings.Compare(a, b))
	})
	list := slices.Clone(names[:min(len(names), mostTools)])
	for i, name := range list {
		if tools[name] > 1 {
			list[i] = fmt.Sprintf("%s ×%d", name, tools[name])
		}
	}
	if len(names) > mostTools {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// Count returns a number of things in words, as in "1 message" and "1,000 messages".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Thousands(n) + " " + what + "s"
}

// Thousands returns a number with a comma before every three digits.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
