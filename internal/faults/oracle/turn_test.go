package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/faults/program"
)

// turn does one thing that a person does.
func (p *party) turn() {
	switch n := p.rng.IntN(100); {
	case n < 20:
		p.append()
	case n < 24:
		p.grow()
	case n < 30:
		p.compact()
	case n < 34:
		p.evict()
	case n < 40:
		p.goOn()
	case n < 44:
		p.forkAndJoin()
	case n < 48:
		p.joinOther()
	case n < 51:
		p.changes("rewind", "-s", p.mine(), fmt.Sprintf("@~%d", p.rng.IntN(4)))
	case n < 55:
		p.changes("undo", "-s", p.mine())
	case n < 57:
		p.changes("redo", "-s", p.mine())
	case n < 59:
		session := p.any()
		p.gone[session] = true
		p.changes("session", "rm", "--force", session)
	case n < 67:
		p.forget()
	case n < 69:
		p.beside()
	case n < 74:
		p.stays("gc")
	case n < 86:
		p.stays("pull")
	case n < 98:
		p.stays("push")
	default:
		p.clone()
	}
}

// record is what a session has in one place.
type record struct {
	ID   string
	Text *string
	Kind string
}

// sessions returns the sessions of the store, or those of others.
func (p *party) sessions(others bool) (names []string) {
	for line := range strings.Lines(p.must("session", "list", "--json")) {
		var s struct{ Session string }
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			p.Fatal(err)
		}
		if s.Session != "" && strings.Contains(s.Session, "@") == others {
			names = append(names, s.Session)
		}
	}
	return names
}

// mine returns a session of the store's own, which may not exist yet.
func (p *party) mine() string {
	names := append(p.sessions(false), "work")
	return names[p.rng.IntN(len(names))]
}

func (p *party) any() string {
	names := append(p.sessions(true), p.mine())
	return names[p.rng.IntN(len(names))]
}

func (p *party) log(session string) (list []record) {
	for line := range strings.Lines(p.must("log", "-s", session, "--json")) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			p.Fatal(err)
		}
		if r.Kind == "message" {
			list = append(list, r)
		}
	}
	return list
}

// look reads what the store's own sessions say, and learns what it has said itself: what it has
// that nobody else has said.
func (p *party) look() map[string][]record {
	now := map[string][]record{}
	for _, session := range p.sessions(false) {
		now[session] = p.log(session)
		for _, r := range now[session] {
			if r.Text != nil && strings.HasPrefix(*r.Text, p.name+" ") {
				p.own[r.ID] = *r.Text
			}
		}
	}
	return now
}

// keeps fails unless the own sessions are as they were, but for what others have said and
// forgotten.
func (p *party) keeps(what string) {
	p.Helper()
	before, now := p.now, p.look()
	p.now = now
	for session, list := range before {
		if len(now[session]) != len(list) {
			p.Errorf("seed %d: %s: %s has %d messages after %s, and had %d", p.seed, p.name,
				session, len(now[session]), what, len(list))
			return
		}
		for i, was := range list {
			is := now[session][i]
			gone := was.Text != nil && is.Text == nil && p.own[was.ID] == "" && p.forgot[was.ID]
			if is.ID != was.ID || !gone && !same(is.Text, was.Text) {
				p.Errorf("seed %d: %s: %s after %s: message %d was %.12s %s, and is %.12s %s", p.seed,
					p.name, session, what, i, was.ID, said(was.Text), is.ID, said(is.Text))
				return
			}
		}
	}
}

func same(a, b *string) bool { return said(a) == said(b) }

func said(text *string) string {
	if text == nil {
		return "(forgotten)"
	}
	return *text
}

// texts fails if a message of the own sessions has other words than before.
func (p *party) texts(what string) {
	p.Helper()
	p.now = p.look()
	for session, list := range p.now {
		for _, r := range list {
			want, own := p.own[r.ID]
			if own && !p.forgot[r.ID] && (r.Text == nil || *r.Text != want) {
				p.Errorf("seed %d: %s: %s after %s: %.12s says %s, and was %s", p.seed, p.name,
					session, what, r.ID, said(r.Text), want)
			}
		}
	}
}

// stays runs a command that changes no session of the store, and may be killed.
func (p *party) stays(args ...string) {
	r := p.do(true, args...)
	if r.Code > 0 {
		p.Errorf("seed %d: %s: %v", p.seed, p.name, r)
	}
	p.keeps(strings.Join(args, " "))
}

// changes runs a command that moves sessions, and may refuse to.
func (p *party) changes(args ...string) {
	p.do(false, args...)
	p.texts(strings.Join(args, " "))
}

func (p *party) append() {
	var lines strings.Builder
	for range 1 + p.rng.IntN(8) {
		fmt.Fprintf(&lines, "{\"role\":\"user\",\"text\":%q}\n", p.text())
	}
	path := filepath.Join(p.Dir, ".lines")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		p.Fatal(err)
	}
	p.do(true, "append", "-s", p.mine(), "--jsonl", path)
	p.texts("append")
}

