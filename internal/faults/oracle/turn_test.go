package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text is a message of which no other has the last word.
func (p *party) text() string {
	topics := []string{"the parcel depot and its route", "the oven, flour and a recipe",
		"the railway signal at the junction"}
	p.said++
	return fmt.Sprintf("%s %d asks about %s: xyl%s%dwombat", p.name, p.said,
		topics[p.rng.IntN(len(topics))], p.name, p.said)
}

// mine returns a session of the store's own, which may not exist yet.
func (p *party) mine() string {
	names := append(p.sessions(false), "work")
	return names[p.rng.IntN(len(names))]
}

// changes runs a command that moves sessions, and may refuse to.
func (p *party) changes(args ...string) *served {
	r := p.do(p.rng.IntN(2) == 0, args...)
	p.texts(strings.Join(args, " "))
	return r
}

// stays runs a command that changes no session of the store.
func (p *party) stays(args ...string) *served {
	r := p.do(true, args...)
	if r.Code > 0 {
		p.fails("ctx %s: exit code %d: %s", strings.Join(args, " "), r.Code, r.Err)
	}
	p.keeps(strings.Join(args, " "))
	return r
}

func (p *party) append() { p.say(p.mine(), 1+p.rng.IntN(8)) }

func (p *party) say(session string, n int) {
	var lines strings.Builder
	for range n {
		fmt.Fprintf(&lines, "{\"role\":\"user\",\"text\":%q}\n", p.text())
	}
	path := filepath.Join(p.dir, ".lines")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		p.Fatal(err)
	}
	p.changes("append", "-s", session, "--jsonl", path)
}

// transcript returns the name and the path of a session of Claude Code.
func (p *party) transcript(n int) (session, path string) {
	session = fmt.Sprintf("11111111-0000-4000-8000-%06d%06d", n, p.name[0])
	return session, filepath.Join(p.home, ".claude", "projects", slug(p.dir), session+".jsonl")
}

// grow adds to a transcript of Claude Code, and imports it again.
func (p *party) grow() {
	n := p.rng.IntN(len(p.records))
	session, path := p.transcript(n)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		p.Fatal(err)
	}
	record := func(number int) string { // of this store alone
		return fmt.Sprintf("22222222-0000-4000-8000-%02x%02d%08d", p.name[0], n, number)
	}
	for range 1 + p.rng.IntN(3) {
		parent := "null"
		if p.records[n] > 0 {
			parent = strconv.Quote(record(p.records[n]))
		}
		p.records[n]++
		fmt.Fprintf(f, `{"parentUuid":%s,"isSidechain":false,"cwd":%q,"sessionId":%q,`+
			`"version":"2.1.207","uuid":%q,"timestamp":"2026-03-01T08:%02d:%02d.000Z",`+
			`"type":"user","message":{"role":"user","content":%q}}`+"\n", parent, p.dir, session,
			record(p.records[n]), p.records[n]/60, p.records[n]%60, p.text())
	}
	if err := f.Close(); err != nil {
		p.Fatal(err)
	}
	if p.rng.IntN(2) == 0 {
		p.importAll()
		return
	}
	p.changes("import", "claude-code", path)
}

// importAll imports what the home has. A session that was removed stays removed.
func (p *party) importAll() {
	p.changes("import", "--all")
	for session := range p.removed {
		if _, there := p.now[session]; there {
			p.fails("import --all: the session %s was removed, and is there again", session)
		}
	}
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
	p.changes("session", "fork", from)
	name, _, _ := strings.Cut(from, "@")
	p.say(name, 1+p.rng.IntN(9))
}

func (p *party) forkAndJoin() {
	s := p.mine()
	if child := p.fork(s); child != "" && p.rng.IntN(4) > 0 {
		p.changes("branch", "join", "-s", s, "main", child)
	}
}

// fork begins a branch and says something in it.
func (p *party) fork(session string) string {
	child := fmt.Sprintf("child-%d", p.said)
	if p.do(false, "branch", "fork", "-s", session, "main", child).Code != 0 {
		return ""
	}
	for range p.rng.IntN(4) {
		p.do(false, "append", "-s", session, "-b", child, "--role", "user", "-m", p.text())
	}
	p.texts("append to a branch")
	return child
}

