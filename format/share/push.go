package share

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
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
	w := &writer{}
	w.line("push", number(Version))
	w.line("store", p.Store)
	w.line("number", number(p.Number))
	if !p.Before.IsZero() {
		w.line("before", p.Before.String())
	}
	w.line("time", format.FormatTime(p.Time))
	if p.At > 0 {
		w.line("at", number(p.At))
	}
	for _, b := range p.Branches {
		w.line("branch", w.name(b.Session), w.name(b.Name), b.Tip.String())
	}
	for _, b := range p.Ends {
		w.line("end", w.name(b.Session), w.name(b.Name))
	}
	for _, b := range p.Gone {
		w.line("gone", w.name(b.Session), w.name(b.Name))
	}
	for _, parent := range p.Parents {
		if parent.Call != "" {
			w.line("parent", w.name(parent.Session), w.name(parent.Of), w.name(parent.Call))
		} else {
			w.line("parent", w.name(parent.Session), w.name(parent.Of))
		}
	}
	for _, about := range p.Abouts {
		if !about.Blob.IsZero() {
			w.line("about", w.name(about.Session), about.Blob.String())
		} else {
			w.line("about", w.name(about.Session))
		}
	}
	if !p.Forest.IsZero() {
		w.line("forest", p.Forest.String())
	}
	for _, id := range p.Forgot {
		w.line("forgot", id.String())
	}
	return w.buf.Bytes(), w.err
}

func (p *Push) check() error {
	switch {
	case !format.IsStoreID(p.Store):
		return errors.New("the id of the store is none")
	case p.Number == 0, (p.Number == 1) != p.Before.IsZero():
		return errors.New("the first push has the number 1 and none before it")
	}
	for _, list := range [][]Branch{p.Branches, p.Ends, p.Gone} {
		for i, b := range list {
			if i > 0 && list[i-1].Compare(b) >= 0 {
				return errors.New("branches are not in order, each once")
			}
		}
	}
	for i, parent := range p.Parents {
		if i > 0 && p.Parents[i-1].Session >= parent.Session || parent.Session == parent.Of {
			return errors.New("parents are not in order, each session once and with another one")
		}
	}
	for i, about := range p.Abouts {
		if i > 0 && p.Abouts[i-1].Session >= about.Session {
			return errors.New("what is said of sessions is not in order, each once")
		}
	}
	for i, id := range p.Forgot {
		if id.IsZero() || i > 0 && p.Forgot[i-1].Compare(id) >= 0 {
			return errors.New("forgotten objects are not in order, each once")
		}
	}
	for _, b := range p.Branches {
		if b.Tip.IsZero() {
			return errors.New("a branch has no tip")
		}
	}
	return nil
}

// DecodePush reads what Encode returned, and returns the digest of the push: the SHA-256 of b.
func DecodePush(b []byte) (p *Push, digest format.ID, err error) {
	p = &Push{}
	r := &reader{}
	first := true
	err = lines(b, func(key string, f []string) error {
		if first {
			first = false
			if key != "push" || len(f) != 1 {
				return errors.New("not a push")
			}
			if f[0] != number(Version) {
				return &format.VersionError{What: "push", Got: int(r.number(f[0])), Known: Version}
			}
			return nil
		}
		switch {
		case key == "store" && len(f) == 1:
			p.Store = f[0]
		case key == "number" && len(f) == 1:
			p.Number = r.number(f[0])
		case key == "before" && len(f) == 1:
			p.Before = r.id(f[0])
		case key == "time" && len(f) == 1:
			p.Time = r.time(f[0])
		case key == "at" && len(f) == 1:
			p.At = r.number(f[0])
		case key == "branch" && len(f) == 3:
			p.Branches = append(p.Branches, Branch{r.name(f[0]), r.name(f[1]), r.id(f[2])})
		case key == "end" && len(f) == 2:
			p.Ends = append(p.Ends, Branch{Session: r.name(f[0]), Name: r.name(f[1])})
		case key == "gone" && len(f) == 2:
			p.Gone = append(p.Gone, Branch{Session: r.name(f[0]), Name: r.name(f[1])})
		case key == "parent" && len(f) == 3:
			p.Parents = append(p.Parents, Parent{r.name(f[0]), r.name(f[1]), r.name(f[2])})
		case key == "parent" && len(f) == 2:
			p.Parents = append(p.Parents, Parent{Session: r.name(f[0]), Of: r.name(f[1])})
		case key == "about" && len(f) == 2:
			p.Abouts = append(p.Abouts, About{r.name(f[0]), r.id(f[1])})
		case key == "about" && len(f) == 1:
			p.Abouts = append(p.Abouts, About{Session: r.name(f[0])})
		case key == "forest" && len(f) == 1:
			p.Forest = r.id(f[0])
		case key == "forgot" && len(f) == 1:
			p.Forgot = append(p.Forgot, r.id(f[0]))
		default:
			return fmt.Errorf("a line that is not known: %.80q", key)
		}
		return r.err
	})
	if err != nil {
		return nil, digest, fmt.Errorf("push: %w", err)
	}
	if again, err := p.Encode(); err != nil || !bytes.Equal(again, b) {
		return nil, digest,
			errors.Join(errors.New("push: lines are not in their form or order"), err)
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
		r := &reader{}
		n := r.number(string(length))
		if !ok || r.err != nil || n == 0 || n > MaxPush || n > uint64(len(rest)) ||
			string(length) != number(n) {
			return nil, errors.New("segment: the length of a push is wrong")
		}
		pushes = append(pushes, slices.Clip(rest[:n]))
		b = rest[n:]
	}
	return pushes, nil
}
