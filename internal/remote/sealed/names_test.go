package sealed

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// fixedNames is the namer of a fixed secret.
func fixedNames() *namer { return newNamer(bytes.Repeat([]byte{7}, secretSize)) }

// The names of the format, as the host has them. They may not change: files are found by them.
func TestPlaces(t *testing.T) {
	for name, want := range map[string]string{
		head:         "heads/71rgmu069k2t6ra12ifovk3cm6626tt96v03dikk4crf05g3mkp6a",
		packed:       "stores/71rgmu069k2t6ra12ifovk3cm6626tt96v03dikk4crf05g3mkp6a/gv3j3mm679idgre7l1u13qqnjtt5npvu5dqe1ss8qu83gl43k9gs40d7ik6nndn93f10lp2nl9dmsfsfotc8fnjemckr8agcr1a9l20",
		"check/00ff": "other/h3pfhru7pnmc4rhce0tackbo42657nqn57e8i0bcfprcsf99da9g",
	} {
		if got := fixedNames().place(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestNamesComeBack(t *testing.T) {
	n := fixedNames()
	digits := strings.Repeat("0123456789abcdef", 20)
	for _, name := range []string{
		head, packed, "check/1", "heads/a/b", "heads", "stores", "stores/a", "a", "keys", "other/x",
		"stores/shared/x", "heads/shared",
		"stores/" + store + "/log/999999999999-999999999999-" + sha,
		"stores/" + store + "/a/b/c.d_e",
		digits[:15], digits[:16], digits[:17], digits[:128], digits[:129], digits[:130],
		digits[:150], "x" + digits[:63] + "y" + digits[:31],
	} {
		at := n.place(name)
		if err := remote.CheckName(at); err != nil {
			t.Errorf("%s becomes %s: %v", name, at, err)
		}
		if again, err := n.open(at); err != nil || again != name {
			t.Errorf("%s comes back as %s, error %v", name, again, err)
		}
	}
}

// Neither the kind of a file, nor a number, nor a digest shows in the length of a name; and a name
// is another one for another group, and in another folder.
func TestNamesTellNothing(t *testing.T) {
	n := fixedNames()
	size := map[int]bool{}
	for _, rest := range []string{"log/1-1-", "pack/1-1-", "pack/64-127-", "log/1000-1000-",
		"pack/1000-1063-"} {
		size[len(n.place("stores/"+store+"/"+rest+sha))] = true
	}
	if len(size) != 1 {
		t.Errorf("names have the lengths %v", size)
	}
	_, here, _ := strings.Cut(strings.TrimPrefix(n.place("stores/"+store+"/pack/1"), "stores/"),
		"/")
	_, there, _ := strings.Cut(strings.TrimPrefix(n.place("stores/"+sha[:32]+"/pack/1"), "stores/"),
		"/")
	if here == there {
		t.Error("two stores have one name for a file")
	}
	if newNamer(make([]byte, secretSize)).place(packed) == n.place(packed) {
		t.Error("two groups have one name for a file")
	}
	if strings.TrimPrefix(n.place(head), "heads/") != strings.Split(n.place(packed), "/")[1] {
		t.Error(
			"the head of a store and its files are not in one place, as a remote in git needs it")
	}
}

// A token opens in its own place, and nowhere else; a changed one opens nowhere.
func TestTokensAreBound(t *testing.T) {
	n := fixedNames()
	parts := strings.Split(n.place(packed), "/")
	other := strings.Split(n.place("stores/"+sha[:32]+"/pack/2"), "/")
	for _, at := range []string{
		"other/" + parts[2], "heads/" + parts[2], "stores/" + other[1] + "/" + parts[2],
		"stores/" + parts[1] + "/" + other[2],
		"heads/" + parts[1] + "/" + parts[2],
		"stores/" + parts[1] + "/" + parts[2] + "/" + parts[2], "x/" + parts[1],
		strings.TrimSuffix(n.place(head), "0"), n.place(head) + "0", "heads/", "heads/w",
	} {
		if name, err := n.open(at); err == nil && at != n.place(head) {
			t.Errorf("%s is taken for %s", at, name)
		}
	}
	at := []byte(n.place(head))
	for i := len("heads/"); i < len(at); i++ {
		was := at[i]
		if at[i] = '0'; was == '0' {
			at[i] = '1'
		}
		if name, err := n.open(string(at)); err == nil {
			t.Errorf("%s is taken for %s", at, name)
		}
		at[i] = was
	}
}

// Whatever a host lists: a name comes back only if it is that of a file, and then it is the same
// one.
func FuzzOpenName(f *testing.F) {
	n := fixedNames()
	for _, name := range []string{head, packed, "check/1", "heads/a/b"} {
		f.Add(n.place(name), name)
	}
	f.Add("heads/0", "stores/x")
	f.Fuzz(func(t *testing.T, at, name string) {
		if got, err := n.open(at); err == nil &&
			(remote.CheckName(got) != nil || n.place(got) != at) {
			t.Errorf("%q is taken for %q", at, got)
		}
		if remote.CheckName(name) != nil {
			return
		}
		if again, err := n.open(n.place(name)); err != nil || again != name {
			t.Errorf("%q comes back as %q, error %v", name, again, err)
		}
	})
}

// FuzzUnpack: bytes that a member of the group sealed are the one form of a text, or refused.
func FuzzUnpack(f *testing.F) {
	for _, text := range []string{store, "pack/1-1-" + sha, "a"} {
		f.Add(pack(text, true), true)
		f.Add(pack(text, false), false)
	}
	f.Add([]byte{128 + 5, 1, 2}, false)
	f.Fuzz(func(t *testing.T, b []byte, blocks bool) {
		if text, err := unpack(b, blocks); err == nil && !bytes.Equal(pack(text, blocks), b) {
			t.Errorf("%x is taken for %q", b, text)
		}
	})
}