func (p *party) joinOther() {
	if others := p.sessions(true); len(others) > 0 {
		p.changes("branch", "join", "-s", p.mine(), "main", others[p.rng.IntN(len(others))])
	}
}

func (p *party) rewind() {
	p.changes("rewind", "-s", p.mine(), fmt.Sprintf("@~%d", p.rng.IntN(8)))
}

func (p *party) undo() { p.undoOf(p.mine()) }

// undoOf takes the last change of a session back. Where a compaction is newer, it means the change
// before.
func (p *party) undoOf(session string) {
	r := p.do(false, "undo", "-s", session)
	if meant := meantUndo.FindStringSubmatch(r.Err); r.Code == 12 && meant != nil {
		p.do(false, "undo", "-s", session, meant[1])
	}
	p.texts("undo -s " + session)
}

var meantUndo = regexp.MustCompile(`ctx undo -s \S+ (\d+)`)

func (p *party) redo() { p.changes("redo", "-s", p.mine()) }

// backAndForth does a few things in one session, as people do who are not content.
func (p *party) backAndForth() {
	s, child := p.mine(), ""
	for range 4 + p.rng.IntN(8) {
		switch p.rng.IntN(9) {
		case 0, 1:
			p.say(s, 1+p.rng.IntN(6))
		case 2:
			if child = p.fork(s); p.rng.IntN(2) == 0 {
				break
			}
			fallthrough
		case 3:
			if child != "" {
				p.changes("branch", "join", "-s", s, "main", child)
			}
		case 4:
			p.changes("rewind", "-s", s, fmt.Sprintf("@~%d", p.rng.IntN(8)))
		case 5, 6, 7:
			p.undoOf(s)
		default:
			p.changes("redo", "-s", s)
		}
	}
	p.sound()
}

// sound fails if fsck finds something.
func (p *party) sound() {
	p.Helper()
	if r := p.do(false, "fsck"); r.Code != 0 {
		p.fails("fsck: exit code %d: %s%s", r.Code, r.Out, r.Err)
	}
}

func (p *party) remove() {
	others := p.sessions(true)
	session := p.mine()
	if len(others) > 0 && p.rng.IntN(2) == 0 {
		session = others[p.rng.IntN(len(others))]
	}
	p.removeOne(session)
}

// removeOne removes a session.
func (p *party) removeOne(session string) {
	p.gone[session] = true
	for _, other := range p.stores {
		p.gone[session+"@"+other.name] = true // "work" may stand for it
	}
	before := p.sessions(true)
	r := p.changes("session", "rm", "--force", session)
	after := p.sessions(true)
	for _, other := range before {
		if !slices.Contains(after, other) {
			p.stayAway[other] = true
		}
	}
	if r.Code == 0 && strings.HasPrefix(session, "11111111-") {
		p.removed[session] = true
	}
}

// choose returns a message that has its words: of the store's own sessions, or what it has said and
// no session has any more.
func (p *party) choose() (r record, ok bool) {
	if p.rng.IntN(3) == 0 {
		return p.chooseOwn()
	}
	var all []record
	for _, session := range slices.Sorted(maps.Keys(p.now)) {
		for _, r := range p.now[session] {
			if r.Text != nil {
				all = append(all, r)
			}
		}
	}
	return p.oneOf(all)
}

// chooseOwn returns a message that the store has said, rather one of the last.
func (p *party) chooseOwn() (r record, ok bool) {
	var all []record
	for id, text := range p.own {
		if !p.forgot[id] {
			all = append(all, record{ID: id, Text: &text})
		}
	}
	slices.SortFunc(all, func(a, b record) int { return number(*b.Text) - number(*a.Text) })
	if p.rng.IntN(2) == 0 {
		all = all[:min(len(all), 4)]
	}
	return p.oneOf(all)
}

// newest returns the message that the store has said last.
func (p *party) newest() (newest record, ok bool) {
	for id, text := range p.own {
		if !p.forgot[id] && (!ok || number(text) > number(*newest.Text)) {
			newest, ok = record{ID: id, Text: &text}, true
		}
	}
	return newest, ok
}

