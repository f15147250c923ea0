package sealed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
)

const (
	store  = "5a6f9c1e0b7d4832a1c4e6f80b9d2e37"
	sha    = "7385fa2b09c206005203904a7e8a5e568b636feb8b2a1499f88f7bc5b56fd89c"
	head   = "heads/" + store
	packed = "stores/" + store + "/pack/1-1-" + sha
)

func TestConformance(t *testing.T) {
	host, ann := &remotetest.Memory{}, newPerson(t, "ann")
	ann.begin(t, host)
	remotetest.Check(t, func(*testing.T) remote.Remote { return ann.open(host) })
}

// The same plain bytes again are no error though the ciphertexts differ, whoever puts them.
func TestTwoMembers(t *testing.T) {
	host, ann, bob := &remotetest.Memory{}, newPerson(t, "ann"), newPerson(t, "bob")
	a := ann.begin(t, host, bob)
	b := bob.open(host)
	must(t, a.PutNew(t.Context(), packed, []byte("words")))
	must(t, b.PutNew(t.Context(), packed, []byte("words")))
	if err := b.PutNew(t.Context(), packed, []byte("other")); !errors.Is(err, remote.ErrExists) {
		t.Errorf("got error %v", err)
	}
	must(t, b.Swap(t.Context(), head, nil, []byte("one")))
	must(t, a.Swap(t.Context(), head, []byte("one"), []byte("two")))
	if got := get(t, b, head); string(got) != "two" {
		t.Errorf("got %q", got)
	}
}

// A file has the size that the list and the page of the format say, at each border.
func TestSizes(t *testing.T) {
	host, ann := &remotetest.Memory{}, newPerson(t, "ann")
	r := ann.begin(t, host)
	for _, n := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 2 * chunkSize,
		2*chunkSize + 1} {
		name := fmt.Sprintf("stores/%s/pack/%d", store, n)
		data := bytes.Repeat([]byte{'x'}, n)
		must(t, r.PutNew(t.Context(), name, data))
		files, err := r.List(t.Context(), name[:strings.LastIndexByte(name, '/')+1])
		must(t, err)
		at := r.names.place(name)
		there := get(t, host, at)
		if int64(len(there)) != sealedSize(int64(n)) {
			t.Errorf("%d bytes are %d on the host, want %d", n, len(there), sealedSize(int64(n)))
		}
		found := false
		for _, f := range files {
			found = found || f.Name == name && f.Size == int64(n)
		}
		if !found {
			t.Errorf("%d bytes: the list has %v", n, files)
		}
		if got := get(t, r, name); !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back as %d", n, len(got))
		}
	}
	const most = 49_987_616 // docs/format/remote-sealed.md
	if sealedSize(most) != remote.MaxFile || sealedSize(most+1) <= remote.MaxFile {
		t.Errorf("%d bytes become %d", most, sealedSize(most))
	}
	if err := r.PutNew(t.Context(), packed, make([]byte, most+1)); err == nil ||
		!strings.Contains(err.Error(), "at most") {
		t.Errorf("a file that is too large: error %v", err)
	}
	for size := int64(-1); size < headerSize+tagSize; size++ {
		if n, err := plainSize(size); err == nil {
			t.Errorf("%d bytes are a file of %d", size, n)
		}
	}
}

// Clients see the file format without the feature, and everybody else sees that it is there.
func TestFormat(t *testing.T) {
	host, ann := &remotetest.Memory{}, newPerson(t, "ann")
	r := ann.begin(t, host)
	if err := share.CheckFormat(get(t, host, "format")); err == nil ||
		!strings.Contains(err.Error(), `"age"`) {
		t.Errorf("a client that does not know the feature: error %v", err)
	}
	must(t, share.CheckFormat(get(t, host, "format"), Feature))
	must(t, share.CheckFormat(get(t, r, "format")))
	must(t, r.PutNew(t.Context(), "format", share.Format()))
	if err := r.PutNew(t.Context(), "format", share.Format("zebra")); !errors.Is(err,
		remote.ErrExists) {
		t.Errorf("got error %v", err)
	}
	for _, features := range [][]string{nil, {"a"}, {"z"}, {"a", "z"}} {
		plain := share.Format(features...)
		sealed := withFeature(plain)
		must(t, share.CheckFormat(sealed, append(features, Feature)...))
		if again, err := withoutFeature(sealed); err != nil || !bytes.Equal(again, plain) {
			t.Errorf("%v: %q becomes %q, error %v", features, plain, again, err)
		}
	}
	files, err := r.List(t.Context(), "")
	if err != nil || len(files) != 1 ||
		files[0] != (remote.File{Name: "format", Size: int64(len(share.Format()))}) {
		t.Errorf("the list has %v, error %v", files, err)
	}
}

