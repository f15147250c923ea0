package document

import "github.com/gemini-ctx/ctx/session"

// Session is a session as session list and show give it.
type Session struct {
	V        int      `json:"v"`
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

// SessionOf returns a session with its branches.
func SessionOf(s session.Session) Session {
	d := Session{V: 1, Session: s.Name, Head: s.Head, Parent: ParentOf(s.Parent)}
	for _, b := range s.Branches {
		d.Messages = max(d.Messages, b.Seq)
		d.Branches = append(d.Branches, Branch{
			Name: b.Name, Tip: b.Value.ID.String(), Seq: b.Seq, Frontier: b.Value.Frontier, Through: b.Value.Through,
			Pin: IDText(b.Value.Pin), Tail: b.Seq - b.Value.Through, Open: b.Open, own: b.Own,
		})
	}
	return d
}

// Parent says in JSON who a session works for.
type Parent struct {
	Session string `json:"session"`
	Call    string `json:"call"`
	Apart   bool   `json:"apart"`
}

// ParentOf returns who a session works for; nil for nobody.
func ParentOf(p *session.Parent) *Parent {
	if p == nil {
		return nil
	}
	d := Parent(*p)
	return &d
}