// grow adds to a transcript of Claude Code, and imports it again.
func (p *party) grow() {
	path := filepath.Join(p.Dir, ".transcript.jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		p.Fatal(err)
	}
	session := fmt.Sprintf("11111111-0000-4000-8000-%012d", p.name[0])
	for range 1 + p.rng.IntN(3) {
		parent := "null"
		if p.file > 0 {
			parent = fmt.Sprintf(`"22222222-0000-4000-8000-%012d"`, p.file)
		}
		p.file++
		fmt.Fprintf(f, `{"parentUuid":%s,"isSidechain":false,"cwd":%q,"sessionId":%q,`+
			`"version":"2.1.207","uuid":"22222222-0000-4000-8000-%012d",`+
			`"timestamp":"2026-03-01T08:%02d:%02d.000Z","type":"user",`+
			`"message":{"role":"user","content":%q}}`+"\n", parent, p.Dir, session, p.file,
			p.file/60, p.file%60, p.text())
	}
	if err := f.Close(); err != nil {
		p.Fatal(err)
	}
	p.do(true, "import", "claude-code", path)
	p.texts("import")
}

func (p *party) compact() {
	args := []string{"compact", "--all"}
	if p.rng.IntN(2) == 0 {
		args = []string{"compact", "-s", p.mine()}
	}
	p.do(true, args...)
	p.keeps("compact")
}

func (p *party) evict() {
	for line := range strings.Lines(p.must("forest", "--json")) {
		var c struct{ ID, State string }
		if json.Unmarshal([]byte(line), &c) == nil && c.State == "live" && p.rng.IntN(2) == 0 {
			p.do(false, "evict", c.ID)
		}
	}
	p.keeps("evict")
}

// goOn begins a session where one of another store is, and says something in it.
func (p *party) goOn() {
	others := p.sessions(true)
	if len(others) == 0 {
		return
	}
	from := others[p.rng.IntN(len(others))]
	p.do(false, "session", "fork", from)
	p.texts("session fork")
	name, _, _ := strings.Cut(from, "@")
	for range p.rng.IntN(3) {
		p.do(false, "append", "-s", name, "--role", "user", "-m", p.text())
	}
	p.texts("append")
}

func (p *party) forkAndJoin() {
	s, child := p.mine(), fmt.Sprintf("child-%d", p.said)
	if !p.do(false, "branch", "fork", "-s", s, "main", child).OK() {
		return
	}
	for range p.rng.IntN(4) {
		p.do(false, "append", "-s", s, "-b", child, "--role", "user", "-m", p.text())
	}
	p.do(true, "branch", "join", "-s", s, "main", child)
	p.texts("branch join")
}

func (p *party) joinOther() {
	if others := p.sessions(true); len(others) > 0 {
		p.do(false, "branch", "join", "-s", p.mine(), "main", others[p.rng.IntN(len(others))])
		p.texts("branch join")
	}
}

// choose returns a message of the store's own sessions that has its words.
func (p *party) choose() (r record, ok bool) {
	var all []record
	for _, session := range slices.Sorted(maps.Keys(p.now)) {
		for _, r := range p.now[session] {
			if r.Text != nil {
				all = append(all, r)
			}
		}
	}
	if len(all) == 0 {
		return r, false
	}
	return all[p.rng.IntN(len(all))], true
}

// note remembers what is about to be forgotten.
func (p *party) note(r record) {
	p.forgot[r.ID] = true
	if _, own := p.own[r.ID]; own {
		words := strings.Fields(*r.Text)
		p.secret[r.ID] = secret{p.name, words[len(words)-1]}
	}
}

// forget forgets a message, by whomever it was said.
func (p *party) forget() {
	r, ok := p.choose()
	if !ok {
		return
	}
	args := []string{"forget", "--force", r.ID}
	if p.rng.IntN(3) == 0 {
		args = append(args, "--remote")
	}
	p.note(r)
	before := p.now
	if r := p.do(true, args...); r.Code == -1 {
		p.do(false, args...) // whether or not it had begun
	}
	p.texts("forget")
	for session, list := range before {
		for i, was := range list {
			if now := p.now[session]; i >= len(now) || now[i].ID != was.ID ||
				was.ID != r.ID && !same(now[i].Text, was.Text) {
				p.Errorf("seed %d: %s: a forget of %.12s changed %.12s of %s", p.seed, p.name, r.ID,
					was.ID, session)
				return
			}
		}
	}
}

// beside pushes while a forget is at work.
func (p *party) beside() {
	p.do(false, "append", "-s", "work", "--role", "user", "-m", p.text())
	p.texts("append")
	r, ok := p.choose()
	if !ok {
		return
	}
	p.note(r)
	said := make(chan program.Result)
	go func() { said <- p.Run("forget", "--force", r.ID) }()
	push := p.Run("push")
	forget := <-said
	p.judge(push)
	p.judge(forget)
	if !forget.OK() {
		p.Errorf("seed %d: %s: a forget beside a push: %v", p.seed, p.name, forget)
	}
	p.texts("forget beside a push")
}

// clone has somebody new take in everything.
func (p *party) clone() {
	dir := filepath.Join(p.Dir, ".clone")
	defer os.RemoveAll(dir)
	if r := p.do(false, "clone", p.place, dir); !r.OK() {
		p.Errorf("seed %d: %s: %v", p.seed, p.name, r)
		return
	}
	p.must("-C", dir, "fsck")
}
