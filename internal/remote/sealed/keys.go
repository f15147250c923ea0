package sealed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// ErrNotBegun says that a place has no keys, and that no client of this person has seen any.
var ErrNotBegun = errors.New(
	"the place is not encrypted yet: `ctx remote add` begins an encrypted remote")

// ErrNoMember says that the keys are not encrypted to any identity of this person.
var ErrNoMember = errors.New(
	"you are no member of this remote: send a member what `ctx-remote-age identity` prints")

// ready makes sure that the keys are known.
func (r *Remote) ready(ctx context.Context) error {
	if r.group != nil {
		return nil
	}
	return r.load(ctx)
}

// load reads the keys from the host, and compares them with what was seen before. Errors:
// ErrNotBegun, ErrNoMember, ErrTampered.
func (r *Remote) load(ctx context.Context) error {
	for range changeTries {
		if done, err := r.loadOnce(ctx); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %s changes all the time", remote.ErrTemporary, r.c.Pin.Where())
}

// loadOnce is load, unless another process notes other keys meanwhile: then done is false.
func (r *Remote) loadOnce(ctx context.Context) (done bool, err error) {
	pin, noted, err := r.pin()
	if err != nil {
		return false, err
	}
	b, err := r.inner.Get(ctx, keysFile)
	switch {
	case errors.Is(err, remote.ErrNotFound) && pin != nil:
		return false, r.distrust(fmt.Errorf("%w: its keys are gone", remote.ErrIncomplete))
	case errors.Is(err, remote.ErrNotFound) && r.c.Group != "":
		return false, fmt.Errorf("%w: its keys are gone, or were never there", remote.ErrIncomplete)
	case errors.Is(err, remote.ErrNotFound):
		return false, ErrNotBegun
	case err != nil:
		return false, err
	case len(b) == 0:
		return false, fmt.Errorf("%w: its keys", remote.ErrIncomplete)
	}
	g, text, err := r.decrypt(b)
	if err != nil {
		return false, err
	}
	if r.c.Group != "" && r.c.Group != g.id() {
		return false, fmt.Errorf("%w: its keys are those of group %s, and the URL names %s",
			remote.ErrTampered, g.id(), r.c.Group)
	}
	if pin != nil {
		if err := pin.allows(g, text); err != nil {
			return false, r.distrust(err)
		}
	}
	format, err := r.inner.Get(ctx, formatFile)
	if errors.Is(err, remote.ErrNotFound) || err == nil && !bytes.HasSuffix(format, []byte("\n")) {
		return false, fmt.Errorf("%w: its file format", remote.ErrIncomplete)
	}
	if err == nil {
		_, err = withoutFeature(format)
	}
	if errors.Is(err, errNotSealed) {
		return false, fmt.Errorf("%w: its file format does not say any more that it is encrypted",
			remote.ErrTampered)
	}
	if err != nil {
		return false, err
	}
	return r.adopt(g, text, b, noted)
}

// distrust adds to an error what a person can do who knows better.
func (r *Remote) distrust(err error) error {
	if where := r.c.Pin.Where(); where != "" {
		return fmt.Errorf("%w; if its members began anew, remove %s", err, where)
	}
	return err
}

// pin returns what was seen of the keys, and how that is noted; nil for nothing.
func (r *Remote) pin() (p *pinned, noted []byte, err error) {
	noted, err = r.c.Pin.Load()
	if err != nil || noted == nil {
		return nil, nil, err
	}
	is, err := decodePin(noted)
	if err != nil {
		return nil, nil,
			fmt.Errorf("cannot read %s, which says which keys to trust: %w", r.c.Pin.Where(), err)
	}
	return &is, noted, nil
}

// adopt notes keys in the place of those that were noted, and takes them as those of the remote. It
// does neither, and returns false, if others are noted by now.
func (r *Remote) adopt(g *group, text, host, noted []byte) (bool, error) {
	next, err := json.Marshal(seen(g, text))
	if err != nil {
		return false, err
	}
	if next = append(next, '\n'); !bytes.Equal(next, noted) {
		if done, err := r.c.Pin.Save(noted, next); !done || err != nil {
			return false, err
		}
	}
	r.group, r.names, r.host = g, newNamer(g.naming), host
	return true, nil
}

// decrypt reads the file keys.
func (r *Remote) decrypt(b []byte) (*group, []byte, error) {
	if len(b) > maxKeys {
		return nil, nil, fmt.Errorf("the keys have %d bytes, at most %d", len(b), maxKeys)
	}
	in, err := age.Decrypt(bytes.NewReader(b), r.c.Identities...)
	if errors.As(err, new(*age.NoIdentityMatchError)) {
		return nil, nil, ErrNoMember
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(in, maxKeys))
	}
	var g *group
	if err == nil {
		g, err = decodeGroup(text)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: its keys are damaged: %w", remote.ErrTampered, err)
	}
	return g, text, nil
}

// encrypt returns the file keys for a group, and its text.
func encrypt(g *group) (b, text []byte, err error) {
	if text, err = g.encode(); err != nil {
		return nil, nil, err
	}
	to, err := recipients(g.members)
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err != nil {
		return nil, nil, err
	}
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	if err == nil && out.Len() > maxKeys {
		err = fmt.Errorf("the keys of so many members have %d bytes, at most %d",
			out.Len(), maxKeys)
	}
	return out.Bytes(), text, err
}

// changeTries is how often a change of the keys begins again after somebody else's.
const changeTries = 5

