package sharing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// PushOptions say what Push does.
type PushOptions struct {
	DryRun bool // say what would be pushed, and change nothing
	// Look has the store's files on the remote searched for texts that were forgotten wherever they
	// stand. Without it they are searched only where something is told to be forgotten.
	Look bool
}

// PushReport is what Push did, or would do.
type PushReport struct {
	Number   uint64 // of the push; 0 where there was nothing to push
	Sessions []PushedSession
	Ended    []string // sessions that are shared no more
	Objects  int
	Bytes    int64 // of the packs and the segment
	Forgot   int   // bodies that the others are asked to forget

	Findings []forget.Secret // in summaries, for which their clusters were held back
}

// PushedSession is a session with something to push.
type PushedSession struct {
	Name     string          `json:"session"`
	Messages int             `json:"messages"` // new on the remote
	Bytes    int64           `json:"bytes"`
	Findings []forget.Secret `json:"findings"` // for which it was held back
}

// Held reports whether findings kept a session from the remote.
func (p PushedSession) Held() bool { return len(p.Findings) > 0 }

// packBytes is how many bytes of objects a pack on a remote has before compression, unless one
// object has more. So no pack is larger than remote.MaxFile, whatever is in it.
const packBytes = 32 << 20

// trashAge is how long what nothing needs any more stays, for readers that have an older head.
const trashAge = 24 * time.Hour

// tries is how often a push begins again because the remote has changed meanwhile. Only another
// process of the same store changes what a push replaces.
const tries = 5

// Push puts what is shared and new on the remote: first packs, then a segment of the log, then the
// head, by compare-and-swap. A crash before the head leaves files that nothing names, and the next
// push puts others; after it the next push finds that its predecessor was done. Errors:
// remote.ErrTampered, ErrCopied, remote.ErrStale after some tries; those of the remote and
// of the store.
func (x *Sharer) Push(ctx context.Context, o PushOptions) (PushReport, error) {
	for try := 1; ; try++ {
		r, err := x.push(ctx, o)
		if try < tries && errors.Is(err, remote.ErrStale) {
			continue
		}
		return r, err
	}
}

