// Package sharing puts chosen sessions of a store on a remote, and takes in what other stores have
// put there. docs/format/remote.md describes what is on a remote, docs/remotes.md what a person
// sees.
//
// Each store has a log of its own on a remote, which only that store extends, and objects never
// change. So joining two histories is the union of what both have, and nothing can conflict.
//
// Begin to read at Open, then Sharer.Push in push.go and Sharer.Pull in pull.go. Rule says what is
// shared, log.go reads the log of a store on a remote, settle.go says what of it counts here,
// walk.go finds the objects that another store lacks.
package sharing

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// Options say how a store and a remote meet.
type Options struct {
	Name  string // of the remote, in this store
	Label string // what others call this store
	Rule  Rule   // which sessions are shared
	Allow Allow  // which findings may leave

	Progress func(done, total int, what string) // may be nil
	// Forgetting is told what a pull is about to forget here, because the store with a label has
	// forgotten it. It may be nil.
	Forgetting func(label string, from []Going)
}

// Going is how much of a session a pull forgets.
type Going struct {
	Session string // as it is called here; "" for clusters
	Bodies  int
}

// Sharer joins one store and one remote. It is used by one goroutine at a time.
type Sharer struct {
	s   *store.Opened
	r   remote.Remote
	o   Options
	key ed25519.PrivateKey

	decoded decoded // while a store is pulled
	gone    forgottenIDs

	began *refs.View // when the remote was opened, before anything of it was read
	back  []string   // removed sessions that the pull brings back
}

// Open checks that the remote is one of ctx, or empty, and returns the Sharer. Errors:
// *format.VersionError for a remote of a later version, those of the remote and of repo.Key.
func Open(ctx context.Context, s *store.Opened, r remote.Remote, o Options) (*Sharer, error) {
	seed, err := s.SigningSeed()
	if err != nil {
		return nil, err
	}
	x := &Sharer{s: s, r: r, o: o, key: ed25519.NewKeyFromSeed(seed)}
	if x.o.Progress == nil {
		x.o.Progress = func(int, int, string) {}
	}
	if x.o.Forgetting == nil {
		x.o.Forgetting = func(string, []Going) {}
	}
	if x.began, err = s.Refs.Read(); err != nil {
		return nil, err
	}
	switch b, err := r.Get(ctx, share.FormatFile); {
	case errors.Is(err, remote.ErrNotFound):
		return x, nil
	case err != nil:
		return nil, err
	default:
		if formatIsCut(b) {
			return nil, incomplete("its file %s", share.FormatFile)
		}
		return x, share.CheckFormat(b)
	}
}

// ErrCopied says that two stores with one id put their sessions on a remote: one is a copy of the
// other's directory.
var ErrCopied = errors.New("another copy of this store has pushed to the remote")

func tampered(form string, args ...any) error {
	return fmt.Errorf("%w: %s", remote.ErrTampered, fmt.Sprintf(form, args...))
}

// unread returns the error for what a store has put on the remote and this build cannot read:
// remote.ErrTampered, but a *format.VersionError for what a newer build may have written.
func unread(err error, form string, args ...any) error {
	var version *format.VersionError
	if errors.As(err, &version) {
		return fmt.Errorf("%s: %w", fmt.Sprintf(form, args...), version)
	}
	return tampered("%s: %v", fmt.Sprintf(form, args...), err)
}

