package sealed

import (
	"crypto/sha256"
	"strconv"
	"sync"
	"testing"

	"filippo.io/age"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// stream gives the same bytes in every run. The file keys of age are not among them.
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

func (m *memoryPin) Save(b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.b = b
	return nil
}

func (m *memoryPin) Where() string { return "pin.json" }

// person is somebody with a key and a pin.
type person struct {
	name string
	id   age.Identity
	pin  *memoryPin
}

func newPerson(t testing.TB, name string) *person {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return &person{name, id, &memoryPin{}}
}

func (p *person) member() remote.Member {
	return remote.Member{Name: p.name, Recipient: recipientOf(p.id)}
}

var seed = &stream{}

// open returns the person's client of a place.
func (p *person) open(inner remote.Remote) *Remote {
	return Open(Config{Inner: inner, Identities: []age.Identity{p.id}, Pin: p.pin, Random: seed})
}

// begin encrypts a place for a person and others.
func (p *person) begin(t testing.TB, inner remote.Remote, others ...*person) *Remote {
	t.Helper()
	r := p.open(inner)
	change := remote.MemberChange{Do: remote.BeginGroup, Self: p.name}
	for _, o := range others {
		change.Members = append(change.Members, o.member())
	}
	if _, err := r.Members(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	return r
}