func (x *Sharer) push(ctx context.Context, o PushOptions) (report PushReport, err error) {
	view, err := x.s.Refs.Read()
	if err != nil {
		return report, err
	}
	head, headBytes, base, err := x.own(ctx, view)
	if err != nil {
		return report, err
	}
	p := &share.Push{Store: x.s.Shared, Number: base.number + 1, Before: base.digest,
		Time: x.now(), At: view.Number}
	again, err := x.toldLater(view, base)
	if err != nil {
		return report, err
	}
	chosen, goesOn, err := x.choose(ctx, view, base, again, p, &report)
	if err != nil {
		return report, err
	}
	said, err := x.tell(ctx, view, base, again, p, &report)
	if err != nil {
		return report, err
	}
	chosen = append(chosen, said...)
	if p.Forgot, err = x.forgotten(base, p, chosen); err != nil {
		return report, err
	}
	if !goesOn || !forestWaits(base, p) {
		clusters, err := x.forest(ctx, view, base, p, &report)
		if err != nil {
			return report, err
		}
		if chosen = append(chosen, clusters...); len(clusters) > 0 {
			if p.Forgot, err = x.forgotten(base, p, chosen); err != nil {
				return report, err
			}
		}
	}
	if (len(p.Forgot) > 0 || o.Look) && !o.DryRun {
		c, err := x.list(ctx, x.s.Shared)
		if err != nil {
			return report, err
		}
		if more, err := x.forgetRemade(ctx, c.packs); err != nil {
			return report, err
		} else if more > 0 {
			if p.Forgot, err = x.forgotten(base, p, chosen); err != nil {
				return report, err
			}
		}
	}
	report.Forgot = len(p.Forgot)
	if len(p.Branches)+len(p.Ends)+len(p.Gone)+len(p.Parents)+len(p.Abouts)+len(p.Forgot) == 0 &&
		p.Forest.IsZero() {
		if o.DryRun {
			return report, nil
		}
		if head == nil {
			c, err := x.list(ctx, x.s.Shared)
			if err != nil {
				return report, err
			}
			return report, x.takeBack(ctx, c.packs)
		}
		if headBytes, err = x.empty(ctx, head, headBytes); err != nil {
			return report, err
		}
		return report, x.remember(ctx, view, head, headBytes, base)
	}
	report.Number, report.Objects = p.Number, len(chosen)
	var written []string // under the store's folder
	put := func(f named) error {
		report.Bytes += int64(len(f.data))
		if o.DryRun {
			return nil
		}
		written = append(written, f.name)
		return x.r.PutNew(ctx, share.Stores+x.s.Shared+"/"+f.name, f.data)
	}
	if head == nil && !o.DryRun {
		if err := x.r.PutNew(ctx, share.FormatFile, share.Format()); err != nil &&
			!errors.Is(err, remote.ErrExists) {
			return report, err
		}
	}
	if err := x.packs(ctx, chosen, p, put); err != nil {
		return report, err
	}
	b, err := p.Encode()
	if err != nil {
		return report, err
	}
	segment, err := x.packSegment([][]byte{b})
	if err != nil {
		return report, err
	}
	next := &share.Head{Store: x.s.Shared, Label: x.o.Label, Number: p.Number,
		Digest: format.Sum(b), Time: p.Time}
	renewed, err := x.renew(ctx, head, base, p.Forgot)
	// Something was forgotten since: also in what was put, maybe
	if errors.Is(err, remote.ErrStale) && !o.DryRun {
		err = errors.Join(err, x.takeBack(ctx, packsOf(written)))
	}
	if err != nil {
		return report, err
	}
	file := share.File{First: p.Number, Last: p.Number, Digest: format.Sum(segment)}
	for _, f := range append([]named{{share.LogFolder + file.Name(), segment}}, renewed.files...) {
		if err := put(f); err != nil {
			return report, err
		}
	}
	if o.DryRun {
		return report, nil
	}
	if head != nil {
		next.Trash = head.Trash
	}
	next.Trash = append(next.Trash, renewed.trash...)
	if err := x.index(ctx, chosen, p.Forgot); err != nil {
		return report, fmt.Errorf("the engine of the remote: %w", err)
	}
	nextBytes, err := next.Encode(x.key)
	if err != nil {
		return report, err
	}
	if err := x.r.Swap(ctx, share.HeadName(x.s.Shared), headBytes, nextBytes); err != nil {
		if errors.Is(err, remote.ErrStale) {
			err = errors.Join(err, x.takeBack(ctx, packsOf(written)))
		}
		return report, err
	}
	base.apply([]step{{p, b, next.Digest}})
	if nextBytes, err = x.empty(ctx, next, nextBytes); err != nil {
		return report, err
	}
	return report, x.remember(ctx, view, next, nextBytes, base)
}

// now is the time in the precision of the formats.
func (x *Sharer) now() time.Time { return x.s.Now().UTC().Truncate(time.Millisecond) }

// named is a file of the store's folder on the remote.
type named struct {
	name string
	data []byte
}

// packsOf returns what the names of the packs among files under a store's folder say.
func packsOf(names []string) (packs []share.File) {
	for _, name := range names {
		folder, file, err := share.ParseFileName(name)
		if err == nil && folder == share.PackFolder {
			packs = append(packs, file)
		}
	}
	return packs
}

// own returns the head of this store on the remote, and what the store shares there. It compares
// the head with the one that this store remembers.
func (x *Sharer) own(
	ctx context.Context, view *refs.View,
) (*share.Head, []byte, *published, error) {
	head, b, err := x.headOf(ctx, x.s.Shared)
	if err != nil {
		return nil, nil, nil, err
	}
	seen, err := x.seen(view, history.RemoteRefs+x.o.Name)
	if err != nil {
		return nil, nil, nil, err
	}
	if seen != nil && seen.Store != x.s.Shared {
		seen = nil // of before it had an id of its own
	}
	if err := x.follows(head, seen, history.RemoteRefs+x.o.Name); err != nil {
		return nil, nil, nil, err
	}
	if head == nil {
		return nil, nil, newPublished(), nil
	}
	if !bytes.Equal(head.Key, x.publicKey()) {
		return nil, nil, nil,
			tampered("store %s: its head is signed with another key than this store's", head.Store)
	}
	base := x.cached(x.o.Name, head)
	if base == nil {
		c, err := x.list(ctx, x.s.Shared)
		if err != nil {
			return nil, nil, nil, err
		}
		steps, err := x.pushes(ctx, head, c, 0, format.ID{})
		if err != nil {
			return nil, nil, nil, err
		}
		base = newPublished()
		base.apply(steps)
	}
	// After a crash the head is newer than what is remembered, and this store has all that it
	// names.
	for _, tip := range base.tips {
		if seen == nil || head.Number > seen.Number {
			if ok, err := x.s.Objects.Has(tip); err != nil || !ok {
				return nil, nil, nil,
					errors.Join(err, fmt.Errorf("%w: give one of them an id of its own", ErrCopied))
			}
		}
	}
	if seen == nil || head.Number > seen.Number {
		if err := x.hasForgotten(base); err != nil {
			return nil, nil, nil, err
		}
	}
	return head, b, base, nil
}

