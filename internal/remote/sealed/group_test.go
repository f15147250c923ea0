package sealed

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
)

func fixedGroup() *group {
	return &group{
		number: 3, naming: bytes.Repeat([]byte{7}, secretSize),
		rounds: [][]byte{bytes.Repeat([]byte{8}, secretSize), bytes.Repeat([]byte{9}, secretSize)},
		members: []remote.Member{{Name: "ann", Recipient: "age1ann"},
			{Name: "bob@desk", Recipient: "ssh-ed25519 AAAA"}},
	}
}

func TestGroupText(t *testing.T) {
	b, err := fixedGroup().encode()
	want := "keys 1\nnumber 3\nnames " + strings.Repeat("07", 32) + "\nround " +
		strings.Repeat("08", 32) + "\nround " + strings.Repeat("09", 32) +
		"\nmember ann age1ann\nmember bob@desk ssh-ed25519 AAAA\n"
	if err != nil || string(b) != want {
		t.Errorf("got %q, error %v", b, err)
	}
	g, err := decodeGroup(b)
	if err != nil || fmt.Sprint(g) != fmt.Sprint(fixedGroup()) {
		t.Errorf("came back as %v, error %v", g, err)
	}
	const id = "90eee41cbefb8fcb7017f29b9b3e41c1"
	if g.id() != id {
		t.Errorf("the group is %s, want %s", g.id(), id)
	}
}

func TestGroupFaults(t *testing.T) {
	good, err := fixedGroup().encode()
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		"keys 1":               "keys 2",
		"number 3":             "number 03",
		"number 3\n":           "",
		"names 07":             "names 0",
		"round 08":             "round 0g",
		"member ann age1ann\n": "member ann age1ann\nmember ann age1ann\n",
		"age1ann":              "age1 ann",
		"ssh-ed25519 AAAA":     "ssh-ed25519 AAAA comment",
		"member ann":           "member  ann",
		"member bob@desk":      "member -bob",
		"round 09":             "ROUND 09",
		"AAAA\n":               "AAAA",
		"keys 1\n":             "keys 1\nkeys 1\n",
	} {
		bad := strings.Replace(string(good), from, to, 1)
		if bad == string(good) {
			t.Errorf("%q is not there", from)
		}
		if g, err := decodeGroup([]byte(bad)); err == nil {
			t.Errorf("%q for %q: takes %v", to, from, g)
		}
	}
}

// fixedFile is a file of this version, with secrets of fixedGroup. It opens for ever.
const fixedFile = "" +
	"YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IGN0eC1yZW1vdGUgMDAwMDAwMDIgTDF3MjdYbFBZNUJFNjRYS25YTFVHUQ" +
	"p4L0NVWXZwQXRJelBvZ1VCRTlDU3ZTeGJ2VUs0aTVBZFNOUkYzRnUzL053Ci0tLSB1ci8xejJmbVdPNHovNnV4UmVo" +
	"bU5IUEE4ZmROL3d0N0FXN2dyWG52Ump3Cm9wYcwBV9xnZhxIaS7MFrfxopd0VRhCIfHajEa+LBJSeCWPZYJa"

func TestFixedFile(t *testing.T) {
	b, err := base64.StdEncoding.DecodeString(fixedFile)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := openFile(fixedGroup().rounds, head, b)
	if err != nil || string(plain) != "a head" {
		t.Errorf("got %q, error %v", plain, err)
	}
	if plain, err := openFile(fixedGroup().rounds, head+"0", b); err == nil {
		t.Errorf("opens under another name: %q", plain)
	}
	if !bytes.Contains(b, []byte("\n-> ctx-remote 00000002 ")) {
		t.Errorf("got %q", b)
	}
}

// FuzzDecodeGroup: keys that a client accepts are written so.
func FuzzDecodeGroup(f *testing.F) {
	b, err := fixedGroup().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("keys 1\nnumber 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := decodeGroup(b)
		if err != nil {
			return
		}
		if again, err := g.encode(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q is written as %q, error %v", b, again, err)
		}
	})
}

// FuzzOpenFile: whatever a host returns for a file, it does not open unless a member sealed it.
func FuzzOpenFile(f *testing.F) {
	rounds := fixedGroup().rounds
	good, err := base64.StdEncoding.DecodeString(fixedFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:headerSize+tagSize])
	f.Add(bytes.Replace(good, []byte("00000002"), []byte("00000001"), 1))
	f.Add(bytes.Replace(good, []byte("00000002"), []byte("00000003"), 1))
	f.Add([]byte("age-encryption.org/v1\n-> X25519 a\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if plain, err := openFile(rounds, head, b); err == nil && !bytes.Equal(b, good) {
			t.Errorf("%q opens as %q", b, plain)
		}
	})
}

// FuzzDecodePin: what is noted of keys is read whole, or refused.
func FuzzDecodePin(f *testing.F) {
	f.Add([]byte(`{"v":1,"group":"x","number":2,"keys":"","rounds":1,"secrets":""}`), uint64(2))
	f.Add([]byte(`{"v":2}`), uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, number uint64) {
		p, err := decodePin(b)
		if err != nil {
			return
		}
		g := fixedGroup()
		g.number = number
		if err := p.allows(g, nil); err == nil && number < p.Number {
			t.Errorf("%q allows change %d", b, number)
		}
	})
}