// Members implements remote.Grouper. A change is done when it returns nil; after another error it
// may be done or not.
func (r *Remote) Members(ctx context.Context, change remote.MemberChange) (remote.Group, error) {
	for try := 1; ; try++ {
		out, err := r.members(ctx, change)
		if try < changeTries && errors.Is(err, remote.ErrStale) {
			continue
		}
		return out, err
	}
}

func (r *Remote) members(
	ctx context.Context, change remote.MemberChange,
) (out remote.Group, err error) {
	r.group = nil // as it is now
	err = r.ready(ctx)
	if errors.Is(err, ErrNotBegun) && change.Do == remote.BeginGroup {
		if err := r.begin(ctx, change); err != nil {
			return out, err
		}
		out, err = r.report(), nil
		out.Began = true
		return out, err
	}
	if err != nil {
		return out, err
	}
	next := r.group.clone()
	switch change.Do {
	case remote.ListMembers:
		return r.report(), nil
	case remote.BeginGroup:
		if len(change.Members) > 0 {
			return out,
				errors.New("the remote is encrypted already: `ctx remote member add` adds members")
		}
		return r.report(), nil
	case remote.AddMembers:
		err = next.add(change.Members)
	case remote.RemoveMembers:
		if err = next.remove(change.Members, r.report().Self); err == nil {
			err = next.newRound(r.c.Random)
		}
	default:
		err = fmt.Errorf("unknown change of members %.40q", change.Do)
	}
	if err != nil {
		return out, err
	}
	b, text, err := encrypt(next)
	if err != nil {
		return out, err
	}
	if err := r.inner.Swap(ctx, keysFile, r.host, b); err != nil {
		return out, err
	}
	if err := r.follow(ctx, next, text, b); err != nil {
		return out, err
	}
	return r.report(), nil
}

// follow notes keys that this client has put on the host, or those that came after them.
func (r *Remote) follow(ctx context.Context, g *group, text, host []byte) error {
	_, noted, err := r.pin()
	if err != nil {
		return err
	}
	done, err := r.adopt(g, text, host, noted)
	if !done && err == nil {
		err = r.load(ctx)
	}
	return err
}

// begin encrypts a place that nothing is in yet.
func (r *Remote) begin(ctx context.Context, change remote.MemberChange) error {
	format := share.Format(Feature)
	switch there, err := r.inner.Get(ctx, formatFile); {
	case errors.Is(err, remote.ErrNotFound):
	case err != nil:
		return err
	case !bytes.Equal(there, format): // what is there may be from one who was stopped below
		return errors.New("the place is a remote already, and not encrypted: take another place")
	}
	self, err := ownRecipient(r.c.Identities)
	if err != nil {
		return err
	}
	g := &group{number: 1, naming: make([]byte, secretSize)}
	if _, err := io.ReadFull(r.c.Random, g.naming); err != nil {
		return err
	}
	if err := g.newRound(r.c.Random); err != nil {
		return err
	}
	if err := g.add(append([]remote.Member{{Name: change.Self, Recipient: self}},
		change.Members...)); err != nil {
		return err
	}
	b, text, err := encrypt(g)
	if err != nil {
		return err
	}
	if err := r.inner.PutNew(ctx, formatFile, format); err != nil {
		return err
	}
	if err := r.inner.Swap(ctx, keysFile, nil, b); err != nil {
		return err
	}
	return r.follow(ctx, g, text, b)
}

// add adds members. One that is there under the same name with the same recipient stays.
func (g *group) add(members []remote.Member) error {
	for _, m := range members {
		recipient, comment, err := cleanRecipient(m.Recipient)
		if err != nil {
			return err
		}
		name := m.Name
		if name == "" {
			name = nameFor(recipient, comment)
		}
		for _, there := range g.members {
			switch {
			case there.Recipient == recipient && (m.Name == "" || there.Name == name):
				return fmt.Errorf("%s is a member already", there.Name)
			case there.Recipient == recipient:
				return fmt.Errorf("%s is a member already, with the same key", there.Name)
			case there.Name == name:
				return fmt.Errorf(
					"a member is called %s already: NAME=RECIPIENT gives another name", name)
			}
		}
		g.members = append(g.members, remote.Member{Name: name, Recipient: recipient})
	}
	slices.SortFunc(g.members,
		func(a, b remote.Member) int { return strings.Compare(a.Name, b.Name) })
	return g.check()
}

// remove removes members, but not the one who asks: nobody would have the keys of the next round
// then, or the wrong people.
func (g *group) remove(members []remote.Member, self string) error {
	if len(members) == 0 {
		return errors.New("no member to remove")
	}
	for _, m := range members {
		at := slices.IndexFunc(g.members,
			func(there remote.Member) bool { return there.Name == m.Name })
		if at < 0 {
			var like []int
			for i, there := range g.members {
				if len(m.Name) >= 12 && strings.HasPrefix(there.Recipient, m.Name) {
					like = append(like, i)
				}
			}
			if len(like) != 1 {
				return fmt.Errorf("%w: no member is called %.80q", remote.ErrNotFound, m.Name)
			}
			at = like[0]
		}
		if g.members[at].Name == self {
			return errors.New("you cannot remove yourself: another member can")
		}
		g.members = slices.Delete(g.members, at, at+1)
	}
	return nil
}

// report returns the group as callers see it.
func (r *Remote) report() remote.Group {
	g := r.group
	out := remote.Group{ID: g.id(), Round: len(g.rounds), Members: slices.Clone(g.members)}
	for _, m := range g.members {
		out.Classic = out.Classic || !isPostQuantum(m.Recipient)
		if out.Self == "" &&
			slices.ContainsFunc(r.c.Identities,
				func(i age.Identity) bool { return recipientOf(i) == m.Recipient }) {
			out.Self = m.Name
		}
	}
	return out
}

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
