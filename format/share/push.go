package share

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// Push is one step of what a store shares: what changed since its push before. Pushes are numbered
// from 1, and each names the digest of the one before, so a log of pushes can only grow.
type Push struct {
	Store  string    // the id of the store, 32 hexadecimal digits
	Number uint64    // from 1
	Before format.ID // the digest of push Number-1; zero for the first
	Time   time.Time // when it was made, in milliseconds
	At     uint64    // the last operation of the store of which it tells; 0 where it is not said

	Branches []Branch    // that have another tip than before, or are shared since, sorted
	Ends     []Branch    // that are shared no more, sorted; without a tip
	Gone     []Branch    // as Ends; the store itself has them no more
	Parents  []Parent    // of shared sessions that work for another, where they changed, sorted
	Abouts   []About     // what is said of shared sessions, where that changed, sorted
	Forest   format.ID   // the clusters of what is shared; zero where they are those of before
	Forgot   []format.ID // objects whose bodies the store has forgotten since, sorted
}

// Branch is a branch of a shared session.
type Branch struct {
	Session, Name string
	Tip           format.ID
}

// Parent says which session another one works for, and for which call of it; "" where that is not
// known.
type Parent struct {
	Session, Of, Call string
}

// About names the blob with what is said of a session; zero where nothing is said any more.
type About struct {
	Session string
	Blob    format.ID
}

// Compare orders branches by session and name.
func (b Branch) Compare(other Branch) int {
	return cmp.Or(strings.Compare(b.Session, other.Session), strings.Compare(b.Name, other.Name))
}

// Encode returns the bytes of the push.
func (p *Push) Encode() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	return format.EncodeLines("push", Version, p.lines)
}

func (p *Push) lines(c *format.Lines) {
	branch := func(c *format.Lines, b *Branch) *format.Lines {
		return c.Name(&b.Session).Name(&b.Name)
	}
	c.Must("store").Word(&p.Store)
	c.Must("number").Number(&p.Number)
	c.Opt("before", !p.Before.IsZero()).ID(&p.Before)
	c.Must("time").Time(&p.Time)
	c.Opt("at", p.At > 0).Positive(&p.At)
	format.Each(c, "branch", &p.Branches, func(c *format.Lines, b *Branch) *format.Lines {
		return branch(c, b).ID(&b.Tip)
	})
	format.Each(c, "end", &p.Ends, branch)
	format.Each(c, "gone", &p.Gone, branch)
	format.Each(c, "parent", &p.Parents, func(c *format.Lines, one *Parent) *format.Lines {
		return c.Name(&one.Session).Name(&one.Of).OptName(&one.Call)
	})
	format.Each(c, "about", &p.Abouts, func(c *format.Lines, one *About) *format.Lines {
		return c.Name(&one.Session).OptID(&one.Blob)
	})
	c.Opt("forest", !p.Forest.IsZero()).ID(&p.Forest)
	format.Each(c, "forgot", &p.Forgot, (*format.Lines).ID)
}

func (p *Push) check() error {
	switch {
	case !format.IsStoreID(p.Store):
		return errors.New("the id of the store is none")
	case p.Number == 0, (p.Number == 1) != p.Before.IsZero():
		return errors.New("the first push has the number 1 and none before it")
	}
	for _, list := range [][]Branch{p.Branches, p.Ends, p.Gone} {
		if !lists.Ascend(list, Branch.Compare) {
			return errors.New("branches are not in order, each once")
		}
	}
	for i, parent := range p.Parents {
		if i > 0 && p.Parents[i-1].Session >= parent.Session || parent.Session == parent.Of {
			return errors.New("parents are not in order, each session once and with another one")
		}
	}
	bySession := func(a, b About) int { return strings.Compare(a.Session, b.Session) }
	switch {
	case !lists.Ascend(p.Abouts, bySession):
		return errors.New("what is said of sessions is not in order, each once")
	case slices.Contains(p.Forgot, format.ID{}) || !lists.Ascend(p.Forgot, format.ID.Compare):
		return errors.New("forgotten objects are not in order, each once")
	case slices.ContainsFunc(p.Branches, func(b Branch) bool { return b.Tip.IsZero() }):
		return errors.New("a branch has no tip")
	}
	return nil
}

// DecodePush reads what Encode returned, and returns the digest of the push: the SHA-256 of b.
func DecodePush(b []byte) (p *Push, digest format.ID, err error) {
	p = &Push{}
	if err := format.DecodeLines(b, "push", Version, p.lines); err != nil {
		return nil, digest, err
	}
	if err := p.check(); err != nil {
		return nil, digest, fmt.Errorf("push: %w", err)
	}
	return p, format.Sum(b), nil
}

// EncodeSegment returns pushes, each as Encode returns it, as the bytes of a segment before
// compression: before each its length as text, and a newline.
func EncodeSegment(pushes [][]byte) []byte {
	var out []byte
	for _, p := range pushes {
		out = fmt.Appendf(out, "%d\n", len(p))
		out = append(out, p...)
	}
	return out
}

// DecodeSegment returns the pushes of a segment.
func DecodeSegment(b []byte) (pushes [][]byte, err error) {
	for len(b) > 0 {
		length, rest, ok := bytes.Cut(b, []byte{'\n'})
		n, err := strconv.ParseUint(string(length), 10, 64)
		if !ok || err != nil || n == 0 || n > MaxPush || n > uint64(len(rest)) ||
			string(length) != strconv.FormatUint(n, 10) {
			return nil, errors.New("segment: the length of a push is wrong")
		}
		pushes = append(pushes, slices.Clip(rest[:n]))
		b = rest[n:]
	}
	return pushes, nil
}