// hasForgotten returns ErrCopied where the store still has what it forgot by its own word: it was
// restored from a backup that is older than the forget.
func (x *Sharer) hasForgotten(base *published) error {
	for id := range base.forgot {
		has, err := x.s.Objects.Has(id)
		forgotten := false
		if err == nil && has {
			forgotten, err = x.s.Objects.Forgotten(id)
		}
		if err != nil {
			return err
		}
		if has && !forgotten {
			return fmt.Errorf("%w: it has forgotten what is still here: forget it again", ErrCopied)
		}
	}
	return nil
}

// follows compares a head with the one that was seen before.
func follows(head, seen *share.Head) error {
	switch {
	case seen == nil:
		return nil
	case head == nil:
		return incomplete("store %s: its head is gone; it was at push %d", seen.Store,
			seen.Number)
	case head.Store != seen.Store:
		return tampered("store %s: its head is that of store %s", seen.Store, head.Store)
	case !bytes.Equal(head.Key, seen.Key):
		return tampered("store %s: its head is signed with another key than before", seen.Store)
	case head.Number < seen.Number:
		return tampered("store %s: its head was rolled back from push %d to %d", seen.Store,
			seen.Number, head.Number)
	case head.Number == seen.Number && head.Digest != seen.Digest:
		return tampered("store %s: push %d is another one than before: the log was forked",
			seen.Store, seen.Number)
	}
	return nil
}

// choose adds to p the branches that have changed, and returns the objects that they need. Sessions
// with findings are held back, and reported. goesOn says that what the last push shared is part of
// what p shares: no branch went back.
func (x *Sharer) choose(
	ctx context.Context, view *refs.View, base *published, again map[string]bool, p *share.Push,
	report *PushReport,
) (chosen []chosenObject, goesOn bool, err error) {
	goesOn = true
	included := map[format.ID]bool{}
	changes := x.changes(view, base, again, p)
	for _, c := range changes {
		w := x.newWalk(ctx)
		ids, err := w.find(c.tips(), x.onRemote(view, base, c))
		if err != nil {
			return nil, false, err
		}
		for _, before := range c.left {
			goesOn = goesOn && w.met[before]
		}
		one := PushedSession{Name: c.session}
		if one.Findings, err = x.inNames(c.branches); err != nil {
			return nil, false, err
		}
		fresh := ids[:0]
		for _, id := range ids {
			if !included[id] {
				fresh = append(fresh, id)
			}
		}
		if err := x.examine(ctx, fresh, &one); err != nil {
			return nil, false, err
		}
		report.Sessions = append(report.Sessions, one)
		if one.Held() {
			continue
		}
		for _, id := range fresh {
			included[id] = true
			chosen = append(chosen, chosenObject{id: id, session: c.session})
		}
		p.Branches = append(p.Branches, c.branches...)
	}
	slices.SortFunc(report.Sessions, func(a, b PushedSession) int {
		return strings.Compare(a.Name, b.Name)
	})
	slices.SortFunc(p.Branches, share.Branch.Compare)
	for _, b := range slices.Concat(p.Ends, p.Gone) {
		report.Ended = append(report.Ended, b.Session)
	}
	slices.Sort(report.Ended)
	report.Ended = slices.Compact(report.Ended)
	return chosen, goesOn, nil
}

// change is what has changed in a session since the last push.
type change struct {
	session  string
	branches []share.Branch // that have another tip
	left     []format.ID    // the tips that these had
	old      []format.ID    // the tips that all branches had
}

func (c *change) tips() []format.ID {
	return lists.Map(c.branches, func(b share.Branch) format.ID { return b.Tip })
}

