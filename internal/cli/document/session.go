package document

import (
	"time"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
)

// Session is a session with its branches.
type Session struct {
	Session  string   `json:"session"`
	Head     bool     `json:"head"`
	Messages uint64   `json:"messages"` // of its longest branch
	Branches []Branch `json:"branches"`
	Parent   *Parent  `json:"parent"` // who it works for
}

// Branch is a branch of a session.
type Branch struct {
	Name     string  `json:"branch"`
	Tip      string  `json:"tip"`
	Seq      uint64  `json:"seq"`
	Frontier uint64  `json:"frontier"`
	Through  uint64  `json:"through"`
	Pin      *string `json:"pin"`
	Tail     uint64  `json:"tail"`
	Open     bool    `json:"open,omitempty"` // a child of a fork that nobody has joined
	own      uint64
}

// Own is the number of messages that no other session counts.
func (s Session) Own() (n uint64) {
	for _, b := range s.Branches {
		n += b.own
	}
	return n
}

// SessionOf returns the document of a session.
func SessionOf(s sessions.Session) Session {
	d := Session{Session: s.Name, Head: s.Head, Parent: ParentOf(s.Parent)}
	for _, b := range s.Branches {
		d.Messages = max(d.Messages, b.Seq)
		d.Branches = append(d.Branches, Branch{
			Name: b.Name, Tip: b.Value.ID.String(), Seq: b.Seq, Frontier: b.Value.Frontier,
			Through: b.Value.Through,
			Pin:     IDText(b.Value.Pin), Tail: b.Seq - b.Value.Through, Open: b.Open, own: b.Own,
		})
	}
	return d
}

// Overview is a session with what a person recognizes it by.
type Overview struct {
	Session
	Title     *string  `json:"title"`
	TitleFrom *string  `json:"title_from"` // "user", "agent" or "prompt"
	Tags      []string `json:"tags"`
	Pinned    bool     `json:"pinned"`
	Agent     *string  `json:"agent"`
	GitBranch *string  `json:"git_branch"`
	First     *string  `json:"first"` // the time of the first message
	Last      *string  `json:"last"`  // the time of the newest message
	Also      *string  `json:"also"`  // the session of this store with the same beginning
}

// OverviewOf returns the document of a session.
func OverviewOf(o *sessions.Overview) Overview {
	d := Overview{
		Session: SessionOf(o.Session), Title: OrNull(o.Title),
		Tags: append([]string{}, o.About.Tags...), Pinned: o.About.Pinned, Agent: OrNull(o.Agent),
		GitBranch: OrNull(o.Git),
		First:     TimeOrNull(o.First), Last: TimeOrNull(o.Last), Also: OrNull(o.Also),
	}
	if o.Title != "" {
		from := "prompt"
		if o.About.Title != "" {
			from = "user"
		} else if o.Named {
			from = "agent"
		}
		d.TitleFrom = &from
	}
	return d
}

// TimeOrNull is a time in a document, or null where it is not known.
func TimeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return OrNull(TimeText(t))
}

// Parent is the session and the tool call that a session works for.
type Parent struct {
	Session string `json:"session"`
	Call    string `json:"call"`
	Apart   bool   `json:"apart"`
}

// ParentOf returns the document of a parent, and nil for nil.
func ParentOf(p *history.Parent) *Parent {
	if p == nil {
		return nil
	}
	d := Parent(*p)
	return &d
}
