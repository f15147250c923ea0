package objects_test

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/objects"
)

func each(raws []format.Raw) iter.Seq2[format.Raw, error] {
	return func(yield func(format.Raw, error) bool) {
		for _, r := range raws {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func takeAll(format.ID, format.Raw) error { return nil }

func atOnce(publish func() error) error { return publish() }

// A pack goes from one store to another, is whole there, and has nothing of the first one's key.
func TestAdoptPack(t *testing.T) {
	from, _ := newStore(t, nil)
	from.Key = func() ([]byte, error) { return bytes.Repeat([]byte{0xab}, 32), nil }
	var raws []format.Raw
	for i := range 300 {
		raws = append(raws, object(i, words(500, uint64(i))))
	}
	raws = append(raws, bare(7))
	b, id, err := from.EncodePack(each(raws), objects.Default)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, bytes.Repeat([]byte{0xab}, 32)) {
		t.Error("the pack holds the store's key")
	}
	to, _ := newStore(t, nil)
	var met []format.ID
	gone, err := to.AdoptPack(b, id, func(id format.ID, _ format.Raw) error {
		met = append(met, id)
		return nil
	}, atOnce)
	if err != nil || len(gone) > 0 || len(met) != len(raws) {
		t.Fatalf("gone %v, %d of %d objects met, error %v", gone, len(met), len(raws), err)
	}
	for _, r := range raws {
		got, err := to.Get(r.ID())
		if err != nil || !bytes.Equal(got.Header, r.Header) || !bytes.Equal(got.Body, r.Body) {
			t.Fatalf("%v: error %v", r.ID(), err)
		}
	}
	if err := to.CheckPack(id); err != nil {
		t.Error(err)
	}
	// Again is no error.
	if _, err := to.AdoptPack(b, id, takeAll, atOnce); err != nil {
		t.Error(err)
	}
}

// A pack in which anything was changed is not taken in, and neither is one of another name.
func TestAdoptPackRefuses(t *testing.T) {
	from, _ := newStore(t, nil)
	b, id, err := from.EncodePack(
		each([]format.Raw{object(1, words(900, 1)), object(2, words(900, 2))}), objects.Default)
	if err != nil {
		t.Fatal(err)
	}
	to, _ := newStore(t, nil)
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 4
		if _, err := to.AdoptPack(bad, id, takeAll, atOnce); err == nil {
			t.Fatalf("byte %d was changed, and the pack was taken in", i)
		}
		if _, err := to.AdoptPack(b[:i], id, takeAll, atOnce); err == nil {
			t.Fatalf("the pack was cut at byte %d, and taken in", i)
		}
	}
	if _, err := to.AdoptPack(b, format.Sum([]byte("another")), takeAll, atOnce); err == nil {
		t.Error("a pack of another name was taken in")
	}
	refused := errors.New("refused")
	if _, err := to.AdoptPack(b, id,
		func(format.ID, format.Raw) error { return refused }, atOnce); !errors.Is(err, refused) {
		t.Errorf("got error %v", err)
	}
	if _, err := to.Get(object(1, words(900, 1)).ID()); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("something was taken in: %v", err)
	}
}

// What a store has forgotten does not come back with a pack, and neither does what it forgets while
// the pack waits for the lock.
func TestAdoptPackForgotten(t *testing.T) {
	t.Run("before", func(t *testing.T) { testAdoptPackForgotten(t, false) })
	t.Run("meanwhile", func(t *testing.T) { testAdoptPackForgotten(t, true) })
}

func testAdoptPackForgotten(t *testing.T, meanwhile bool) {
	from, _ := newStore(t, nil)
	kept, secret := object(1, "kept"), object(2, "the secret words")
	b, id, err := from.EncodePack(each([]format.Raw{kept, secret}), objects.Default)
	if err != nil {
		t.Fatal(err)
	}
	to, root := newStore(t, nil)
	forget := func() {
		err := to.MarkAbsent(hold(t, root), []format.ID{secret.ID()}, format.ReasonForgotten,
			now())
		if err != nil {
			t.Fatal(err)
		}
	}
	if !meanwhile {
		forget()
	}
	gone, err := to.AdoptPack(b, id, takeAll, func(publish func() error) error {
		if meanwhile {
			forget()
		}
		return publish()
	})
	if err != nil || !slices.Equal(gone, []format.ID{secret.ID()}) {
		t.Fatalf("gone %v, error %v", gone, err)
	}
	var forgotten *objects.GoneError
	if _, err := to.Get(secret.ID()); !errors.As(err, &forgotten) {
		t.Errorf("the words: error %v", err)
	}
	if got, err := to.Get(kept.ID()); err != nil || string(got.Body) != "kept" {
		t.Errorf("got %q, error %v", got.Body, err)
	}
}

// FuzzComplete holds that bare packs are read without harm.
func FuzzComplete(f *testing.F) {
	from, _ := newStore(f, nil)
	b, _, err := from.EncodePack(each([]format.Raw{object(1, "one"), object(2, "two"), bare(3)}),
		objects.Default)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := packs.Complete(b)
		if err != nil {
			return
		}
		if again, err := packs.Bare(whole); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q is %q again, error %v", b, again, err)
		}
	})
}