// changes compares the sessions that are shared with those of the last push. It returns those that
// have changed, in the order in which they are read fastest, and adds to p the branches that are
// shared no more. The sessions in again are told of as if they had changed.
func (x *Sharer) changes(
	view *refs.View, base *published, again map[string]bool, p *share.Push,
) []change {
	shared := map[share.Branch]bool{}
	var names []string
	changed := map[string]change{} // by name
	for _, session := range history.SessionsOf(view) {
		if _, foreign := history.Owner(view, session); foreign || !x.o.Rule.Shares(session) {
			continue
		}
		c := change{session: session}
		for _, name := range history.BranchesIn(view, session) {
			b := share.Branch{Session: session, Name: name}
			shared[b] = true
			before, known := base.tips[b]
			if known {
				c.old = append(c.old, before)
			}
			b.Tip = view.Get(history.RefName(session, name)).ID
			if b.Tip == before && !again[session] {
				continue
			}
			c.branches = append(c.branches, b)
			if known {
				c.left = append(c.left, before)
			}
		}
		if len(c.branches) > 0 {
			names, changed[session] = append(names, session), c
		}
	}
	for b := range base.tips {
		switch {
		case shared[b]:
		case view.Get(history.RefName(b.Session, b.Name)).Exists():
			p.Ends = append(p.Ends, b)
		default:
			p.Gone = append(p.Gone, b)
		}
	}
	slices.SortFunc(p.Ends, share.Branch.Compare)
	slices.SortFunc(p.Gone, share.Branch.Compare)
	tip := func(session string) format.ID { return changed[session].branches[0].Tip }
	return lists.Map(x.s.History.ByPlace(names, tip), func(session string) change {
		return changed[session]
	})
}

// onRemote returns tips whose objects are on the remote: those that the session had at the last
// push, and those of its relatives, with which it may share objects.
func (x *Sharer) onRemote(view *refs.View, base *published, c change) []format.ID {
	list := c.old
	for _, other := range history.Relatives(view, c.session) {
		if x.o.Rule.Shares(other) {
			list = append(list, base.tipsOf(other)...)
		}
	}
	return list
}

// inNames looks for secrets in the names of a session's branches, which leave with it.
func (x *Sharer) inNames(list []share.Branch) (found []forget.Secret, err error) {
	found = []forget.Secret{} // a list in JSON, too
	for _, b := range list {
		for _, name := range []string{b.Session, b.Name} {
			secrets, err := sanitize.Find([]byte(name))
			if err != nil {
				return nil, err
			}
			for _, f := range secrets {
				if !x.o.Allow.allows(f.Class, b.Tip) {
					found = append(found,
						forget.Secret{ID: b.Tip, Kind: "name", Class: f.Class,
							From: f.From, To: f.To})
				}
			}
		}
	}
	return found, nil
}

// chosenObject is an object that a push brings.
type chosenObject struct {
	id      format.ID
	session string     // that it is pushed for; "" for an object of the forest
	made    format.Raw // of one that is not in the store
}

// examine looks for secrets in objects that are about to leave, and counts them.
func (x *Sharer) examine(ctx context.Context, ids []format.ID, one *PushedSession) error {
	for i, id := range ids {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			x.o.Progress(i, len(ids), "checking")
		}
		raw, err := x.object(id)
		if err != nil {
			return err
		}
		one.Bytes += int64(len(raw.Header) + len(raw.Body))
		if isMessage(raw.Header) {
			one.Messages++
		}
		found, err := x.findings(id, raw)
		if err != nil {
			return err
		}
		one.Findings = append(one.Findings, found...)
	}
	return nil
}

// findings returns what holds an object back: secrets in it, and a body that is lost.
func (x *Sharer) findings(id format.ID, raw format.Raw) (list []forget.Secret, err error) {
	found, err := forget.SecretsIn(id, raw)
	if err != nil {
		return nil, err
	}
	if lost, err := x.lost(id, raw); err != nil {
		return nil, err
	} else if lost {
		list = append(list, forget.Secret{ID: id, Kind: "body", Class: "lost"})
	}
	for _, f := range found {
		if !x.o.Allow.allows(f.Class, id) {
			list = append(list, f)
		}
	}
	return list, nil
}

// lost reports whether the body of an object is gone without having been forgotten. Nobody takes
// such an object in: whoever runs the remote could have removed the body.
func (x *Sharer) lost(id format.ID, raw format.Raw) (bool, error) {
	if raw.ID() != id {
		return true, nil // its header, too
	}
	if _, named, err := format.HeaderBody(raw.Header); err != nil || !named || raw.Body != nil {
		return false, err
	}
	forgot, err := x.s.Objects.Forgotten(id)
	return !forgot && err == nil, err
}

func isMessage(header []byte) bool { return bytes.Contains(header, []byte("\nkind message\n")) }

