package sealed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"

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
		return false,
			fmt.Errorf("%w: its keys are those of group %s, and the URL names %s",
				remote.ErrTampered, g.id(), r.c.Group)
	}
	if pin != nil {
		if err := pin.allows(g, text); err != nil {
			return false, r.distrust(err)
		}
	}
	format, err := r.inner.Get(ctx, formatFile)
	if err == nil && len(format) == 0 {
		return false, fmt.Errorf("%w: its file format", remote.ErrIncomplete)
	}
	if err == nil {
		_, err = withoutFeature(format)
	}
	if errors.Is(err, remote.ErrNotFound) || errors.Is(err, errNotSealed) {
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
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
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
