package sharing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/objects"
)

// A folder in the course of a sync: each file of a store missing, empty, cut or with zeros in the
// place of its rest is not there yet. Nothing is taken in, nobody is accused, and the next pull
// takes all of it once it is there.
func TestHalfArrived(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "one")
	a.push(open(t, root))
	b.pull(open(t, root))
	a.say("work", strings.Repeat("two, in some more words than before. ", 40))
	a.push(open(t, root))
	files := slices.Concat(glob(t, root, "heads", "*"), glob(t, root, "stores", a.ID, "log", "2-*"),
		glob(t, root, "stores", a.ID, "pack", "2-*"), []string{filepath.Join(root, "format")})
	if len(files) != 4 {
		t.Fatalf("files %q", files)
	}
	for _, path := range files {
		whole := read(t, path)
		n := len(whole)
		states := [][]byte{nil, {}, whole[:1], whole[:n/3], whole[:n-1], make([]byte, n),
			slices.Concat(whole[:n/2], make([]byte, n-n/2+zeros))}
		for i, state := range states {
			name := fmt.Sprintf("%s, state %d", filepath.Base(filepath.Dir(path)), i)
			if i == 0 {
				remove(t, path)
			} else {
				write(t, path, state)
			}
			before := b.texts()
			x, err := sharing.Open(t.Context(), b.Opened, open(t, root), b.options("all"))
			if err == nil {
				_, err = x.Pull(t.Context())
			}
			gone := i == 0 && path == filepath.Join(root, "format") // it says nothing of the store
			if !gone && !errors.Is(err, remote.ErrIncomplete) ||
				errors.Is(err, remote.ErrTampered) {
				t.Errorf("%s: error %v", name, err)
			}
			if !gone && !slices.Equal(b.texts()["work@laptop"], before["work@laptop"]) {
				t.Errorf("%s: it was taken in", name)
			}
			write(t, path, whole)
			storetest.Check(t, b.Store)
		}
	}
	b.pull(open(t, root))
	same(t, a, "work", b)
}

// zeros is how many more zeros than a file was long, so that a short one has enough.
const zeros = 64

// What programs that sync folders and systems leave is passed over, wherever it is.
func TestStrangersInAFolder(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "one")
	a.push(open(t, root))
	head := glob(t, root, "heads", "*")[0]
	for _, folder := range []string{".", "heads", "stores", "stores/" + a.ID,
		"stores/" + a.ID + "/log", "stores/" + a.ID + "/pack"} {
		for _, name := range []string{"desktop.ini", ".DS_Store", "thumbs.db", "readme",
			filepath.Base(head) + "-conflict", filepath.Base(head) + " (1)", ".x.icloud",
			"2-2-conflict"} {
			write(t, filepath.Join(root, folder, name), read(t, head))
		}
	}
	b.pull(open(t, root))
	same(t, a, "work", b)
	a.say("work", "two")
	a.push(open(t, root))
	if got := b.pull(open(t, root)); len(got.Stores) != 1 || got.Known != 0 {
		t.Errorf("%+v", got)
	}
	same(t, a, "work", b)
}

// A pull takes in joined packs of long ago, whatever gc has removed here and their owner has
// forgotten since.
func TestPullOfJoinedPacksAfterForget(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	secret := a.say("old", "under the mat")
	a.say("work", "begin")
	a.push(open(t, root))
	b.pull(open(t, root))
	if _, err := b.Conversation.RemoveSession(t.Context(), "old@laptop"); err != nil {
		t.Fatal(err)
	}
	b.collect()
	if there, err := b.Objects.Has(secret); err != nil || there {
		t.Fatalf("gc keeps what was removed: %v, error %v", there, err)
	}
	if _, err := forget.Run(t.Context(), a.Opened,
		forget.Options{IDs: []format.ID{secret}}); err != nil {
		t.Fatal(err)
	}
	a.push(open(t, root))
	b.pull(open(t, root))
	for i := range 64 {
		a.say("work", fmt.Sprint("message ", i))
		a.push(open(t, root))
	}
	day := a.Now().Add(25 * time.Hour)
	a.Now = func() time.Time { return day }
	a.say("work", "a day later, when only the joined pack is left")
	a.push(open(t, root))
	b.pull(open(t, root))
	same(t, a, "work", b)
	storetest.Check(t, b.Store)
}