// object reads an object; one whose body was forgotten comes without it.
func (x *Sharer) object(id format.ID) (format.Raw, error) {
	raw, err := x.s.Objects.Get(id)
	if objects.IsGone(err) {
		raw.Body, err = nil, nil
	}
	return raw, err
}

// forgotten returns the bodies that were forgotten since the last push, in order, wherever they
// were: what was shared once, or stands in a fork of it, may be with others. It also returns those
// of the objects that p brings: who takes them in has to know why they come without a body, and may
// have read the push that told it long ago.
func (x *Sharer) forgotten(
	base *published, p *share.Push, brings []chosenObject,
) (list []format.ID, err error) {
	if base.number == 0 && len(p.Branches) == 0 {
		return nil, nil // nobody has anything of this store
	}
	again := map[format.ID]bool{}
	for _, o := range brings {
		again[o.id] = base.forgot[o.id]
	}
	err = x.s.Objects.EachAbsent(func(id format.ID, _ string) error {
		if base.forgot[id] && !again[id] {
			return nil
		}
		gone, err := x.s.Objects.Forgotten(id)
		if gone {
			list = append(list, id)
		}
		return err
	})
	slices.SortFunc(list, format.ID.Compare)
	return list, err
}

// packs calls put for each file with objects of a push, once it is made: together they may take
// much memory. A forget may be at work meanwhile: what the push asks others to forget goes without
// its body, though that may be here still.
func (x *Sharer) packs(
	ctx context.Context, list []chosenObject, p *share.Push, put func(named) error,
) error {
	forgot, all := lists.Set(p.Forgot), len(list)
	for len(list) > 0 {
		x.o.Progress(all-len(list), all, "pushing")
		n, size := 0, 0
		b, id, err := x.s.Objects.EncodePack(func(yield func(format.Raw, error) bool) {
			for n < len(list) && (n == 0 || size < packBytes) {
				raw, err := list[n].made, error(nil)
				if raw.Header == nil {
					raw, err = x.object(list[n].id)
				}
				if err == nil {
					err = ctx.Err()
				}
				if forgot[list[n].id] {
					raw.Body = nil
				}
				n, size = n+1, size+len(raw.Header)+len(raw.Body)
				if !yield(raw, err) {
					return
				}
			}
		}, objects.Default)
		if err != nil {
			return err
		}
		file := share.File{First: p.Number, Last: p.Number, Digest: id}
		if err := put(named{share.PackFolder + file.Name(), b}); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// remember records the head that this store has on the remote, unless it, or a newer one, is
// recorded.
func (x *Sharer) remember(
	ctx context.Context, view *refs.View, head *share.Head, b []byte, base *published,
) error {
	ref := history.RemoteRefs + x.o.Name
	if seen, err := x.seen(view, ref); err == nil && seen != nil && seen.Number == head.Number {
		return nil
	}
	x.cache(x.s.Shared, base)
	return x.s.Store.Locked(ctx, func(t *store.Tx) error {
		old := t.View.Get(ref)
		seen, err := x.seen(t.View, ref)
		if err == nil && seen != nil && seen.Store == head.Store && seen.Number > head.Number {
			return nil
		}
		v, err := t.AddBlob(b, format.MediaText)
		if err != nil || v == old {
			return err
		}
		return t.Commit(&format.Operation{Verb: refs.VerbPush,
			Refs: []format.RefUpdate{{Name: ref, Old: old, New: v}}})
	})
}

func (x *Sharer) publicKey() []byte { return x.key[32:] }

// Unpushed returns how many messages of the sessions that a rule shares are not known to be on a
// remote, as far as this store remembers: it asks nobody. It is 0 if the store does not remember.
func Unpushed(c context.Context, s *store.Opened, v *refs.View, name string, r Rule) (n int) {
	x := &Sharer{s: s, o: Options{Name: name, Rule: r}}
	base := newPublished()
	seen, err := x.seen(v, history.RemoteRefs+name)
	if err == nil && seen != nil {
		base = x.cached(name, seen)
	}
	if err != nil || base == nil {
		return 0
	}
	for _, one := range x.changes(v, base, nil, &share.Push{}) {
		ids, _ := x.missing(c, one.tips(), x.onRemote(v, base, one)) // a push says what is wrong
		for _, id := range ids {
			if header, err := s.Objects.Header(id); err == nil && isMessage(header) {
				n++
			}
		}
	}
	return n
}
