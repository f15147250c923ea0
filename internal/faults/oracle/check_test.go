package oracle

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// record is what a session has in one place.
type record struct {
	ID   string
	Text *string
	Kind string
}

func same(a, b *string) bool { return said(a) == said(b) }

func said(text *string) string {
	if text == nil {
		return "(forgotten)"
	}
	return *text
}

// sessions returns the sessions of the store, or those of others.
func (p *party) sessions(others bool) (names []string) {
	p.Helper()
	if p.logs == nil {
		p.must("session", "list", "--json")
	}
	for name := range p.logs {
		if strings.Contains(name, "@") == others {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *party) log(session string) (list []record) {
	p.Helper()
	text := p.logs[session]
	if text == "" {
		text = p.must("log", "-s", session, "--json")
	}
	for line := range strings.Lines(text) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			p.Fatalf("seed %d: %s: log of %s: %s", p.seed, p.name, session, line)
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
	p.Helper()
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
			p.fails("%s has %d messages after %s, and had %d", session, len(now[session]), what,
				len(list))
			return
		}
		for i, was := range list {
			is := now[session][i]
			gone := was.Text != nil && is.Text == nil && p.own[was.ID] == "" && p.forgot[was.ID]
			if is.ID != was.ID || !gone && !same(is.Text, was.Text) {
				p.fails("%s after %s: message %d was %.12s %s, and is %.12s %s", session, what, i,
					was.ID, said(was.Text), is.ID, said(is.Text))
				return
			}
		}
	}
}

// texts fails if a message of the own sessions has other words than before.
func (p *party) texts(what string) {
	p.Helper()
	p.now = p.look()
	for session, list := range p.now {
		for _, r := range list {
			want, own := p.own[r.ID]
			if own && !p.forgot[r.ID] && (r.Text == nil || *r.Text != want) {
				p.fails("%s after %s: %.12s says %s, and was %s", session, what, r.ID,
					said(r.Text), want)
			}
		}
		if what != "import --all" {
			delete(p.removed, session)
		}
	}
}

// upToDate fails unless the store has, after a pull, what the others have put on the remote.
func (p *party) upToDate(at *place) {
	p.Helper()
	for _, owner := range p.stores {
		if there := owner.shares[at.name]; there != nil && owner != p && len(p.places) == 1 {
			p.hasOf(owner, there)
		}
	}
}

// hasOf compares what the store has of another one with what that one has. Words that somebody has
// forgotten may be missing.
func (p *party) hasOf(owner *party, there map[string][]record) {
	p.Helper()
	here := p.sessions(true)
	for _, name := range here {
		session, of, _ := strings.Cut(name, "@")
		if _, shared := there[session]; of == owner.name && !shared {
			p.fails("%s is here, which %s has no more", name, owner.name)
		}
	}
	for session, want := range there {
		name := session + "@" + owner.name
		if p.gone[name] && !slices.Contains(here, name) {
			continue // it was removed, and stays so unless that was undone
		}
		if !slices.Contains(here, name) {
			p.fails("%s of %s is not here", session, owner.name)
			continue
		}
		got := p.log(name)
		if len(got) != len(want) {
			p.fails("%d messages of %s's %s, which has %d", len(got), owner.name, session,
				len(want))
			continue
		}
		for i := range want {
			if got[i].ID != want[i].ID ||
				!same(got[i].Text, want[i].Text) && !p.forgot[want[i].ID] {
				p.fails("message %d of %s's %s is %.12s %s there, and %.12s %s here", i, owner.name,
					session, want[i].ID, said(want[i].Text), got[i].ID, said(got[i].Text))
			}
		}
	}
}

// settle brings everything to everybody, and checks all of it.
func (w *world) settle() {
	for range 3 {
		for _, p := range w.stores {
			for _, at := range w.places {
				p.must("pull", at.name)
				p.must("push", at.name)
			}
			p.keeps("pull, push")
		}
	}
	for _, p := range w.stores {
		p.must("gc")
		p.must("gc")
		p.keeps("gc")
		p.sound()
	}
	for _, owner := range w.stores {
		for _, other := range w.stores {
			if other != owner {
				other.hasOf(owner, owner.now)
			}
		}
	}
	w.nowhere()
	for _, p := range w.stores {
		for _, session := range p.sessions(false) {
			p.must("session", "rm", "--force", session)
		}
		p.sound()
	}
}