// A push while a forget is at work: what the push tells the others to forget does not leave with
// it, though the words are here still.
func TestPushBesideForgetLeavesNoWords(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.say("work", "one")
	a.push(open(t, root))
	secret := a.say("work", "under the mat")
	if err := a.Store.Store.Locked(t.Context(), func(tx *store.Tx) error {
		// as far as the forget has come
		return tx.MarkAbsent([]format.ID{secret}, format.ReasonForgotten, a.Now())
	}); err != nil {
		t.Fatal(err)
	}
	if raw, err := a.Objects.Get(secret); err != nil || raw.Body == nil {
		t.Fatalf("the words are gone already: %v", err)
	}
	if got := a.push(open(t, root)); got.Forgot != 1 {
		t.Errorf("the push tells of %d bodies", got.Forgot)
	}
	noWords(t, a, root, "under the mat")
	if _, err := forget.Run(t.Context(), a.Opened,
		forget.Options{IDs: []format.ID{secret}}); err != nil {
		t.Fatal(err)
	}
	a.push(open(t, root))
	b.pull(open(t, root))
	same(t, a, "work", b)
	storetest.Check(t, b.Store)
}

// A forget reaches what only the log of another store leads to: a session that was removed there,
// and messages that their owner has undone. An undo brings no words back.
func TestForgetReachesWhatTheLogKeeps(t *testing.T) {
	for _, removed := range []bool{true, false} {
		root := place(t)
		a, b, c := newParty(t, "laptop"), newParty(t, "desk"), newParty(t, "shed")
		a.say("work", "one")
		secret := a.say("work", "under the mat")
		a.push(open(t, root))
		b.pull(open(t, root))
		c.pull(open(t, root))
		var err error
		if removed {
			_, err = b.Conversation.RemoveSession(t.Context(), "work@laptop")
		} else {
			_, err = a.Conversation.Undo(t.Context(), "work")
			a.push(open(t, root))
			b.pull(open(t, root))
		}
		if err != nil {
			t.Fatal(err)
		}
		// What somebody else forgets of it stays.
		if _, err := forget.Run(t.Context(), c.Opened,
			forget.Options{IDs: []format.ID{secret}}); err != nil {
			t.Fatal(err)
		}
		c.say("work", "two")
		c.push(open(t, root))
		b.pull(open(t, root))
		if gone, err := b.Objects.Forgotten(secret); err != nil || gone {
			t.Errorf("removed %v: the words went: error %v", removed, err)
		}
		if _, err := forget.Run(t.Context(), a.Opened,
			forget.Options{IDs: []format.ID{secret}}); err != nil {
			t.Fatal(err)
		}
		a.push(open(t, root))
		b.pull(open(t, root))
		if gone, err := b.Objects.Forgotten(secret); err != nil || !gone {
			t.Errorf("removed %v: the words are there still: error %v", removed, err)
		}
		if _, err := b.Objects.Get(secret); err == nil {
			t.Errorf("removed %v: the words can be read", removed)
		}
		storetest.Check(t, b.Store)
	}
}

// A push that another one of the same store overtakes leaves no words that were forgotten
// meanwhile: in new packs, and in those that it puts in the place of others. Its packs may come
// late, or be gone when it looks.
func TestOvertakenPushLeavesNoForgottenWords(t *testing.T) {
	for _, late := range []bool{true, false} {
		root := place(t)
		a := newParty(t, "laptop")
		first, old := a.say("work", "what is forgotten first"), a.say("work", "under the old mat")
		a.push(open(t, root))
		forgets := func(ids ...format.ID) {
			t.Helper()
			if _, err := forget.Run(t.Context(), a.Opened,
				forget.Options{IDs: ids}); err != nil {
				t.Fatal(err)
			}
		}
		forgets(first)
		secret := a.say("work", "under the mat")
		r := &failing{Remote: open(t, root)} // it fails in no step, and does something else in one
		done := false
		r.fail = func(bool) error {
			put, err := filepath.Glob(filepath.Join(root, "stores", a.ID, "log", "2-*"))
			renewed, bad := filepath.Glob(filepath.Join(root, "stores", a.ID, "pack", "1-*"))
			err = errors.Join(err, bad)
			if done || err != nil || len(put) == 0 || len(renewed) < 2 {
				return err
			}
			done = true // the first push has put its files, and is about to name them
			forgets(secret, old)
			if late {
				for _, path := range append(glob(t, root, "stores", a.ID, "pack", "2-*"),
					renewed...) {
					if b := read(t, path); path == packOf(t, a, root, first) {
						continue
					} else {
						defer write(t, path, b) // as if they came only now
					}
					remove(t, path)
				}
			}
			a.push(open(t, root))
			return nil
		}
		if _, err := a.at(r).Push(t.Context(), sharing.PushOptions{}); err != nil || !done {
			t.Fatal(done, err)
		}
		noWords(t, a, root, "under the")
	}
}