// What the host changes is noticed, and named.
func TestTampering(t *testing.T) {
	other := "stores/" + store + "/pack/2-2-" + sha
	for name, c := range map[string]struct {
		do   func(t *testing.T, host remote.Remote, r *Remote)
		want string
	}{
		"two files swapped": {func(t *testing.T, host remote.Remote, r *Remote) {
			a, b := r.names.place(packed), r.names.place(other)
			one, two := get(t, host, a), get(t, host, b)
			replace(t, host, a, two)
			replace(t, host, b, one)
		}, packed + " is not what a member put there under this name"},
		"a byte flipped in the header": {flip(40), packed + " is not what"},
		"a byte flipped in the body":   {flip(-1), packed + " is not what"},
		"a file cut": {func(t *testing.T, host remote.Remote, r *Remote) {
			at := r.names.place(packed)
			b := get(t, host, at)
			replace(t, host, at, b[:len(b)-1])
		}, packed + " is not what"},
		"a file cut at a chunk": {func(t *testing.T, host remote.Remote, r *Remote) {
			must(t, r.Delete(t.Context(), []string{packed}))
			must(t, r.PutNew(t.Context(), packed, make([]byte, chunkSize+1)))
			at := r.names.place(packed)
			replace(t, host, at, get(t, host, at)[:sealedSize(chunkSize)])
		}, packed + " is not what"},
		"a plain file": {func(t *testing.T, host remote.Remote, r *Remote) {
			replace(t, host, r.names.place(packed), []byte("plain"))
		}, packed + " is not what"},
		"the format of a plain remote": {func(t *testing.T, host remote.Remote, _ *Remote) {
			replace(t, host, "format", share.Format())
		}, "does not say any more that it is encrypted"},
		"no format": {func(t *testing.T, host remote.Remote, _ *Remote) {
			must(t, host.Delete(t.Context(), []string{"format"}))
		}, "yet: its file format"},
		"a format cut": {func(t *testing.T, host remote.Remote, _ *Remote) {
			replace(t, host, "format", share.Format()[:5])
		}, "yet: its file format"},
		"no keys": {func(t *testing.T, host remote.Remote, _ *Remote) {
			replace(t, host, "keys", nil)
		}, "its keys are gone; if its members began anew, remove pin.json"},
		"keys that are none": {func(t *testing.T, host remote.Remote, _ *Remote) {
			replace(t, host, "keys", []byte("nothing"))
		}, "its keys are damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			host, ann := &remotetest.Memory{}, newPerson(t, "ann")
			r := ann.begin(t, host)
			must(t, r.PutNew(t.Context(), packed, []byte("one")))
			must(t, r.PutNew(t.Context(), other, []byte("two")))
			c.do(t, host, r)
			_, err := ann.open(host).Get(t.Context(), packed)
			want := remote.ErrTampered
			if name == "no keys" || strings.HasSuffix(c.want, "its file format") {
				want = remote.ErrIncomplete
			}
			if !errors.Is(err, want) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %s", err, c.want)
			}
		})
	}
}

func flip(at int) func(*testing.T, remote.Remote, *Remote) {
	return func(t *testing.T, host remote.Remote, r *Remote) {
		name := r.names.place(packed)
		b := get(t, host, name)
		b[(at+len(b))%len(b)] ^= 1
		replace(t, host, name, b)
	}
}

