// What an agent says of a whole session stands in fields of its records that ctx keeps with
// messages: the title of the session, and the branch of git. An agent is a row of finders. Begin
// with SessionSaidOf.

package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Said is what one message tells of its session. A field that it does not tell is "".
type SessionSaid struct {
	Name  string // the title that a person gave, which a later title of the agent does not replace
	Title string // the title that the agent made
	Git   string // the branch of git that was checked out
}

// All reports whether there is nothing left to ask an older message for.
func (s *SessionSaid) All() bool { return s.Name != "" && s.Git != "" }

// Older adds what an older message tells, where no newer one has told it. A title that a client
// gives every session until it knows a better one tells nothing.
func (s *SessionSaid) Older(o SessionSaid) {
	title := strings.ToLower(o.Title)
	if slices.Contains([]string{"new session", "untitled session", "new chat", "new thread",
		"new conversation", "new agent", "untitled"}, title) ||
		strings.HasPrefix(title, "new session - 20") {
		o.Title = ""
	}
	for _, p := range []struct{ own, older *string }{{&s.Name, &o.Name}, {&s.Title, &o.Title},
		{&s.Git, &o.Git}} {
		*p.own = cmp.Or(*p.own, *p.older)
	}
}

// finder reads one agent's fields. marks are texts of which one is in the parts of every message
// that tells something: without them the parts are not parsed.
type finder struct {
	marks []string
	git   string // the mark of the branch of git
	find  func(kept jsonvalue.Object, texts []string) SessionSaid
}

// finderOf returns the row of the agent in the source of a message; ok is false if it has none.
func finderOf(agent string) (f finder, ok bool) {
	switch agent {
	case "claude-code":
		return finder{[]string{`Title"`}, `"gitBranch"`, claude}, true
	case "codex":
		return finder{[]string{`"thread_name"`}, `"git"`, codex}, true
	case "opencode":
		return finder{[]string{`"session"`}, "", opencode}, true
	case "gemini-cli":
		return finder{[]string{`"summary"`}, "", ofDocument}, true
	case "qwen":
		return finder{[]string{`"customTitle"`}, "", qwen}, true
	case "copilot":
		return finder{[]string{`"session.title_changed"`}, "", copilot}, true
	case "continue", "kiro", "vscode", "amp", "zed", "crush", "cursor", "droid":
		return finder{[]string{`"title"`}, "", ofDocument}, true
	case "goose":
		return finder{[]string{`"working_dir"`}, "", goose}, true
	case "pi", "openclaw":
		return finder{[]string{`"session_info"`}, "", pi}, true
	}
	return finder{}, false
}

// Of returns what a message of an agent tells of its session. parts is the JSON array of its parts,
// as a reader of the message gave it, nil for none; of a text that is no JSON it may tell anything.
// Without git, the branch of git is not looked for, which costs less.
func SessionSaidOf(agent string, parts []byte, git bool) SessionSaid {
	f, ok := finderOf(agent)
	if !ok || parts == nil || !f.has(parts, git) {
		return SessionSaid{}
	}
	list, err := jsonvalue.ElementsWithin(parts)
	if err != nil {
		return SessionSaid{}
	}
	var texts []string
	var said SessionSaid
	for _, raw := range list {
		o := jsonvalue.AsObject(raw)
		if !o.True("thought") && o.Text("text") != "" {
			texts = append(texts, o.Text("text"))
		}
		if kept := o.Object(agent); kept != nil {
			newer := f.find(kept, texts)
			newer.Older(said)
			said = newer
		}
	}
	return said
}

// After returns what the records at the end of a transcript tell, which no message follows.
func SessionSaidAfter(agent string, list []json.RawMessage) SessionSaid {
	f, ok := finderOf(agent)
	if !ok || len(list) == 0 {
		return SessionSaid{}
	}
	return f.find(jsonvalue.Object{BeforeName: jsonvalue.Array(list)}, nil)
}

func (f *finder) has(parts []byte, git bool) bool {
	if git && f.git != "" && bytes.Contains(parts, []byte(f.git)) {
		return true
	}
	return slices.ContainsFunc(f.marks, func(mark string) bool {
		return bytes.Contains(parts, []byte(mark))
	})
}