// nowhere fails if a word that the one who said it has forgotten is anywhere: in the bytes of a
// file, or of what a zstd frame in it holds.
func (w *world) nowhere() {
	words := w.secrets("")
	for _, p := range w.stores {
		w.search(filepath.Join(p.dir, ".gemini"), words)
		for _, at := range w.places {
			p.copied(at)
		}
	}
	for _, at := range w.places {
		if at.git {
			w.gitSearch(at.root, words)
		} else {
			w.search(at.root, words)
		}
	}
}

// secrets returns the words that a store has said and forgotten, or every store.
func (w *world) secrets(by string) (words []string) {
	for _, s := range w.secret {
		if by == "" || s.by == by {
			words = append(words, s.word)
		}
	}
	slices.Sort(words)
	return words
}

// silent fails if a file of the store holds a word that it has said and forgotten. Its copies of
// remotes have what the remotes have.
func (p *party) silent() {
	p.Helper()
	p.search(filepath.Join(p.dir, ".gemini"), p.secrets(p.name))
}

// copied fails if the copy of a git repository has a forgotten word that the repository does not
// lead to any more.
func (p *party) copied(at *place) {
	p.Helper()
	copy := filepath.Join(p.dir, ".gemini", "context", "cache", "remote-"+at.name+".git")
	if _, err := os.Stat(filepath.Join(copy, "HEAD")); err != nil || !at.git {
		return // a forget empties it
	}
	here := wordsIn(p.gitObjects(copy, "--batch-all-objects"), p.secrets(""))
	if len(here) == 0 {
		return
	}
	there := wordsIn(p.gitReachable(at.root, "refs/"), here)
	for _, word := range here {
		if !slices.Contains(there, word) {
			p.fails("the copy of %s has the forgotten %s, and %s has it no more", at.name, word,
				at.name)
		}
	}
}

// unsaid fails if a remote has a word that the store has forgotten, after its push, in the files of
// the store or in what nobody has finished.
func (p *party) unsaid(at *place) {
	p.Helper()
	words := p.secrets(p.name)
	if len(words) == 0 {
		return
	}
	b, err := os.ReadFile(filepath.Join(p.dir, ".gemini", "context", "format"))
	if err != nil {
		p.Fatal(err)
	}
	id := regexp.MustCompile(`[0-9a-f]{32}`).FindString(string(b))
	if at.git {
		p.holds(at.root, p.gitReachable(at.root, "refs/ctx/"+id), words)
		return
	}
	p.search(filepath.Join(at.root, "stores", id), words)
	p.search(filepath.Join(at.root, ".unfinished"), words)
}

// gitSearch searches every object that the repository keeps once it has collected its garbage.
func (w *world) gitSearch(root string, words []string) {
	w.Helper()
	if out, err := exec.Command("git", "-C", root, "-c", "gc.pruneExpire=now", "gc", "-q",
		"--prune=now").CombinedOutput(); err != nil {
		w.Errorf("git gc: %v: %s", err, out)
	}
	w.holds(root, w.gitObjects(root, "--batch-all-objects"), words)
}

// gitReachable returns the objects of a repository to which the refs lead whose names begin so.
func (w *world) gitReachable(root, refs string) []byte {
	w.Helper()
	list, err := exec.Command("git", "-C", root, "rev-list", "--objects", "--no-object-names",
		"--glob="+refs+"*").Output()
	if err != nil {
		w.Error(err)
	}
	return w.gitObjects(root, "--buffer", string(list))
}

// gitObjects returns the objects of a repository that an option says, or a list.
func (w *world) gitObjects(root, option string, list ...string) []byte {
	w.Helper()
	cat := exec.Command("git", "-C", root, "cat-file", "--batch", option)
	cat.Stdin = strings.NewReader(strings.Join(list, "\n"))
	b, err := cat.Output()
	if err != nil {
		w.Error(err)
	}
	return b
}