// A file that no member named is passed over, as in a plain remote.
func TestStrangeNames(t *testing.T) {
	for _, name := range []string{"heads/nobody", "stores/x/y", "other/00", "stores/readme"} {
		host, ann := &remotetest.Memory{}, newPerson(t, "ann")
		r := ann.begin(t, host)
		must(t, host.PutNew(t.Context(), name, make([]byte, 500)))
		if list, err := r.List(t.Context(), ""); err != nil || len(list) != 1 {
			t.Errorf("%s: %v, error %v", name, list, err)
		}
	}
}

// The beginning of a file, and room for one, have not arrived yet.
func TestCutFiles(t *testing.T) {
	for name, cut := range map[string]func(b []byte) []byte{
		"empty":  func([]byte) []byte { return []byte{} },
		"a line": func(b []byte) []byte { return b[:headerSize/2] },
		"zeros":  func(b []byte) []byte { return make([]byte, len(b)) },
		"a reserve": func(b []byte) []byte {
			return append(b[:headerSize:headerSize], make([]byte, 99)...)
		},
	} {
		host, ann := &remotetest.Memory{}, newPerson(t, "ann")
		r := ann.begin(t, host)
		must(t, r.PutNew(t.Context(), packed, []byte("one")))
		at := r.names.place(packed)
		replace(t, host, at, cut(get(t, host, at)))
		if _, err := ann.open(host).Get(t.Context(), packed); !errors.Is(err,
			remote.ErrIncomplete) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The keys: rolled back, replaced by somebody who knows all public keys, forked.
func TestKeysTampering(t *testing.T) {
	ann, bob := newPerson(t, "ann"), newPerson(t, "bob")
	host := &remotetest.Memory{}
	ann.begin(t, host, bob)
	first := get(t, host, "keys")
	ann.change(t, host, remote.RemoveMembers, bob)
	second := get(t, host, "keys")
	r := ann.open(host)
	must(t, r.ready(t.Context()))

	// What the host can make: keys to Ann's public key, with secrets that it knows. And what a
	// removed member can: keys that go on from those that Bob had.
	forge := func(number uint64, rounds [][]byte, naming []byte) []byte {
		b, _, err := encrypt(&group{number, naming, rounds, []remote.Member{ann.member()}})
		must(t, err)
		return b
	}
	own := bytes.Repeat([]byte{1}, secretSize)
	old := r.group.rounds[:1]
	for name, c := range map[string]struct {
		keys []byte
		want string
	}{
		"rolled back": {first, "its keys were rolled back from change 2 to 1"},
		"of the host": {forge(3, [][]byte{own, own, own}, own),
			"its keys were replaced by somebody who did not know those before"},
		"of the host, the naming kept": {forge(3, [][]byte{own, own, own}, r.group.naming),
			"its keys were replaced"},
		"of a removed member": {forge(3, [][]byte{old[0], own}, r.group.naming),
			"its keys were replaced"},
		"of a removed member, fewer": {forge(3, old, r.group.naming),
			"its keys were replaced"},
		"another one of the same number": {forge(2, append(r.group.rounds[:2:2], own),
			r.group.naming), "change 2 of its keys is another one"},
		"of the host with an old number": {forge(1, [][]byte{own}, own), "rolled back"},
		"of the host with the same number": {forge(2, [][]byte{own}, own),
			"is another one than before"},
	} {
		replace(t, host, "keys", c.keys)
		_, err := ann.open(host).List(t.Context(), "")
		if !errors.Is(err, remote.ErrTampered) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %s", name, err, c.want)
		}
	}
	replace(t, host, "keys", second)
	if _, err := ann.open(host).List(t.Context(), ""); err != nil {
		t.Errorf("the right keys: error %v", err)
	}
}

// A removed member reads what was there before, and nothing that came after: not with their
// identity, and not with the keys that they kept either.
func TestRemovedMember(t *testing.T) {
	host, ann, bob := &remotetest.Memory{}, newPerson(t, "ann"), newPerson(t, "bob")
	ann.begin(t, host, bob)
	kept := bob.open(host)
	must(t, kept.PutNew(t.Context(), packed, []byte("before")))
	ann.change(t, host, remote.RemoveMembers, bob)
	after := "stores/" + store + "/pack/2-2-" + sha
	a := ann.open(host)
	must(t, a.PutNew(t.Context(), after, []byte("after")))
	must(t, a.Swap(t.Context(), head, nil, []byte("head")))

	if _, err := bob.open(host).Get(t.Context(), after); !errors.Is(err, ErrNoMember) {
		t.Errorf("with the identity: error %v", err)
	}
	if b, err := kept.Get(t.Context(), after); err == nil {
		t.Errorf("with the keys that were kept: %q", b)
	}
	if got := get(t, kept, packed); string(got) != "before" {
		t.Errorf("what was there before: %q", got)
	}
	for _, name := range []string{after, head} {
		there := get(t, host, kept.names.place(name))
		for _, rounds := range [][][]byte{kept.group.rounds,
			append(kept.group.rounds[:1:1], kept.group.rounds[0])} {
			if b, err := openFile(rounds, name, there); err == nil {
				t.Errorf("%s opens with the old keys: %q", name, b)
			}
		}
	}
	// Others read on, also those who had the keys of before in their hands.
	if got := get(t, a, packed); string(got) != "before" {
		t.Errorf("got %q", got)
	}
	carol := newPerson(t, "carol")
	ann.change(t, host, remote.AddMembers, carol)
	c := carol.open(host)
	if string(get(t, c, packed)) != "before" || string(get(t, c, after)) != "after" {
		t.Error("a new member does not read the past")
	}
}

// A client that has read the keys reads them again when it meets a file of a later round.
func TestNewRoundMeanwhile(t *testing.T) {
	host, ann, bob, carol := &remotetest.Memory{}, newPerson(t, "ann"), newPerson(t, "bob"),
		newPerson(t, "carol")
	ann.begin(t, host, bob, carol)
	b := bob.open(host)
	must(t, b.ready(t.Context()))
	ann.change(t, host, remote.RemoveMembers, carol)
	must(t, ann.open(host).Swap(t.Context(), head, nil, []byte("one")))
	must(t, b.Swap(t.Context(), head, []byte("one"), []byte("two")))
	if got := get(t, ann.open(host), head); string(got) != "two" {
		t.Errorf("got %q", got)
	}
}

// Two who change the members at once both get their way, and the first pin is not lost.
func TestMembersAtOnce(t *testing.T) {
	host, ann, bob := &remotetest.Memory{}, newPerson(t, "ann"), newPerson(t, "bob")
	ann.begin(t, host, bob)
	errs := make(chan error)
	for i, p := range []*person{ann, bob} {
		for k := range 2 {
			m := newPerson(t, fmt.Sprintf("new-%d-%d", i, k)).member()
			r := p.open(host)
			go func() {
				_, err := r.Members(t.Context(),
					remote.MemberChange{Do: remote.AddMembers, Members: []remote.Member{m}})
				errs <- err
			}()
		}
	}
	for range 4 {
		must(t, <-errs)
	}
	of, err := bob.open(host).Members(t.Context(), remote.MemberChange{Do: remote.ListMembers})
	if err != nil || len(of.Members) != 6 || of.Self != "bob" || of.Round != 1 || !of.Classic {
		t.Errorf("%+v, error %v", of, err)
	}
	p, err := decodePin(ann.pin.b)
	if err != nil || p.Number < 2 {
		t.Errorf("%+v, error %v", p, err)
	}
}

// One who was stopped between the file format and the keys begins again; a plain remote is refused.
func TestBegin(t *testing.T) {
	host, ann := &remotetest.Memory{}, newPerson(t, "ann")
	if _, err := ann.open(host).List(t.Context(), ""); !errors.Is(err, ErrNotBegun) {
		t.Errorf("got error %v", err)
	}
	must(t, host.PutNew(t.Context(), "format", share.Format(Feature)))
	ann.begin(t, host)
	of, err := ann.open(host).Members(t.Context(),
		remote.MemberChange{Do: remote.BeginGroup, Self: "ann"})
	if err != nil || of.Began || len(of.Members) != 1 {
		t.Errorf("%+v, error %v", of, err)
	}
	plain := &remotetest.Memory{}
	must(t, plain.PutNew(t.Context(), "format", share.Format()))
	if _, err := newPerson(t, "bob").open(plain).Members(t.Context(),
		remote.MemberChange{Do: remote.BeginGroup, Self: "bob"}); err == nil ||
		!strings.Contains(err.Error(), "not encrypted") {
		t.Errorf("got error %v", err)
	}
}

func TestMemberFaults(t *testing.T) {
	host, ann, bob := &remotetest.Memory{}, newPerson(t, "ann"), newPerson(t, "bob")
	ann.begin(t, host, bob)
	r := ann.open(host)
	for want, change := range map[string]remote.MemberChange{
		"bob is a member already": {Do: remote.AddMembers,
			Members: []remote.Member{bob.member()}},
		"with the same key": {Do: remote.AddMembers,
			Members: []remote.Member{{Name: "bill", Recipient: bob.member().Recipient}}},
		"is called bob already": {Do: remote.AddMembers,
			Members: []remote.Member{{Name: "bob",
				Recipient: newPerson(t, "x").member().Recipient}}},
		"not a recipient": {Do: remote.AddMembers,
			Members: []remote.Member{{Name: "eve", Recipient: "eve"}}},
		"that is a secret key": {Do: remote.AddMembers,
			Members: []remote.Member{{Name: "eve", Recipient: "AGE-SECRET-KEY-1QQ"}}},
		"bad name of a member": {Do: remote.AddMembers,
			Members: []remote.Member{{Name: "e ve",
				Recipient: newPerson(t, "x").member().Recipient}}},
		"no member is called": {Do: remote.RemoveMembers,
			Members: []remote.Member{{Name: "age1"}}},
		"you cannot remove yourself": {Do: remote.RemoveMembers,
			Members: []remote.Member{{Name: "ann"}}},
		"no member to remove": {Do: remote.RemoveMembers},
		"unknown change":      {Do: "dance"},
		"the remote is encrypted already": {Do: remote.BeginGroup,
			Members: []remote.Member{{Name: "x"}}},
	} {
		if _, err := r.Members(t.Context(), change); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	of, err := r.Members(t.Context(),
		remote.MemberChange{Do: remote.RemoveMembers,
			Members: []remote.Member{{Name: bob.member().Recipient[:20]}}})
	if err != nil || len(of.Members) != 1 || of.Round != 2 {
		t.Errorf("%+v, error %v", of, err)
	}
}

// A remote below may answer from a copy, as that in git does until a swap fails. Who knows the new
// content swaps it all the same, and who knows the old one is refused.
func TestStaleCopy(t *testing.T) {
	host, ann := &remotetest.Memory{}, newPerson(t, "ann")
	ann.begin(t, host)
	must(t, ann.open(host).Swap(t.Context(), head, nil, []byte("one")))
	below := &copied{Memory: host, copy: host.Clone()}
	r := ann.open(below)
	if got := get(t, r, head); string(got) != "one" {
		t.Fatalf("got %q", got)
	}
	must(t, ann.open(host).Swap(t.Context(), head, []byte("one"), []byte("two")))
	must(t, r.Swap(t.Context(), head, []byte("two"), []byte("three")))
	below.copy = host.Clone()
	must(t, ann.open(host).Swap(t.Context(), head, []byte("three"), []byte("four")))
	if err := r.Swap(t.Context(), head, []byte("three"), []byte("five")); !errors.Is(err,
		remote.ErrStale) {
		t.Errorf("got error %v", err)
	}
}

// copied reads from a copy, which a swap that fails brings up to date.
type copied struct {
	*remotetest.Memory
	copy *remotetest.Memory
}

func (c *copied) Get(ctx context.Context, name string) ([]byte, error) {
	return c.copy.Get(ctx, name)
}

func (c *copied) Swap(ctx context.Context, name string, old, new []byte) error {
	err := c.Memory.Swap(ctx, name, old, new)
	c.copy = c.Clone()
	return err
}
