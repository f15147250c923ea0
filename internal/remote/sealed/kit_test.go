package sealed

import (
	"bytes"
	"crypto/sha256"
	"strconv"
	"sync"
	"testing"

	"filippo.io/age"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// stream gives the same bytes in every run. The keys that age makes itself are not among them.
type stream struct {
	mu   sync.Mutex
	n    int
	left []byte
}

func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 {
		sum := sha256.Sum256([]byte("seed " + strconv.Itoa(s.n)))
		s.n++
		s.left = sum[:]
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// memoryPin is a Pin that a test can look into.
type memoryPin struct {
	mu sync.Mutex
	b  []byte
}

func (m *memoryPin) Load() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.b, nil
}

func (m *memoryPin) Save(old, b []byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !bytes.Equal(m.b, old) {
		return false, nil
	}
	m.b = b
	return true, nil
}

func (m *memoryPin) Where() string { return "pin.json" }

// person is somebody with a key and a pin.
type person struct {
	name   string
	id     age.Identity
	pin    *memoryPin
	random *stream
}

func newPerson(t testing.TB, name string) *person {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return &person{name, id, &memoryPin{}, &stream{}}
}

func (p *person) member() remote.Member {
	return remote.Member{Name: p.name, Recipient: recipientOf(p.id)}
}

// open returns the person's client of a place.
func (p *person) open(inner remote.Remote) *Remote {
	return Open(Config{Inner: inner, Identities: []age.Identity{p.id}, Pin: p.pin,
		Random: p.random})
}

// begin encrypts a place for a person and others.
func (p *person) begin(t testing.TB, inner remote.Remote, others ...*person) *Remote {
	t.Helper()
	r := p.open(inner)
	change := remote.MemberChange{Do: remote.BeginGroup, Self: p.name}
	for _, o := range others {
		change.Members = append(change.Members, o.member())
	}
	if of, err := r.Members(t.Context(), change); err != nil || !of.Began {
		t.Fatalf("%+v, error %v", of, err)
	}
	return r
}

// change adds or removes members.
func (p *person) change(t testing.TB, inner remote.Remote, do string, others ...*person) {
	t.Helper()
	change := remote.MemberChange{Do: do}
	for _, o := range others {
		change.Members = append(change.Members, o.member())
	}
	if _, err := p.open(inner).Members(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, r remote.Remote, name string) []byte {
	t.Helper()
	b, err := r.Get(t.Context(), name)
	must(t, err)
	return b
}

// replace is what a host can do: another content, whatever was there.
func replace(t testing.TB, host remote.Remote, name string, b []byte) {
	t.Helper()
	must(t, host.Delete(t.Context(), []string{name}))
	if b != nil {
		must(t, host.PutNew(t.Context(), name, b))
	}
}
