package sealed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// secretSize is the number of bytes of the naming secret and of the secret of a round.
const secretSize = 32

// The limits of a group.
const (
	maxMembers   = 1000
	maxRounds    = 10_000
	maxKeys      = 8 << 20 // bytes of the file keys
	maxRecipient = 8 << 10 // bytes of a recipient
	maxName      = 64      // bytes of a member's name
)

// group is the content of the file keys.
type group struct {
	number  uint64 // of the change, from 1
	naming  []byte
	rounds  [][]byte        // the oldest first
	members []remote.Member // by name
}

// id returns the digits by which people compare that they have the same keys.
func (g *group) id() string {
	return hex.EncodeToString(derive(g.naming, nil, "ctx remote group")[:16])
}

// clone returns a copy that can be changed, with the number of the next change.
func (g *group) clone() *group {
	next := *g
	next.number++
	next.rounds, next.members = slices.Clone(g.rounds), slices.Clone(g.members)
	return &next
}

// newRound gives the group another secret.
func (g *group) newRound(random io.Reader) error {
	secret := make([]byte, secretSize)
	if _, err := io.ReadFull(random, secret); err != nil {
		return err
	}
	g.rounds = append(g.rounds, secret)
	return nil
}

// secrets returns the lines of the naming secret and of the first rounds. Whoever knows them has
// been a member in the last of these rounds.
func (g *group) secrets(rounds int) []byte {
	b := fmt.Appendf(nil, "names %x\n", g.naming)
	for _, secret := range g.rounds[:rounds] {
		b = fmt.Appendf(b, "round %x\n", secret)
	}
	return b
}

// encode returns the text of the keys.
func (g *group) encode() ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	return format.EncodeLines("keys", 1, g.lines)
}

func (g *group) lines(c *format.Lines) {
	secret := func(c *format.Lines, secret *[]byte) *format.Lines {
		if c.Reads() {
			*secret = make([]byte, secretSize)
		}
		return c.Hex(*secret)
	}
	c.Must("number").Number(&g.number)
	secret(c.Must("names"), &g.naming)
	format.Each(c, "round", &g.rounds, secret)
	format.Each(c, "member", &g.members, func(c *format.Lines, m *remote.Member) *format.Lines {
		return c.Word(&m.Name).Rest(&m.Recipient)
	})
}

func (g *group) check() error {
	switch {
	case g.number == 0:
		return errors.New("keys: no number")
	case len(g.rounds) == 0 || len(g.rounds) > maxRounds:
		return fmt.Errorf("keys: %d rounds, at most %d", len(g.rounds), maxRounds)
	case len(g.members) == 0 || len(g.members) > maxMembers:
		return fmt.Errorf("keys: %d members, at most %d", len(g.members), maxMembers)
	}
	for i, m := range g.members {
		if err := checkMemberName(m.Name); err != nil {
			return fmt.Errorf("keys: %w", err)
		}
		if i > 0 && g.members[i-1].Name >= m.Name {
			return errors.New("keys: members are not in order, each once")
		}
		if !isRecipientText(m.Recipient) {
			return fmt.Errorf("keys: not a recipient: %.40q", m.Recipient)
		}
	}
	return nil
}

// checkMemberName returns an error for what cannot be the name of a member.
func checkMemberName(name string) error {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("._@-", r)
	})
	if odd || name == "" || len(name) > maxName || name[0] == '-' {
		return fmt.Errorf("bad name of a member %.80q: it has letters, digits, ., _, @ and -", name)
	}
	return nil
}

// isRecipientText reports whether a text has the form of a recipient: one word, or two of an SSH
// key. Whether it is one shows when something is encrypted to it.
func isRecipientText(s string) bool {
	if len(s) > maxRecipient ||
		strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return false
	}
	kind, key, two := strings.Cut(s, " ")
	return kind != "" && !strings.Contains(key, " ") &&
		(!two || key != "" && strings.HasPrefix(kind, "ssh-"))
}

// decodeGroup reads the text that encode returned.
func decodeGroup(b []byte) (*group, error) {
	g := &group{}
	if err := format.DecodeLines(b, "keys", 1, g.lines); err != nil {
		return nil, err
	}
	return g, g.check()
}

// digest returns the SHA-256 of bytes, in hexadecimal.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