// A push that was stopped before it removed what its head no longer needs leaves no words to the
// next one that replaces packs.
func TestPushThatForgetsAfterAStoppedOne(t *testing.T) {
	root := place(t)
	a := newParty(t, "laptop")
	one, two := a.say("work", "under the mat"), a.say("work", "under the other mat")
	a.push(open(t, root))
	forgets := func(id format.ID) {
		t.Helper()
		if _, err := forget.Run(t.Context(), a.Opened,
			forget.Options{IDs: []format.ID{id}}); err != nil {
			t.Fatal(err)
		}
	}
	forgets(one)
	stopped := errors.New("stopped")
	r := &failing{Remote: open(t, root), fail: func(bool) error { return nil }, swapped: stopped}
	if _, err := a.at(r).Push(t.Context(), sharing.PushOptions{}); !errors.Is(err, stopped) {
		t.Fatal(err)
	}
	forgets(two)
	a.push(open(t, root))
	noWords(t, a, root, "under the")
}

// packOf returns the pack on a remote that has the body of an object.
func packOf(t *testing.T, a *party, root string, id format.ID) (path string) {
	t.Helper()
	for _, file := range glob(t, root, "stores", a.ID, "pack", "*") {
		digest, err := format.ParseID(file[len(file)-format.IDLen:])
		if err == nil {
			err = a.Objects.ReadPack(read(t, file), digest, func(raw format.Raw) error {
				if raw.ID() == id && raw.Body != nil {
					path = file
				}
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A first push that was stopped is named by no head. Its words are forgotten all the same, whether
// or not the session is pushed in the end.
func TestStoppedFirstPushLeavesNoForgottenWords(t *testing.T) {
	stopped := errors.New("stopped")
	for _, rule := range []string{"all", "none"} {
		root := place(t)
		a := newParty(t, "laptop")
		secret := a.say("work", "under the mat")
		a.say("work", "and what else")
		r := &failing{Remote: open(t, root), fail: func(bool) error {
			if put, err := filepath.Glob(filepath.Join(root, "stores", a.ID, "pack",
				"*")); err != nil || len(put) > 0 {
				return errors.Join(stopped, err)
			}
			return nil
		}}
		if _, err := a.at(r).Push(t.Context(), sharing.PushOptions{}); !errors.Is(err, stopped) {
			t.Fatal(err)
		}
		if _, err := forget.Run(t.Context(), a.Opened,
			forget.Options{IDs: []format.ID{secret}}); err != nil {
			t.Fatal(err)
		}
		x, err := sharing.Open(t.Context(), a.Opened, open(t, root), a.options(rule))
		if err == nil {
			_, err = x.Push(t.Context(), sharing.PushOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		noWords(t, a, root, "under the mat")
	}
}

// A push that was stopped after it put packs without forgotten words, and before it told anybody,
// keeps nobody from pulling.
func TestPullBesideStoppedPushThatForgets(t *testing.T) {
	stopped := errors.New("stopped")
	// Which of two packs is read first, their names say. A push after 64 joins packs, too.
	for i, pushes := range []int{1, 1, 1, 1, 64} {
		root := place(t)
		a, b := newParty(t, fmt.Sprint("laptop", 5+i)), newParty(t, "desk")
		secret := a.say("work", "under the mat")
		for n := range pushes {
			a.say("work", fmt.Sprint("message ", n))
			a.push(open(t, root))
		}
		if _, err := forget.Run(t.Context(), a.Opened,
			forget.Options{IDs: []format.ID{secret}}); err != nil {
			t.Fatal(err)
		}
		r := &failing{Remote: open(t, root), fail: func(bool) error { return nil }, swap: stopped}
		if _, err := a.at(r).Push(t.Context(), sharing.PushOptions{}); !errors.Is(err, stopped) {
			t.Fatal(err)
		}
		b.pull(open(t, root))
		if got := b.texts()["work@"+a.label]; len(got) != pushes+1 {
			t.Errorf("%d pushes: %d messages", pushes, len(got))
		}
		a.push(open(t, root))
		b.pull(open(t, root))
		same(t, a, "work", b)
		noWords(t, a, root, "under the mat")
		noBodies(t, b, "under the mat")
		storetest.Check(t, b.Store)
	}
}

// A forget at any moment of a push that takes other words from the remote keeps nobody from
// pulling: a body goes from a pack only if the same push tells that it was forgotten.
func TestForgetBesidePushThatForgets(t *testing.T) {
	for moment := range 6 {
		root := place(t)
		a, b := newParty(t, "laptop"), newParty(t, "desk")
		one, two := a.say("work", "under the mat"), a.say("work", "under the other mat")
		a.push(open(t, root))
		forgets := func(id format.ID) {
			if _, err := forget.Run(t.Context(), a.Opened,
				forget.Options{IDs: []format.ID{id}}); err != nil {
				t.Error(err)
			}
		}
		forgets(one)
		r := &listing{Remote: open(t, root), look: func(n int) {
			if n == moment {
				forgets(two)
			}
		}}
		if _, err := a.at(r).Push(t.Context(), sharing.PushOptions{}); err != nil {
			t.Fatal(err)
		}
		b.pull(open(t, root))
		a.push(open(t, root))
		b.pull(open(t, root))
		same(t, a, "work", b)
		if moment < r.looks {
			noWords(t, a, root, "under the")
		}
		storetest.Check(t, b.Store)
	}
}

// listing is a remote that says when it is asked for a list, and how often it was before.
type listing struct {
	remote.Remote
	look  func(n int)
	looks int
}

func (l *listing) List(ctx context.Context, prefix string) ([]remote.File, error) {
	l.looks++
	l.look(l.looks - 1)
	return l.Remote.List(ctx, prefix)
}

// What others make of words, before they hear that these were forgotten, does not bring them back.
func TestForgottenWordsDoNotComeBackInSummaries(t *testing.T) {
	r := open(t, place(t))
	laptop, desk := newParty(t, "laptop"), newParty(t, "desk")
	secret := laptop.say("s", "the key to the parcel depot is under the mat")
	laptop.talk("s", 40)
	laptop.push(r)
	desk.pull(r)
	if _, err := desk.Conversation.GoOn(t.Context(), "s@laptop", history.MainBranch,
		"s"); err != nil {
		t.Fatal(err)
	}
	desk.talk("s", 40)
	storetest.Compact(t, desk.Store, "s")
	masked := storetest.Replace(t, desk.Store,
		storetest.BeginReplace(t, desk.Store, format.Target{Entry: secret}),
		"in short: under the mat")
	desk.push(r)
	if _, err := forget.Run(t.Context(), laptop.Opened,
		forget.Options{IDs: []format.ID{secret}}); err != nil {
		t.Fatal(err)
	}
	laptop.pull(r)
	if gone, err := laptop.Objects.Forgotten(masked); err != nil || !gone {
		t.Errorf("a replacement for what was forgotten: forgotten %v, error %v", gone, err)
	}
	noBodies(t, laptop, "under the mat")
	sound(t, laptop)
	for range 2 { // desk, too, when it hears
		laptop.push(r)
		desk.pull(r)
		desk.push(r)
	}
	noBodies(t, desk, "under the mat")
	laptop.pull(r)
	sound(t, desk)
	same(t, desk, "s", laptop)
}

// A forget that comes between a pull's look at a pack and its storing is not too late: what the
// pack has that was made of those words does not come in. The clock is read just before the pull
// waits for the lock.
func TestForgetBesidePullOfWhatWasMade(t *testing.T) {
	r := open(t, place(t))
	laptop, desk := newParty(t, "laptop"), newParty(t, "desk")
	secret := laptop.say("s", "the key to the parcel depot is under the mat")
	laptop.push(r)
	desk.pull(r)
	if _, err := desk.Conversation.GoOn(t.Context(), "s@laptop", history.MainBranch,
		"s"); err != nil {
		t.Fatal(err)
	}
	storetest.Replace(t, desk.Store,
		storetest.BeginReplace(t, desk.Store, format.Target{Entry: secret}),
		"in short: under the mat")
	desk.push(r)
	x := laptop.at(&fetching{r, func() {
		now := laptop.Now
		laptop.Now = func() time.Time {
			laptop.Now = now
			if _, err := forget.Run(t.Context(), storetest.Reopen(t, laptop.Dir, nil).Opened,
				forget.Options{IDs: []format.ID{secret}}); err != nil {
				t.Error(err)
			}
			return now()
		}
	}})
	if _, err := x.Pull(t.Context()); err != nil {
		t.Fatal(err)
	}
	if gone, err := laptop.Objects.Forgotten(secret); err != nil || !gone {
		t.Fatalf("the forget did not run: forgotten %v, error %v", gone, err)
	}
	noBodies(t, laptop, "under the mat")
	sound(t, laptop)
}

// fetching is a remote that says when it is asked for a pack.
type fetching struct {
	remote.Remote
	pack func()
}

func (f *fetching) Get(ctx context.Context, name string) ([]byte, error) {
	b, err := f.Remote.Get(ctx, name)
	if strings.Contains(name, "/"+share.PackFolder) {
		f.pack()
	}
	return b, err
}

// A summary on the remote that gc has removed here goes from there with the words that it was made
// of, and others are told.
func TestForgetReachesSummariesThatAreGoneHere(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	secret := a.say("s", "the key to the parcel depot is under the mat")
	if _, err := a.Conversation.GoOn(t.Context(), "s", history.MainBranch, "other"); err != nil {
		t.Fatal(err)
	}
	a.talk("s", 200)
	storetest.Compact(t, a.Store, "s")
	a.push(open(t, root))
	b.pull(open(t, root))
	if _, err := a.Conversation.RemoveSession(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	a.collect()
	if _, err := forget.Run(t.Context(), a.Opened,
		forget.Options{IDs: []format.ID{secret}}); err != nil {
		t.Fatal(err)
	}
	a.push(open(t, root))
	noWords(t, a, root, "under the mat")
	late := newParty(t, "late")
	for _, p := range []*party{b, late} {
		p.pull(open(t, root))
		noBodies(t, p, "under the mat")
		sound(t, p)
		same(t, a, "other", p)
	}
}

// noBodies fails if a body in a store holds a text.
func noBodies(t *testing.T, p *party, text string) {
	t.Helper()
	err := p.Objects.Contents(func(at objects.Place, raw format.Raw) error {
		if bytes.Contains(raw.Body, []byte(text)) {
			t.Errorf("%s: object %v holds the words", p.label, at.ID)
		}
		return nil
	}, func(_ string, err error) error { return err })
	if err != nil {
		t.Error(err)
	}
}

// noWords fails if a pack of a store on a remote, or any file as it is, holds a text.
func noWords(t *testing.T, a *party, root, text string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b := read(t, path)
		found := bytes.Contains(b, []byte(text))
		if digest, err := format.ParseID(path[max(0, len(path)-format.IDLen):]); err == nil &&
			filepath.Base(filepath.Dir(path)) == "pack" {
			if err := a.Objects.ReadPack(b, digest, func(raw format.Raw) error {
				found = found || bytes.Contains(raw.Body, []byte(text))
				return nil
			}); err != nil {
				return err
			}
		}
		if found {
			t.Errorf("%s holds the words", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What a store has lost without having forgotten it stays with it, and holds nobody up.
func TestLostBodyIsHeldBack(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	lost := a.say("work", "one")
	a.say("other", "whole")
	storetest.Spread(t, a.Store)
	err := a.Store.Store.Locked(t.Context(), func(tx *store.Tx) error {
		return tx.MarkAbsent([]format.ID{lost}, format.ReasonLost, a.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Strip(t, a.Store, lost)
	got := a.push(open(t, root))
	if len(got.Sessions) != 2 || got.Sessions[0].Held() || !got.Sessions[1].Held() {
		t.Errorf("pushed: %+v", got.Sessions)
	}
	b.pull(open(t, root))
	same(t, a, "other", b)
	if texts := b.texts(); len(texts["work@laptop"]) > 0 {
		t.Errorf("it came: %q", texts)
	}
}