// number is that of a text.
func number(text string) (n int) {
	_, _ = fmt.Sscanf(text[1:], "%d", &n)
	return n
}

func (p *party) oneOf(list []record) (r record, ok bool) {
	if len(list) == 0 {
		return r, false
	}
	return list[p.rng.IntN(len(list))], true
}

// forgets notes that a message is forgotten.
func (p *party) forgets(r record) {
	p.forgot[r.ID] = true
	p.forgotten++
	if _, own := p.own[r.ID]; own {
		words := strings.Fields(*r.Text)
		p.secret[r.ID] = secret{p.name, words[len(words)-1]}
	}
}

// forget forgets a message, by whomever it was said, forgetOwn one of the store's own, and
// forgetNewest the last of these.
func (p *party) forget() {
	if r, ok := p.choose(); ok {
		p.forgetOne(r)
	}
}

func (p *party) forgetOwn() {
	if r, ok := p.chooseOwn(); ok {
		p.forgetOne(r)
	}
}

func (p *party) forgetNewest() {
	if r, ok := p.newest(); ok {
		p.forgetOne(r)
	}
}

func (p *party) forgetOne(r record) {
	args := []string{"forget", "--force", r.ID}
	if p.rng.IntN(3) == 0 {
		args = append(args, "--remote")
		clear(p.shares) // it pushes, and says less than a push does
	}
	known := p.forgot[r.ID]
	p.forgot[r.ID] = true // from its begin on
	before := p.now
	done := p.do(true, args...)
	if done.Code == -1 {
		done = p.do(false, args...) // whether or not it had begun
	}
	switch done.Code {
	case 0, 14:
		p.forgets(r)
	case 1, 15:
		if _, own := p.own[r.ID]; own && p.has(r.ID) {
			p.fails("a forget of %.12s: exit code %d: %s", r.ID, done.Code, done.Err)
		}
		p.forgot[r.ID] = known // gc has removed it
	default:
		p.fails("a forget of %.12s: exit code %d: %s", r.ID, done.Code, done.Err)
	}
	p.texts("forget")
	for session, list := range before {
		for i, was := range list {
			if now := p.now[session]; i >= len(now) || now[i].ID != was.ID ||
				was.ID != r.ID && !same(now[i].Text, was.Text) {
				p.fails("a forget of %.12s changed %.12s of %s", r.ID, was.ID, session)
				return
			}
		}
	}
	p.silent()
	switch p.rng.IntN(4) {
	case 0:
		p.push()
	case 1:
		p.push()
		for _, other := range p.stores {
			if other != p {
				other.pull()
			}
		}
	}
}

// has reports whether one of the own sessions has a message.
func (p *party) has(id string) bool {
	for _, list := range p.now {
		for _, r := range list {
			if r.ID == id {
				return true
			}
		}
	}
	return false
}

