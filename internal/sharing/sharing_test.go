package sharing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
)

// party is a store with its label.
type party struct {
	*session.Store
	*testing.T
	label string
}

// newParty makes a store with an id and a key of its own, which follow from the label.
func newParty(t *testing.T, label string) *party {
	t.Helper()
	e := storetest.Env(durabletest.TempDir(t), nil)
	e.Random = rand.NewChaCha8([32]byte(bytes.Repeat([]byte(label+" "), 32)[:32]))
	return &party{storetest.Init(t, e), t, label}
}

// place is the folder of a remote, which holds nothing yet.
func place(t *testing.T) string { return filepath.Join(durabletest.TempDir(t), "shared") }

func open(t *testing.T, root string) remote.Remote {
	t.Helper()
	r, err := remote.OpenDir(root, nil, lock.Owner{Command: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// at joins a party with a remote; everything is shared.
func (p *party) at(r remote.Remote) *sharing.Sharer {
	p.Helper()
	x, err := sharing.Open(p.Context(), p.Opened, r, p.options("all"))
	if err != nil {
		p.Fatalf("%s: %v", p.label, err)
	}
	return x
}

func (p *party) options(rule string) sharing.Options {
	p.Helper()
	parsed, err := sharing.ParseRule(rule)
	if err != nil {
		p.Fatal(err)
	}
	return sharing.Options{Name: "origin", Label: p.label, Rule: parsed}
}

func (p *party) push(r remote.Remote) sharing.PushReport {
	p.Helper()
	report, err := p.at(r).Push(p.Context(), sharing.PushOptions{})
	if err != nil {
		p.Fatalf("%s pushes: %v", p.label, err)
	}
	return report
}

func (p *party) pull(r remote.Remote) sharing.PullReport {
	p.Helper()
	report, err := p.at(r).Pull(p.Context())
	if err != nil {
		p.Fatalf("%s pulls: %v", p.label, err)
	}
	return report
}

// say appends a message to a session of the party's own.
func (p *party) say(session, text string) format.ID {
	p.Helper()
	return storetest.Say(p.T, p.Store, session, "user", text)
}

// texts returns what the main branch of each session says, by the session's name.
func (p *party) texts() map[string][]string {
	p.Helper()
	by := map[string][]string{}
	for ref, list := range storetest.Texts(p.T, p.Store) {
		if session, branch, ok := history.BranchOfRef(ref); ok && branch == history.MainBranch {
			by[session] = list
		}
	}
	return by
}

// same fails unless a session of one party has the same messages at another.
func same(t *testing.T, owner *party, session string, other *party) {
	t.Helper()
	want := owner.texts()[session]
	got := other.texts()[session+"@"+owner.label]
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Fatalf("%s has %d messages of %s: %.200q, want %d: %.200q", other.label, len(got),
			session, got, len(want), want)
	}
}

func TestPushPull(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	for i := range 100 {
		a.say("work", storetest.Chatter(rand.New(rand.NewPCG(uint64(i), 1))))
	}
	storetest.Compact(t, a.Store, "work")
	if got := a.push(r); got.Number != 1 || len(got.Sessions) != 1 ||
		got.Sessions[0].Messages != 100 {
		t.Errorf("first push: %+v", got)
	}
	if got := a.push(r); got.Number != 0 {
		t.Errorf("a push of nothing: %+v", got)
	}
	if got := b.pull(r); len(got.Stores) != 1 || got.Stores[0].Label != "laptop" {
		t.Errorf("first pull: %+v", got)
	}
	same(t, a, "work", b)
	if got := b.pull(r); len(got.Stores) != 0 || got.Known != 1 {
		t.Errorf("a pull of nothing: %+v", got)
	}
	id := a.say("work", "and one more")
	if got := a.push(r); got.Number != 2 || got.Objects != 1 {
		t.Errorf("a push of one message: %+v", got)
	}
	if got := b.pull(r); len(got.Stores) != 1 || got.Stores[0].Objects != 1 ||
		got.Stores[0].Pushes != 1 {
		t.Errorf("a pull of one message: %+v", got)
	}
	same(t, a, "work", b)
	if raw, err := b.Objects.Get(id); err != nil ||
		!bytes.HasSuffix(raw.Body, []byte("and one more")) {
		t.Errorf("got %q, error %v", raw.Body, err)
	}
	storetest.Check(t, a.Store)
	storetest.Check(t, b.Store)
}

// A store without its cache, and one that was stopped behind the head, both know what they shared.
func TestPushWithoutCache(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "one")
	a.push(r)
	if err := os.RemoveAll(filepath.Join(a.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	if got := a.push(r); got.Number != 0 {
		t.Errorf("a push of nothing: %+v", got)
	}
	a.say("work", "two")
	if got := a.push(r); got.Number != 2 || got.Objects != 1 {
		t.Errorf("the next push: %+v", got)
	}
	b.pull(r)
	same(t, a, "work", b)
}

// named joins a party with a place under a name of that place alone.
func named(p *party, root string) *sharing.Sharer {
	p.Helper()
	o := p.options("all")
	o.Name = strings.ToLower("r" + filepath.Base(filepath.Dir(root)))
	x, err := sharing.Open(p.Context(), p.Opened, open(p.T, root), o)
	if err != nil {
		p.Fatal(err)
	}
	return x
}

func pushAs(p *party, root string) {
	p.Helper()
	if _, err := named(p, root).Push(p.Context(), sharing.PushOptions{}); err != nil {
		p.Fatalf("%s pushes: %v", p.label, err)
	}
}

func pullAs(p *party, root string) {
	p.Helper()
	if _, err := named(p, root).Pull(p.Context()); err != nil {
		p.Fatalf("%s pulls: %v", p.label, err)
	}
}

// A push that was stopped before its head leaves files of its number. Whatever their digests are,
// the next push is the one that counts.
func TestStoppedPushIsNoFork(t *testing.T) {
	for n := range 6 {
		root := place(t)
		a, b := newParty(t, "laptop"), newParty(t, "desk")
		a.say("work", "first")
		a.push(open(t, root))
		b.pull(open(t, root))
		for i := range 3 {
			a.say("work", fmt.Sprint("said before a stop ", n, i))
			r := &failing{Remote: open(t, root), swap: errors.New("stopped"),
				fail: func(bool) error { return nil }}
			if _, err := a.at(r).Push(t.Context(), sharing.PushOptions{}); err == nil {
				t.Fatal("the push was not stopped")
			}
		}
		a.say("work", "said after")
		a.push(open(t, root))
		if err := os.RemoveAll(filepath.Join(a.Dir, "cache")); err != nil {
			t.Fatal(err)
		}
		a.push(open(t, root))
		b.pull(open(t, root))
		same(t, a, "work", b)
		c := newParty(t, "late")
		c.pull(open(t, root))
		same(t, a, "work", c)
	}
}

// A session that was removed stays removed, with what is said of it, until somebody asks for it,
// also once the log no longer tells of the removal. Then all of it comes, whatever gc has removed.
func TestRemovedSession(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "first")
	a.say("other", "kept")
	a.push(r)
	b.pull(r)
	if _, err := b.Conversation.RemoveSession(t.Context(), "work@laptop"); err != nil {
		t.Fatal(err)
	}
	pull := func() {
		t.Helper()
		a.push(r)
		got := b.pull(r)
		if len(got.Stores) != 1 || !slices.Equal(got.Stores[0].Removed, []string{"work@laptop"}) {
			t.Errorf("%+v", got)
		}
		view := storetest.View(t, b.Store)
		if b.texts()["work@laptop"] != nil || view.Get(history.AboutRef("work@laptop")).Exists() {
			t.Error("it is there again")
		}
		sound(t, b)
	}
	a.say("work", "second")
	pull()
	_, _, err := a.Conversation.SetAbout(t.Context(), "work",
		func(about *history.About) { about.Title = "of the work" })
	if err != nil {
		t.Fatal(err)
	}
	pull()
	same(t, a, "other", b)
	if _, err := b.at(r).Pull(t.Context(), "work@laptop"); err != nil {
		t.Fatal(err)
	}
	same(t, a, "work", b)
	if about, err := b.History.AboutOf(storetest.View(t, b.Store), "work@laptop"); err != nil ||
		about.Title != "of the work" {
		t.Errorf("%+v, error %v", about, err)
	}
	if _, err := b.Conversation.RemoveSession(t.Context(), "work@laptop"); err != nil {
		t.Fatal(err)
	}
	b.collect()
	a.say("work", "third")
	pull()
	if _, err := b.at(r).Pull(t.Context(), "work@laptop"); err != nil {
		t.Fatal(err)
	}
	same(t, a, "work", b)
}

// What was shared once is forgotten by others, also where it is shared no more; so is what a fork
// has.
func TestForgetWhatWasShared(t *testing.T) {
	root := place(t)
	a := newParty(t, "laptop")
	secret := a.say("private", "under the mat")
	if _, err := a.Conversation.GoOn(t.Context(), "private", history.MainBranch,
		"public"); err != nil {
		t.Fatal(err)
	}
	x, err := sharing.Open(t.Context(), a.Opened, open(t, root), a.options("public"))
	if err != nil {
		t.Fatal(err)
	}
	push := func() sharing.PushReport {
		r, err := x.Push(t.Context(), sharing.PushOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	push()
	if _, err := forget.Run(t.Context(), a.Opened,
		forget.Options{IDs: []format.ID{secret}}); err != nil {
		t.Fatal(err)
	}
	if got := push(); got.Forgot == 0 {
		t.Errorf("nobody is told: %+v", got)
	}
	for _, path := range glob(t, root, "stores", a.ID, "pack", "*") {
		_, f, err := share.ParseFileName("pack/" + filepath.Base(path))
		if err == nil {
			err = a.Objects.ReadPack(read(t, path), f.Digest, func(raw format.Raw) error {
				if bytes.Contains(raw.Body, []byte("under the mat")) {
					t.Errorf("%s has the words", path)
				}
				return nil
			})
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// What one forgets, all forget; whoever has the words in a session of its own and pushes them again
// sends the entries without them.
func TestForgetTravels(t *testing.T) {
	root := place(t)
	r := open(t, root)
	a, b, c := newParty(t, "laptop"), newParty(t, "desk"), newParty(t, "late")
	secret := a.say("work", "the secret is under the mat")
	a.say("work", "nothing here")
	a.push(r)
	b.pull(r)
	if _, err := forget.Run(t.Context(), a.Opened,
		forget.Options{IDs: []format.ID{secret}}); err != nil {
		t.Fatal(err)
	}
	if got := a.push(r); got.Forgot != 1 {
		t.Errorf("the push after: %+v", got)
	}
	if got := b.pull(r); len(got.Stores) != 1 || got.Stores[0].Forgot != 1 {
		t.Errorf("the pull after: %+v", got)
	}
	c.pull(r)
	for _, path := range glob(t, root, "stores", a.ID, "pack", "*") {
		_, f, err := share.ParseFileName("pack/" + filepath.Base(path))
		if err == nil {
			err = c.Objects.ReadPack(read(t, path), f.Digest, func(raw format.Raw) error {
				if bytes.Contains(raw.Body, []byte("under the mat")) {
					t.Errorf("the remote has the words still, in %s", path)
				}
				return nil
			})
		}
		if err != nil {
			t.Error(err)
		}
	}
	for _, p := range []*party{a, b, c} {
		if gone, err := p.Objects.Forgotten(secret); err != nil || !gone {
			t.Errorf("%s: forgotten %v, error %v", p.label, gone, err)
		}
		if err := filepath.WalkDir(p.Dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte("under the mat")) {
				t.Errorf("%s has the words still", path)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		sound(t, p)
	}
}

// What a pull that was stopped has left of words does not outlive the forget that the next pull
// brings: not in a pack without an index, nor in a file that was being written.
func TestStoppedPullLeavesNoForgottenWords(t *testing.T) {
	for at, whole := 1, false; !whole; at++ {
		root := place(t)
		r := open(t, root)
		a := newParty(t, "laptop")
		secret := a.say("work", "the secret is under the mat")
		a.push(r)
		steps := 0
		fsys := &durable.FS{}
		first := newParty(t, "desk")
		b := &party{storetest.Reopen(t, first.Dir, fsys), t, "desk"}
		fsys.Hook = func(durable.Call) error {
			if steps++; steps == at {
				return durable.ErrStopped
			}
			return nil
		}
		x, err := sharing.Open(t.Context(), b.Opened, r, b.options("all"))
		if err == nil {
			_, err = x.Pull(t.Context())
		}
		whole = err == nil
		if _, err := forget.Run(t.Context(), a.Opened,
			forget.Options{IDs: []format.ID{secret}}); err != nil {
			t.Fatal(err)
		}
		a.push(r)
		b = &party{storetest.Reopen(t, first.Dir, nil), t, "desk"}
		b.pull(r)
		if _, err := b.Objects.Get(secret); !objects.IsGone(err) {
			t.Errorf("stopped in step %d: the words are there: %v", at, err)
		}
		left, err := b.Objects.Orphans()
		temps, _ := filepath.Glob(filepath.Join(b.Dir, objects.Dir, "*", durable.TempPrefix+"*"))
		if err != nil || len(left)+len(temps) > 0 {
			t.Errorf("stopped in step %d: %v and %v are left: %v", at, left, temps, err)
		}
		storetest.Check(t, b.Store)
	}
}

// What a store has said itself stays, whoever else has forgotten it; the pull says so.
func TestOwnWordsStay(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	mine := a.say("work", "what I have said")
	a.push(r)
	b.pull(r)
	if _, err := b.Conversation.GoOn(t.Context(), "work@laptop", history.MainBranch,
		"work"); err != nil {
		t.Fatal(err)
	}
	b.push(r)
	if _, err := forget.Run(t.Context(), b.Opened,
		forget.Options{IDs: []format.ID{mine}}); err != nil {
		t.Fatal(err)
	}
	if got := b.push(r); got.Forgot == 0 {
		t.Fatalf("the push says nothing of it: %+v", got)
	}
	got := a.pull(r)
	if len(got.Stores) != 1 || got.Stores[0].Forgot != 0 ||
		!slices.Equal(got.Stores[0].Asked, []format.ID{mine}) {
		t.Errorf("got %+v", got)
	}
	if raw, err := a.Objects.Get(mine); err != nil ||
		!bytes.Contains(raw.Body, []byte("what I have said")) {
		t.Errorf("the words: %q, error %v", raw.Body, err)
	}
	storetest.Check(t, a.Store)
}

// Desk forgets what laptop has said. Who has it in a session of desk forgets it with desk, in
// laptop's session as well; laptop keeps it. Where desk has it in no session of its own, desk alone
// forgets it.
func TestForgetOfOthersWords(t *testing.T) {
	for _, c := range []struct {
		name     string
		goesOn   bool // desk has a session of its own with the words
		thirdHas bool // what the third store has after it has pulled of both
	}{{"in a session of its own", true, false}, {"in laptop's session alone", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			r := open(t, place(t))
			laptop, desk, third := newParty(t, "laptop"), newParty(t, "desk"), newParty(t, "third")
			words := laptop.say("work", "what laptop has said")
			laptop.push(r)
			desk.pull(r)
			desk.say("other", "what desk has said")
			if c.goesOn {
				if _, err := desk.Conversation.GoOn(t.Context(), "work@laptop", history.MainBranch,
					"work"); err != nil {
					t.Fatal(err)
				}
			}
			desk.push(r)
			third.pull(r)
			if _, err := forget.Run(t.Context(), desk.Opened,
				forget.Options{IDs: []format.ID{words}}); err != nil {
				t.Fatal(err)
			}
			desk.push(r)
			laptop.say("work", "and more") // so that there is something new of laptop, too
			laptop.push(r)
			for range 2 {
				third.pull(r)
				laptop.pull(r)
			}
			late := newParty(t, "late") // which has never seen the words
			late.pull(r)
			for _, who := range []struct {
				*party
				has bool
			}{{laptop, true}, {desk, false}, {third, c.thirdHas}, {late, c.thirdHas}} {
				gone, err := who.Objects.Forgotten(words)
				if err != nil || gone == who.has {
					t.Errorf("%s: forgotten %v, error %v; want %v", who.label, gone, err, !who.has)
				}
				sound(t, who.party)
			}
		})
	}
}

// An undo right after a forget is refused: what the caller did last cannot be taken back. A pull
// that forgets records what it took in behind that, so an undo is about the caller's own change. If
// the pull was stopped between the two, the next one completes it.
func TestUndoAfterPullThatForgot(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	words := a.say("work", "the secret is under the mat")
	a.push(r)
	b.say("own", "one")
	b.say("own", "two")
	b.pull(r)
	if _, err := forget.Run(t.Context(), a.Opened,
		forget.Options{IDs: []format.ID{words}}); err != nil {
		t.Fatal(err)
	}
	a.push(r)
	// This is what a pull does first.
	if _, err := forget.Run(t.Context(), b.Opened,
		forget.Options{IDs: []format.ID{words}, Exact: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Conversation.Undo(t.Context(), "own"); !errors.Is(err, history.ErrRefused) ||
		!errors.Is(err, history.ErrAfterForget) {
		t.Errorf("right after a forget: error %v", err)
	}
	b.pull(r)
	done, err := b.Conversation.Undo(t.Context(), "own")
	if err != nil || !slices.Equal(b.texts()["own"], []string{"one"}) {
		t.Errorf("after the pull: %+v, error %v, and own says %q", done, err, b.texts()["own"])
	}
	if _, err := b.Conversation.Undo(t.Context(), "work@laptop"); !errors.Is(err,
		history.ErrRefused) {
		t.Errorf("of a session of laptop: error %v", err)
	}
}

// A head with the tag of the last pull is not read again.
func TestTags(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "one")
	a.push(open(t, root))
	r := &tagged{Remote: open(t, root), tag: "1"}
	b.pull(r)
	reads := r.heads
	if got := b.pull(r); got.Known != 1 || r.heads != reads {
		t.Errorf("%d reads of heads more, %+v", r.heads-reads, got)
	}
	a.say("work", "two")
	a.push(open(t, root))
	r.tag = "2"
	b.pull(r)
	same(t, a, "work", b)
}

// tagged is a remote that gives every file one tag, and counts the reads of heads.
type tagged struct {
	remote.Remote
	tag   string
	heads int
}

func (r *tagged) List(ctx context.Context, prefix string) ([]remote.File, error) {
	files, err := r.Remote.List(ctx, prefix)
	for i := range files {
		files[i].Tag = r.tag
	}
	return files, err
}

func (r *tagged) Get(ctx context.Context, name string) ([]byte, error) {
	if strings.HasPrefix(name, share.Heads) {
		r.heads++
	}
	return r.Remote.Get(ctx, name)
}

// Many small files become one, what they were goes a day later, and whoever pulls then has it all.
func TestManyPushes(t *testing.T) {
	root := place(t)
	r := open(t, root)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	for i := range 130 {
		a.say("work", fmt.Sprint("message ", i))
		a.push(r)
		if i == 70 {
			b.pull(r)
		}
	}
	b.pull(r)
	same(t, a, "work", b)
	day := a.Now().Add(25 * time.Hour)
	a.Now = func() time.Time { return day }
	a.say("work", "a day later")
	a.push(r)
	if n := len(glob(t, root, "stores", a.ID, "log", "*")); n != 4 {
		t.Errorf("%d segments are left, want one of 128 pushes and three of one", n)
	}
	if n := len(glob(t, root, "stores", a.ID, "pack", "*")); n > 6 {
		t.Errorf("%d packs are left", n)
	}
	b.pull(r)
	same(t, a, "work", b)
	c := newParty(t, "late")
	c.pull(r)
	same(t, a, "work", c)
	storetest.Check(t, c.Store)
}

// What a push that was stopped has left of its number is no part of the file that joins the pushes
// before: who reads that file would not look for the push that counts.
func TestStoppedPushIsNotJoined(t *testing.T) {
	root := place(t)
	a, b, late := newParty(t, "laptop"), newParty(t, "desk"), newParty(t, "late")
	for i := range 64 {
		a.say("work", fmt.Sprint("message ", i))
		a.push(open(t, root))
	}
	b.pull(open(t, root))
	a.say("work", "said before a stop")
	stopped := errors.New("stopped")
	r := &failing{Remote: open(t, root), fail: func(after bool) error {
		if after {
			return stopped // behind the first pack
		}
		return nil
	}}
	if _, err := a.at(r).Push(t.Context(), sharing.PushOptions{}); !errors.Is(err, stopped) {
		t.Fatalf("the push was not stopped: %v", err)
	}
	a.say("work", "said after")
	a.push(open(t, root))
	for _, p := range []*party{b, late} {
		p.pull(open(t, root))
		same(t, a, "work", p)
	}
}

// A head that a newer build wrote is told from tampering, and nothing is taken in.
func TestHeadOfNewerBuild(t *testing.T) {
	root := place(t)
	r := open(t, root)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "hello")
	a.push(r)
	path := filepath.Join(root, "heads", a.ID)
	newer, ok := bytes.CutPrefix(read(t, path), []byte("head 1\n"))
	if !ok {
		t.Fatalf("the head is %q", read(t, path))
	}
	write(t, path, append([]byte("head 2\n"), newer...))
	_, err := b.at(r).Pull(t.Context())
	var version *format.VersionError
	if !errors.As(err, &version) || version.Got != 2 || errors.Is(err, remote.ErrTampered) {
		t.Errorf("pull: %v", err)
	}
	if len(b.texts()) > 0 {
		t.Error("something was taken in")
	}
	if _, err := a.at(r).Push(t.Context(), sharing.PushOptions{}); !errors.As(err, &version) {
		t.Errorf("push: %v", err)
	}
}

// What the host of a remote changes is seen, and nothing of it is taken in.
func TestTampering(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, root, store string, early map[string][]byte)
	}{
		{"a pack swapped", func(t *testing.T, root, store string, _ map[string][]byte) {
			packs := glob(t, root, "stores", store, "pack", "2-2-*")
			other := glob(t, root, "stores", store, "pack", "1-1-*")
			copyFile(t, other[0], packs[0])
		}},
		{"a pack removed", func(t *testing.T, root, store string, _ map[string][]byte) {
			remove(t, glob(t, root, "stores", store, "pack", "2-2-*")[0])
		}},
		{"a segment removed", func(t *testing.T, root, store string, _ map[string][]byte) {
			remove(t, glob(t, root, "stores", store, "log", "2-2-*")[0])
		}},
		{"a segment changed", func(t *testing.T, root, store string, _ map[string][]byte) {
			path := glob(t, root, "stores", store, "log", "2-2-*")[0]
			b := read(t, path)
			b[len(b)/2] ^= 1
			write(t, path, b)
		}},
		{"the head rolled back", func(t *testing.T, root, store string, early map[string][]byte) {
			write(t, filepath.Join(root, "heads", store), early["one"])
		}},
		{"the head changed", func(t *testing.T, root, store string, _ map[string][]byte) {
			path := filepath.Join(root, "heads", store)
			write(t, path,
				bytes.Replace(read(t, path), []byte("label laptop"), []byte("label lapdog"), 1))
		}},
		{"the head of another store", func(t *testing.T, root, store string, _ map[string][]byte) {
			for _, other := range glob(t, root, "heads", "*") {
				if filepath.Base(other) != store {
					copyFile(t, other, filepath.Join(root, "heads", store))
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := place(t)
			r := open(t, root)
			a, b, other := newParty(t, "laptop"), newParty(t, "desk"), newParty(t, "other")
			other.say("x", "of another")
			other.push(r)
			a.say("work", "one")
			a.push(r)
			early := map[string][]byte{"one": read(t, filepath.Join(root, "heads", a.ID))}
			b.pull(r)
			a.say("work", "two")
			a.push(r)
			if strings.HasPrefix(c.name, "the head rolled back") {
				b.pull(r)
			}
			before := b.texts()
			c.change(t, root, a.ID, early)
			_, err := b.at(r).Pull(t.Context())
			if !errors.Is(err, remote.ErrTampered) &&
				!(strings.HasSuffix(c.name, "removed") && err != nil) {
				t.Errorf("got error %v", err)
			} else if strings.HasPrefix(c.name, "a pack") &&
				!strings.HasPrefix(err.Error(), "nothing of laptop was taken in: ") {
				t.Errorf("the error does not say of which store nothing was taken in: %v", err)
			}
			if after := b.texts(); !slices.Equal(after["work@laptop"], before["work@laptop"]) {
				t.Errorf("it was taken in: %q", after)
			}
			storetest.Check(t, b.Store)
			if strings.HasPrefix(c.name, "the head") {
				if _, err := a.at(r).Push(t.Context(), sharing.PushOptions{}); !errors.Is(err,
					remote.ErrTampered) {
					t.Errorf("its owner pushes: error %v", err)
				}
			}
		})
	}
}

// A copy of a store's directory is told that it is one.
func TestCopiedStore(t *testing.T) {
	r := open(t, place(t))
	a := newParty(t, "laptop")
	a.say("work", "one")
	a.push(r)
	to := durabletest.TempDir(t)
	storetest.CopyInto(t, a.Dir, filepath.Join(to, ".gemini", "context"))
	copied := &party{storetest.Reopen(t, to, nil), t, "copy"}
	a.say("work", "two of the one")
	a.push(r)
	copied.say("work", "two of the copy")
	_, err := copied.at(r).Push(t.Context(), sharing.PushOptions{})
	if !errors.Is(err, sharing.ErrCopied) {
		t.Errorf("got error %v", err)
	}
	// With an id of its own it is another store, which has all that it had, and takes in the rest.
	env := storetest.Env(to, nil)
	env.Random = rand.NewChaCha8([32]byte{1})
	if _, err := repo.NewID(env); err != nil {
		t.Fatal(err)
	}
	copied = &party{storetest.Reopen(t, to, nil), t, "copy"}
	copied.pull(r)
	copied.push(r)
	a.pull(r)
	copied.says("work", "one", "two of the copy")
	copied.says("work@laptop", "one", "two of the one")
	a.says("work@copy", "one", "two of the copy")
	a.says("work", "one", "two of the one")
}

// A remote that stops in any step of a push or a pull costs nothing: the next one completes it.
func TestStops(t *testing.T) {
	stopped := errors.New("stopped")
	for n := range 40 {
		root := place(t)
		a, b := newParty(t, "laptop"), newParty(t, "desk")
		a.say("work", "one")
		a.push(open(t, root))
		a.say("work", "two")
		steps := n
		r := &failing{Remote: open(t, root), fail: func(after bool) error {
			if steps--; steps < 0 {
				return stopped
			}
			return nil
		}}
		x, err := sharing.Open(t.Context(), a.Opened, r, a.options("all"))
		if err == nil {
			_, err = x.Push(t.Context(), sharing.PushOptions{})
		}
		pushed := err == nil
		if err == nil {
			var y *sharing.Sharer
			if y, err = sharing.Open(t.Context(), b.Opened, r, b.options("all")); err == nil {
				_, err = y.Pull(t.Context())
			}
		}
		if err != nil && !errors.Is(err, stopped) {
			t.Fatalf("stopped in step %d: %v", n, err)
		}
		// Whoever pulls now has a whole state, the old one or the new one.
		c := newParty(t, "third")
		c.pull(open(t, root))
		if got := c.texts()["work@laptop"]; len(got) != 1 && len(got) != 2 ||
			pushed && len(got) != 2 {
			t.Fatalf("stopped in step %d: a third has %q", n, got)
		}
		a.say("work", "three")
		a.push(open(t, root))
		b.pull(open(t, root))
		same(t, a, "work", b)
		storetest.Check(t, a.Store)
		storetest.Check(t, b.Store)
		if err == nil {
			if n < 10 {
				t.Fatalf("a push and a pull took %d steps", n)
			}
			return
		}
	}
	t.Fatal("a push and a pull take more than 40 steps")
}

// failing is a remote that fails: before it has done what was asked, and after.
type failing struct {
	remote.Remote
	fail func(after bool) error
	swap error // of each swap, which does nothing then

	swapped error // of each swap, after it is done
}

func (f *failing) List(ctx context.Context, prefix string) ([]remote.File, error) {
	if err := f.fail(false); err != nil {
		return nil, err
	}
	return f.Remote.List(ctx, prefix)
}

func (f *failing) Get(ctx context.Context, name string) ([]byte, error) {
	if err := f.fail(false); err != nil {
		return nil, err
	}
	return f.Remote.Get(ctx, name)
}

func (f *failing) PutNew(ctx context.Context, name string, data []byte) error {
	if err := f.fail(false); err != nil {
		return err
	}
	if err := f.Remote.PutNew(ctx, name, data); err != nil {
		return err
	}
	return f.fail(true)
}

func (f *failing) Swap(ctx context.Context, name string, old, new []byte) error {
	if err := f.fail(false); err != nil {
		return err
	}
	if f.swap != nil {
		return f.swap
	}
	if err := f.Remote.Swap(ctx, name, old, new); err != nil {
		return err
	}
	return errors.Join(f.swapped, f.fail(true))
}

// A remote that tells of the moment at which it was opened, as a git repository does, accuses
// nobody where another command of the same store was faster.
func TestRemoteOfAMoment(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	begin := func(p *party) *sharing.Sharer { return p.at(&moment{Remote: open(t, root)}) }
	for n := range 3 {
		slow, pulls := begin(a), begin(b)
		a.say("work", fmt.Sprint("message ", n))
		a.push(open(t, root))
		b.pull(open(t, root))
		a.say("work", "and more")
		if _, err := slow.Push(t.Context(), sharing.PushOptions{}); err != nil {
			t.Errorf("push %d: %v", n, err)
		}
		if _, err := pulls.Pull(t.Context()); err != nil {
			t.Errorf("pull %d: %v", n, err)
		}
		b.pull(open(t, root))
		same(t, a, "work", b)
	}
}

// moment is a remote of which everything is read at once, until a swap finds that it has changed.
type moment struct {
	remote.Remote
	files map[string][]byte
}

func (m *moment) read(ctx context.Context) error {
	if m.files != nil {
		return nil
	}
	m.files = map[string][]byte{}
	list, err := m.Remote.List(ctx, "")
	for _, f := range list {
		if m.files[f.Name], err = m.Remote.Get(ctx, f.Name); err != nil {
			return err
		}
	}
	return err
}

func (m *moment) List(ctx context.Context, prefix string) (list []remote.File, err error) {
	err = m.read(ctx)
	for name, b := range m.files {
		if strings.HasPrefix(name, prefix) {
			list = append(list, remote.File{Name: name, Size: int64(len(b))})
		}
	}
	return list, err
}

func (m *moment) Get(ctx context.Context, name string) ([]byte, error) {
	if err := m.read(ctx); err != nil {
		return nil, err
	}
	if b, ok := m.files[name]; ok {
		return b, nil
	}
	return nil, remote.ErrNotFound
}

func (m *moment) Swap(ctx context.Context, name string, old, new []byte) error {
	m.files = nil
	return m.Remote.Swap(ctx, name, old, new)
}

// An engine that can search is told of every message before the head is, and of what was forgotten.
func TestEngine(t *testing.T) {
	e := &engine{Remote: open(t, place(t)), texts: map[string]string{}}
	a := newParty(t, "laptop")
	e.store = a.ID
	first := a.say("work", "the first words")
	second := a.say("work", "other words")
	a.push(e)
	if len(e.texts) != 2 || e.texts[first.String()] != "work: the first words" {
		t.Errorf("got %q", e.texts)
	}
	if hits, err := a.at(e).Search(t.Context(), "first", 5); err != nil || len(hits) != 1 ||
		hits[0].Name != "work" {
		t.Errorf("got %+v, error %v", hits, err)
	}
	if _, err := forget.Run(t.Context(), a.Opened,
		forget.Options{IDs: []format.ID{second}}); err != nil {
		t.Fatal(err)
	}
	a.push(e)
	if _, there := e.texts[second.String()]; there || len(e.texts) != 1 {
		t.Errorf("after the forget: %q", e.texts)
	}
	if _, err := a.at(open(t, place(t))).Search(t.Context(), "first", 5); !errors.Is(err,
		sharing.ErrNoSearch) {
		t.Errorf("a folder searches: error %v", err)
	}
}

// engine is a remote that can search.
type engine struct {
	remote.Remote
	store string
	texts map[string]string
}

func (e *engine) Index(_ context.Context, list []remote.Message) error {
	for _, m := range list {
		e.texts[m.ID] = m.Session + ": " + m.Text
	}
	return nil
}

func (e *engine) Forget(_ context.Context, _ string, ids []string) error {
	for _, id := range ids {
		delete(e.texts, id)
	}
	return nil
}

func (e *engine) Search(_ context.Context, query string, _ int) (hits []remote.Hit, err error) {
	for id, text := range e.texts {
		if session, words, _ := strings.Cut(text, ": "); strings.Contains(words, query) {
			hits = append(hits, remote.Hit{ID: id, Session: session, Store: e.store, Text: words})
		}
	}
	return hits, nil
}

// Sessions that a store shares no more end with the others, and what they went on with stays.
func TestEnds(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "one")
	a.say("play", "two")
	a.push(r)
	b.pull(r)
	x, err := sharing.Open(t.Context(), a.Opened, r, a.options("all,!play"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Push(t.Context(), sharing.PushOptions{}); err != nil ||
		!slices.Equal(got.Ended, []string{"play"}) {
		t.Fatalf("got %+v, error %v", got, err)
	}
	if got := b.pull(r); len(got.Stores) != 1 ||
		!slices.Equal(got.Stores[0].Ended, []string{"play@laptop"}) {
		t.Errorf("got %+v", got)
	}
	if _, there := b.texts()["play@laptop"]; there {
		t.Error("the session is there still")
	}
	storetest.Check(t, b.Store)
}

// Sessions of subagents work for the same calls in other stores. The name of a session that stays
// does not leave with them.
func TestParents(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	for _, session := range []string{"work", "work.agent", "helper", "private"} {
		a.say(session, "in "+session)
	}
	link := func(child, parent, call string) {
		t.Helper()
		storetest.Must[bool](t)(a.Conversation.Link(t.Context(), child,
			history.Parent{Session: parent, Call: call}, true))
	}
	link("work.agent", "work", "call-1")
	link("helper", "private", "call-2")
	push := func(rule string) {
		t.Helper()
		x, err := sharing.Open(t.Context(), a.Opened, r, a.options(rule))
		if err == nil {
			_, err = x.Push(t.Context(), sharing.PushOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		b.pull(r)
	}
	want := func(parents map[string]history.Parent) {
		t.Helper()
		view := storetest.View(t, b.Store)
		for _, session := range []string{"work.agent", "helper", "private"} {
			got, _, err := b.History.ParentOf(view, session+"@laptop")
			if err != nil || got != parents[session] {
				t.Errorf("%s works for %+v, want %+v, error %v", session, got, parents[session],
					err)
			}
		}
	}
	agent := history.Parent{Session: "work@laptop", Call: "call-1"}
	push("all,!private")
	want(map[string]history.Parent{"work.agent": agent})
	link("private", "work", "call-3")
	push("all")
	want(map[string]history.Parent{"work.agent": agent,
		"helper":  {Session: "private@laptop", Call: "call-2"},
		"private": {Session: "work@laptop", Call: "call-3"}})
	push("all,!private")
	want(map[string]history.Parent{"work.agent": agent,
		"helper": {Session: "private@laptop", Call: "call-2"}})
	sound(t, b)
	late := newParty(t, "late")
	late.pull(r)
	sound(t, late)
}

// What is said of a session is said in other stores, too, and goes when it is taken back or
// forgotten.
func TestAbouts(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "hello")
	name := func(title string) {
		t.Helper()
		_, _, err := a.Conversation.SetAbout(t.Context(), "work", func(about *history.About) {
			about.Title, about.Tags, about.Pinned = title, []string{"ci"}, true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	push := func(want history.About) {
		t.Helper()
		x, err := sharing.Open(t.Context(), a.Opened, r, a.options("all"))
		if err == nil {
			_, err = x.Push(t.Context(), sharing.PushOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		late := newParty(t, "late")
		late.pull(r)
		b.pull(r)
		for _, p := range []*party{b, late} {
			got, err := p.History.AboutOf(storetest.View(t, p.Store), "work@laptop")
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%+v is said, want %+v, error %v", got, want, err)
			}
			sound(t, p)
		}
	}
	of := func(title string) history.About {
		return history.About{V: 1, Title: title, Tags: []string{"ci"}, Pinned: true}
	}
	push(history.About{})
	name("the parser")
	push(of("the parser"))
	name("the printer")
	push(of("the printer"))
	if _, err := a.Conversation.Undo(t.Context(), "work"); err != nil {
		t.Fatal(err)
	}
	push(of("the parser"))
	ref := history.AboutRef("work")
	gone := storetest.View(t, a.Store).Get(ref).ID
	_, err := forget.Run(t.Context(), a.Opened, forget.Options{Text: "the parser"})
	if err != nil {
		t.Fatal(err)
	}
	push(history.About{})
	if forgot, err := b.Objects.Forgotten(gone); !forgot || err != nil {
		t.Errorf("the other store has the words still: %v", err)
	}
}

// Two stores of one label are told apart, and neither takes the name of a session that is there.
func TestLabels(t *testing.T) {
	r := open(t, place(t))
	a, b, c := newParty(t, "laptop"), newParty(t, "laptop of another"), newParty(t, "desk")
	b.label = "laptop"
	for _, p := range []*party{a, b} {
		p.say("work", "by "+p.ID)
		p.push(r)
	}
	c.pull(r)
	all := c.texts()
	if len(all) != 2 {
		t.Fatalf("got %q", all)
	}
	for _, p := range []*party{a, b} {
		got, short := all["work@laptop"], all["work@laptop-"+p.ID[:4]]
		if want := []string{"by " + p.ID}; !slices.Equal(got, want) && !slices.Equal(short, want) {
			t.Errorf("the session of %s is missing: %q", p.ID, all)
		}
	}
}

// Only a pull changes what others share, and no undo reaches into it.
func TestOthersSessions(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "one")
	a.push(r)
	b.pull(r)
	_, _, err := b.Conversation.Append(t.Context(), "work@laptop", "main",
		[]conversation.Message{{Role: "user", Text: "no"}}, conversation.AppendOptions{})
	if !errors.Is(err, history.ErrRefused) {
		t.Errorf("append: error %v", err)
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule, session string
		want          bool
	}{
		{"", "work", false}, {"none", "work", false}, {"all", "work", true},
		{"work", "work", true}, {"work", "works", false}, {"work*", "works", true},
		{"all,!private-*", "private-x", false}, {"all, !private-*", "x", true},
		{"all,!private-*,private-x", "private-x", true},
		{"de1ed521", "de1ed521-0000-4000-8000-000000000001", true},
		{"de1ed52", "de1ed521-0000-4000-8000-000000000001", false},
		{"all,!de1ed521", "de1ed521-0000-4000-8000-000000000001.a1", false},
		{"de1ed521", "de1ed5210", false},
		{"work", "work.agent-1", true}, {"all,!work", "work.agent-1", false},
	} {
		r, err := sharing.ParseRule(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Shares(c.session); got != c.want {
			t.Errorf("%q shares %q: %v", c.rule, c.session, got)
		}
	}
	for _, bad := range []string{",", "all,", "a,none", "[", "!"} {
		if _, err := sharing.ParseRule(bad); err == nil {
			t.Errorf("takes %q", bad)
		}
	}
}

// The head on a remote has what docs/format/remote.md says, and is signed by the store.
func TestHead(t *testing.T) {
	root := place(t)
	a := newParty(t, "laptop")
	a.say("work", "one")
	a.push(open(t, root))
	h, err := share.DecodeHead(read(t, filepath.Join(root, "heads", a.ID)))
	if err != nil || h.Store != a.ID || h.Label != "laptop" || h.Number != 1 {
		t.Errorf("got %+v, error %v", h, err)
	}
	if err := share.CheckFormat(read(t, filepath.Join(root, "format"))); err != nil {
		t.Error(err)
	}
}

func glob(t *testing.T, parts ...string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(parts...))
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing is at %v: error %v", parts, err)
	}
	return found
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) { t.Helper(); write(t, to, read(t, from)) }

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