// headOf reads the head of a store on the remote; nil for none.
func (x *Sharer) headOf(ctx context.Context, folder string) (*share.Head, []byte, error) {
	b, err := x.r.Get(ctx, share.HeadName(folder))
	if errors.Is(err, remote.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	h, err := share.DecodeHead(b)
	if err != nil && !errors.As(err, new(*format.VersionError)) && headIsCut(b) {
		return nil, nil, incomplete("store %s: its head", folder)
	}
	if err != nil {
		return nil, nil, unread(err, "store %s", folder)
	}
	return h, b, nil
}

// seen returns the head that a ref of this store names; nil for none.
func (x *Sharer) seen(view *refs.View, ref string) (*share.Head, error) {
	v := view.Get(ref)
	if !v.Exists() {
		return nil, nil
	}
	raw, err := x.s.Objects.Get(v.ID)
	if err != nil {
		return nil, err
	}
	return share.DecodeHead(raw.Body)
}

// follows compares a head with the one that was seen before. A remote may tell of the moment at
// which it was opened: a head that another command of this store has seen since is no sign that
// this one was rolled back.
func (x *Sharer) follows(head, seen *share.Head, ref string) (err error) {
	if seen != nil && (head == nil || head.Number < seen.Number) {
		if seen, err = x.seen(x.began, ref); err != nil {
			return err
		}
	}
	return follows(head, seen)
}

// peer is another store that this one knows.
type peer struct {
	label string
	id    string
	key   []byte // its public key
}

// text is the content of the blob that says so.
func (k peer) text() []byte { return fmt.Appendf(nil, "store %s\nkey %x\n", k.id, k.key) }

// stores returns the stores that this one knows, by their ids.
func (x *Sharer) stores(view *refs.View) (map[string]peer, error) {
	all := map[string]peer{}
	for _, ref := range view.Names(history.LabelRefs) {
		raw, err := x.s.Objects.Get(view.Get(ref).ID)
		if err != nil {
			return nil, err
		}
		k := peer{label: strings.TrimPrefix(ref, history.LabelRefs)}
		if _, err := fmt.Sscanf(string(raw.Body), "store %s\nkey %x\n", &k.id,
			&k.key); err != nil || string(k.text()) != string(raw.Body) {
			return nil, fmt.Errorf("ref %s names no store", ref)
		}
		all[k.id] = k
	}
	return all, nil
}

// Leave drops what the store remembers of a remote: how far its own log has come there, and how far
// those of others have. What was pulled stays.
func Leave(ctx context.Context, s *store.Opened, name string) error {
	return s.Store.Locked(ctx, func(t *store.Tx) error {
		op := &format.Operation{Verb: refs.VerbPush}
		for _, ref := range append(t.View.Names(history.RemoteRefs),
			t.View.Names(history.StoreRefs)...) {
			if ref == history.RemoteRefs+name ||
				strings.HasPrefix(ref, history.StoreRefs) && strings.HasSuffix(ref, "/"+name) {
				op.Refs = append(op.Refs, format.RefUpdate{Name: ref, Old: t.View.Get(ref)})
			}
		}
		if len(op.Refs) == 0 {
			return nil
		}
		return t.Commit(op)
	})
}

// Rule says which sessions are shared.
type Rule struct {
	patterns []string // with ! in front for those that take sessions out
}

// ParseRule reads a rule: "all", "none" or "", or patterns with commas between them, as path.Match
// has them; eight or more digits of a session that is named by a UUID match it, too. A pattern with
// ! in front takes sessions out again; the last one that matches counts. "all" may be among
// patterns and matches every session.
func ParseRule(text string) (Rule, error) {
	var r Rule
	if text == "" || text == "none" {
		return r, nil
	}
	for p := range strings.SplitSeq(text, ",") {
		p = strings.TrimSpace(p)
		plain, _ := strings.CutPrefix(p, "!")
		if plain == "all" {
			p = strings.Replace(p, "all", "*", 1)
		}
		if plain == "" || plain == "none" {
			return Rule{},
				fmt.Errorf("bad rule %.80q: it is all, none, or patterns with commas between them",
					text)
		}
		if _, err := path.Match(plain, "x"); err != nil {
			return Rule{}, fmt.Errorf("bad pattern %.80q in the rule", plain)
		}
		r.patterns = append(r.patterns, p)
	}
	return r, nil
}

// Shares reports whether the rule shares a session. Sessions of subagents, which are named for the
// session that they work for, with a dot, go with that one.
func (r Rule) Shares(session string) bool {
	shares := false
	for _, p := range r.patterns {
		plain, not := strings.CutPrefix(p, "!")
		if matches(plain, session) {
			shares = !not
		}
	}
	return shares
}

// shownDigits is the number of digits by which lists show a session whose name is a UUID.
const shownDigits = 8

// matches reports whether a pattern matches a session, or one that the session works for.
func matches(pattern, session string) bool {
	for {
		ok, _ := path.Match(pattern, session)
		isID := len(pattern) >= shownDigits && format.IsUUID(session)
		if ok || pattern == "*" || isID && strings.HasPrefix(session, pattern) {
			return true
		}
		dot := strings.LastIndexByte(session, '.')
		if dot < 0 {
			return false
		}
		session = session[:dot]
	}
}

// Allow says which findings may leave: by the class of the secret or by the id of the object.
type Allow []string

func (a Allow) allows(class string, id format.ID) bool {
	return slices.Contains(a, class) || slices.Contains(a, id.String())
}