// beside runs commands while another one is at work. Locks make some of them wait.
func (p *party) beside() {
	p.say("work", 1)
	r, ok := p.choose()
	if p.rng.IntN(2) == 0 {
		r, ok = p.newest()
	}
	if !ok || p.Failed() {
		return
	}
	other := p.stores[p.rng.IntN(len(p.stores))]
	at := p.anywhere()
	forget, push := []string{"forget", "--force", r.ID}, []string{"push", at.name}
	pull, compact := []string{"pull", at.name}, []string{"compact", "--all"}
	type one struct {
		p    *party
		args []string
	}
	var list []one
	switch p.rng.IntN(7) {
	case 0, 1:
		list = []one{{p, push}, {p, forget}, {p, push}}
	case 2, 3:
		list = []one{{p, forget}, {p, push}}
	case 4:
		list = []one{{p, push}, {other, pull}}
	case 5:
		list = []one{{p, compact}, {p, forget}}
	default:
		list = []one{{other, pull}, {p, forget}, {p, push}}
	}
	p.world.now = p.world.now.Add(time.Minute)
	c := list[0].p.command(list[0].args...)
	c.At = 1 + p.rng.IntN(p.steps[list[0].args[0]]+2)
	forgets := false
	for _, o := range list {
		forgets = forgets || o.args[0] == "forget"
		if o.p != list[0].p || o.args[0] != list[0].args[0] || len(c.Beside) > 0 {
			c.Beside = append(c.Beside, o.p.command(o.args...))
		}
	}
	list[0].p.note("%s: ctx %s: and beside it, at step %d:", list[0].p.name,
		strings.Join(list[0].args, " "), c.At)
	if forgets {
		p.forgets(r)
	}
	done := p.server.run(p, &c)
	p.logs, other.logs = nil, nil
	all := append([]served{*done}, done.Beside...)
	if len(all) != len(list) {
		p.Fatalf("%d results of %d commands", len(all), len(list))
	}
	for i, o := range list {
		p.tally.beside++
		o.p.judge(&all[i], o.args)
		switch {
		case all[i].Code == 1 && o.args[0] == "pull": // it took nothing in; the next one does
			o.p.must(o.args...)
		case all[i].Code == 15 && o.args[0] == "forget" && !p.has(r.ID): // gc has removed it
			delete(p.forgot, r.ID)
			delete(p.secret, r.ID)
		case all[i].Code != 0:
			o.p.fails("ctx %s, beside others: exit code %d: %s", strings.Join(o.args, " "),
				all[i].Code, all[i].Err)
		}
		if o.args[0] == "push" {
			delete(o.p.shares, at.name)
		}
	}
	p.texts("commands beside each other")
	other.texts("commands beside those of another store")
	p.silent()
	if forgets {
		p.push()
	}
}

func (p *party) collect() {
	args := []string{"gc"}
	if p.rng.IntN(3) == 0 {
		args = append(args, "--best")
	}
	p.stays(args...)
}

// wait lets days pass, after which gc may drop the log of before.
func (p *party) wait() { p.world.now = p.world.now.AddDate(0, 0, 1+p.rng.IntN(4)) }

func (p *party) push() { p.pushTo(p.anywhere()) }

func (p *party) pushTo(at *place) {
	r := p.stays("push", at.name)
	delete(p.shares, at.name)
	if r.Code == 0 {
		p.pushes++
		p.shares[at.name] = shared(maps.Clone(p.now))
		p.unsaid(at)
		p.copied(at)
	}
}

func (p *party) pull() { p.pullFrom(p.anywhere()) }

func (p *party) pullFrom(at *place) {
	for _, session := range p.sessions(true) {
		delete(p.stayAway, session) // an undo has brought it back
	}
	r := p.stays("pull", at.name)
	for _, session := range p.sessions(true) {
		if p.stayAway[session] {
			p.fails("pull brought %s back, which was removed", session)
		}
	}
	p.silent()
	if r.Code == 0 {
		p.pulls++
		p.upToDate(at)
		p.copied(at)
	}
}

// pushOften pushes more often than a store joins its files on the remote, and others pull at times.
func (p *party) pushOften() {
	at := p.anywhere()
	if at.git {
		return
	}
	for n := range 64 {
		for _, args := range [][]string{
			{"append", "-s", "often", "--role", "user", "-m", p.text()}, {"push", at.name}} {
			c := p.command(args...)
			r := p.server.run(p, &c)
			p.judge(r, args)
			if r.Code != 0 {
				p.fails("%s: exit code %d: %s", args[0], r.Code, r.Err)
			}
		}
		p.logs = nil
		if other := p.stores[p.rng.IntN(len(p.stores))]; other != p && n%8 == 0 &&
			p.rng.IntN(8) == 0 {
			other.stays("pull", at.name)
		}
		if p.Failed() {
			return
		}
	}
	p.texts("pushes")
	p.pushTo(at)
	for _, other := range p.stores {
		if other != p {
			other.pullFrom(at)
		}
	}
}

// clone has somebody new take in everything.
func (p *party) clone() {
	dir, at := filepath.Join(p.dir, ".clone"), p.anywhere()
	if _, err := os.Stat(at.root); err != nil {
		return // nobody has pushed yet, and clone says so
	}
	defer os.RemoveAll(dir)
	if r := p.do(false, "clone", at.url, dir); r.Code != 0 {
		p.fails("clone: exit code %d: %s", r.Code, r.Err)
		return
	}
	p.must("-C", dir, "fsck")
}