// before calls each for the records that are kept with a message, the newest first.
func before(kept jsonvalue.Object, each func(jsonvalue.Object)) {
	list, _ := kept.Array(BeforeName)
	for i := len(list) - 1; i >= 0; i-- {
		each(jsonvalue.AsObject(json.RawMessage(list[i])))
	}
}

// SummaryOf returns the title in a "summary" record of older versions of Claude Code, and the
// message of which the session has the title: seldom one of the session with the record. of is ""
// for any other message.
func SummaryOf(agent string, parts []byte) (title, of string) {
	if agent != "claude-code" || !bytes.Contains(parts, []byte(`"leafUuid"`)) {
		return "", ""
	}
	list, _ := jsonvalue.ElementsWithin(parts)
	for _, raw := range list {
		o := jsonvalue.AsObject(raw)
		title = cmp.Or(title, o.Text("text"))
		if kept := o.Object(agent); kept.Text("type") == "summary" {
			of = kept.Text("leafUuid")
		}
	}
	return title, of
}

// claude reads records of Claude Code.
func claude(kept jsonvalue.Object, _ []string) (s SessionSaid) {
	before(kept, func(o jsonvalue.Object) {
		s.Older(SessionSaid{Name: o.Text("customTitle"), Title: o.Text("aiTitle")})
	})
	if s.Git = kept.Text("gitBranch"); s.Git == "HEAD" { // no branch is checked out
		s.Git = ""
	}
	return s
}

// ofDocument reads what is kept of a document with the session, or of a record about it.
func ofDocument(kept jsonvalue.Object, _ []string) (s SessionSaid) {
	before(kept, func(o jsonvalue.Object) {
		s.Older(SessionSaid{Title: cmp.Or(o.Text("sessionTitle"), o.Text("title"),
			o.Text("summary"))})
	})
	return s
}

// goose reads the record of a session. Newer ones have a name, which the agent finds unless the
// person has set it.
func goose(kept jsonvalue.Object, _ []string) (s SessionSaid) {
	before(kept, func(o jsonvalue.Object) {
		if o.Has("working_dir") {
			name := SessionSaid{Title: cmp.Or(o.Text("name"), o.Text("description"))}
			if o.True("user_set_name") {
				name.Name = o.Text("name")
			}
			s.Older(name)
		}
	})
	return s
}

func pi(kept jsonvalue.Object, _ []string) (s SessionSaid) {
	before(kept, func(o jsonvalue.Object) {
		if o.Text("type") == "session_info" {
			s.Older(SessionSaid{Name: o.Text("name")})
		}
	})
	return s
}

func codex(kept jsonvalue.Object, _ []string) (s SessionSaid) {
	before(kept, func(o jsonvalue.Object) {
		if p := o.Object("payload"); p.Text("type") == "thread_name_updated" {
			s.Older(SessionSaid{Title: p.Text("thread_name")})
		}
	})
	s.Git = kept.Object("payload").Object("git").Text("branch")
	return s
}

// qwen reads records that say whether the agent made the title itself.
func qwen(kept jsonvalue.Object, _ []string) (s SessionSaid) {
	before(kept, func(o jsonvalue.Object) {
		p := o.Object("systemPayload")
		if o.Text("subtype") != "custom_title" {
			return
		}
		if p.Text("titleSource") == "auto" {
			s.Older(SessionSaid{Title: p.Text("customTitle")})
		} else {
			s.Older(SessionSaid{Name: p.Text("customTitle")})
		}
	})
	return s
}

func copilot(kept jsonvalue.Object, _ []string) (s SessionSaid) {
	before(kept, func(o jsonvalue.Object) {
		if o.Text("type") == "session.title_changed" {
			s.Older(SessionSaid{Title: o.Object("data").Text("title")})
		}
	})
	return s
}

// opencode reads the note with the members of a session, whose text is the title.
func opencode(kept jsonvalue.Object, texts []string) (s SessionSaid) {
	if kept.Object("session") != nil && len(texts) > 0 {
		s.Older(SessionSaid{Title: texts[0]})
	}
	return s
}
