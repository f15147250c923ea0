package sharing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// PullReport is what Pull took in.
type PullReport struct {
	Stores []PulledStore // those with something new, by label
	Known  int           // stores without anything new
}

// PulledStore is what came from one store.
type PulledStore struct {
	Store    string      `json:"store"`
	Label    string      `json:"label"`
	Pushes   int         `json:"pushes"`
	Sessions []string    `json:"sessions"` // that began, went on or moved, as they are called here
	Ended    []string    `json:"ended"`    // that are shared no more
	Removed  []string    `json:"removed"`  // that went on, and were removed here: they stay so
	Objects  int         `json:"objects"`
	Bytes    int64       `json:"bytes"`
	Forgot   int         `json:"forgot"` // bodies that went because the store has forgotten them
	Asked    []format.ID `json:"asked"`  // that it has forgotten and this store has said: they stay
}

// Pull takes in what other stores have put on the remote. It takes the log and the objects of a
// store in only when all of it is there and is what the store wrote; then one operation names them,
// so a crash leaves the old state or the new one. What is wrong with one store keeps it out, and
// not the others: the errors are joined. Errors: ErrCopied, remote.ErrIncomplete,
// remote.ErrTampered, those of the remote and of the store.
//
// A session that was removed here stays removed, unless back names it: all of it comes then, also
// where nothing is new.
func (x *Sharer) Pull(ctx context.Context, back ...string) (report PullReport, err error) {
	x.back = back
	heads, err := x.r.List(ctx, share.Heads)
	if err != nil {
		return report, err
	}
	var bad error
	tags := x.tags()
	there := map[string]bool{}
	for i, f := range heads {
		x.o.Progress(i, len(heads), "pulling")
		name := strings.TrimPrefix(f.Name, share.Heads)
		if !format.IsStoreID(name) {
			continue // nothing that a store writes
		}
		there[name] = true
		if name == x.s.Shared {
			bad = errors.Join(bad, x.isOwn(ctx))
			continue
		}
		if f.Tag != "" && tags[name] == f.Tag && len(back) == 0 {
			report.Known++
			continue
		}
		one, err := x.pullFolder(ctx, name)
		switch {
		case err != nil:
			bad = errors.Join(bad, err)
		case one == nil:
			report.Known++
			tags[name] = f.Tag
		default:
			report.Stores = append(report.Stores, *one)
			tags[name] = f.Tag
		}
		if ctx.Err() != nil {
			return report, errors.Join(bad, ctx.Err())
		}
	}
	x.keepTags(tags)
	bad = errors.Join(bad, x.areBack())
	slices.SortFunc(report.Stores,
		func(a, b PulledStore) int { return strings.Compare(a.Label, b.Label) })
	return report, errors.Join(bad, x.vanished(there))
}

// areBack returns an error for a session that was to come back and has not.
func (x *Sharer) areBack() (bad error) {
	view, err := x.s.Refs.Read()
	for _, session := range x.back {
		if err == nil && len(view.Names("sessions/"+session+"/")) == 0 {
			bad = errors.Join(bad, history.UnknownSession(session, history.MainBranch))
		}
	}
	return errors.Join(err, bad)
}

// isOwn returns ErrCopied where this store's own log on the remote has what is not here: only a
// copy of the store can have put it there.
func (x *Sharer) isOwn(ctx context.Context) error {
	view, err := x.s.Refs.Read()
	if err != nil {
		return err
	}
	_, _, _, err = x.own(ctx, view)
	return err
}

// vanished returns an error for stores that had a head on the remote and have none any more.
func (x *Sharer) vanished(there map[string]bool) (bad error) {
	for _, ref := range x.began.Names(history.StoreRefs) {
		if !strings.HasSuffix(ref, "/"+x.o.Name) {
			continue
		}
		head, err := x.seen(x.began, ref)
		if err == nil && !there[head.Store] {
			err = follows(nil, head)
		}
		bad = errors.Join(bad, err)
	}
	return bad
}

// pullTries is how often a pull of a store begins again because another pull was faster.
const pullTries = 3

// pullFolder takes in what is new of the store in a folder; nil for nothing.
func (x *Sharer) pullFolder(ctx context.Context, name string) (*PulledStore, error) {
	for try := 1; ; try++ {
		head, b, err := x.headOf(ctx, name)
		if err != nil || head == nil {
			return nil, err // without a head it went meanwhile
		}
		if head.Store != name {
			return nil, tampered("the head of store %s stands in the place of another", head.Store)
		}
		one, err := x.pullStore(ctx, head, b)
		if try < pullTries && errors.Is(err, history.ErrStale) {
			continue
		}
		if err != nil {
			err = fmt.Errorf("nothing of %s was taken in: %w", sanitize.Line(head.Label), err)
		}
		return one, err
	}
}

// pulling is a store of which something is taken in.
type pulling struct {
	x         *Sharer
	head      *share.Head
	headBytes []byte

	view    *refs.View   // when the pull began
	of      peer         // the store; its label is free where the store is new
	isNew   bool         // the store is not known yet
	seen    *share.Head  // on this remote; nil for none
	told    *published   // what it shared here as of seen; nil where that is not known
	shares  *published   // what it shares here as of head
	others  []*published // what it shares on other remotes, as far as that is known
	remotes int          // how many other remotes have the store

	news   *published            // what is to change here
	ends   map[share.Branch]bool // that are to end here
	fresh  []format.ID           // objects of branches that the pushes bring
	forest *forest.State         // as far as it is taken in; nil where it stays
	one    *PulledStore
}

// pullStore takes in what is new of one store; nil for nothing.
func (x *Sharer) pullStore(
	ctx context.Context, head *share.Head, headBytes []byte,
) (*PulledStore, error) {
	p := &pulling{x: x, head: head, headBytes: headBytes}
	x.decoded = decoded{}
	defer func() { x.decoded = nil }()
	if err := p.begin(); err != nil {
		return nil, err
	}
	number, digest := uint64(0), format.ID{}
	if p.seen != nil && !slices.ContainsFunc(x.back, p.has) {
		number, digest = p.seen.Number, p.seen.Digest
	}
	if head.Number < number || // another pull of this store may be further
		head.Number == number && (p.told != nil || p.remotes == 0) {
		return nil, nil
	}
	err := p.fetch(ctx, number, digest)
	if errors.Is(err, objects.ErrNotFound) && number > 0 {
		// What was pulled before went with a session that was removed here: all of it once more.
		err = p.fetch(ctx, 0, format.ID{})
	}
	if errors.Is(err, objects.ErrNotFound) {
		err = incomplete("store %s: its packs: %v", head.Store, err)
	}
	if err != nil {
		return nil, err
	}
	if err := p.forget(ctx); err != nil {
		return nil, err
	}
	err = p.take(ctx)
	return p.one, err
}

// begin compares the head with what this store knows.
func (p *pulling) begin() (err error) {
	x := p.x
	if p.view, err = x.s.Refs.Read(); err != nil {
		return err
	}
	stores, err := x.stores(p.view)
	if err != nil {
		return err
	}
	var there bool
	if p.of, there = stores[p.head.Store]; !there {
		p.isNew = true
		p.of = peer{label: freeLabel(p.view, p.head), id: p.head.Store, key: p.head.Key}
	}
	if !bytes.Equal(p.of.key, p.head.Key) {
		return tampered("store %s: its head is signed with another key than before", p.head.Store)
	}
	ref := history.StoreRef(p.of.label, x.o.Name)
	for _, at := range p.view.Names(history.StoreRefs + p.of.label + "/") {
		head, err := x.seen(p.view, at)
		if err != nil {
			return err
		}
		shares := x.cached(path.Base(at), head)
		if at == ref {
			p.seen, p.told = head, shares
			continue
		}
		if p.remotes++; shares != nil {
			p.others = append(p.others, shares)
		}
	}
	return x.follows(p.head, p.seen, ref)
}

// fetch reads the pushes after a known one, stores their objects, and checks that nothing is
// missing. The error is objects.ErrNotFound where something is.
func (p *pulling) fetch(ctx context.Context, number uint64, digest format.ID) error {
	c, err := p.x.list(ctx, p.head.Store)
	if err != nil {
		return err
	}
	p.shares = p.told
	known := number
	if number == 0 || p.told == nil {
		p.shares, known, digest = newPublished(), 0, format.ID{}
	}
	steps, err := p.x.pushes(ctx, p.head, c, known, digest)
	if err != nil {
		return err
	}
	if p.seen != nil && known == 0 && steps[p.seen.Number-1].digest != p.seen.Digest {
		return tampered("store %s: push %d is another one than before: the log was forked",
			p.head.Store, p.seen.Number)
	}
	p.shares.apply(steps)
	if p.remotes == 0 {
		steps = steps[number-known:]
	}
	p.one = &PulledStore{Store: p.head.Store, Label: p.of.label,
		Pushes: int(p.head.Number - number), Sessions: []string{}, Ended: []string{},
		Removed: []string{}, Asked: []format.ID{}}
	if slices.ContainsFunc(steps, func(s step) bool { return len(s.Forgot) > 0 }) {
		if err := p.x.s.Store.FinishWrites(ctx); err != nil {
			return err // what a pull that was stopped has left of the words would stay
		}
	}
	if err := p.adopt(ctx, c, number); err != nil {
		return err
	}
	if err := p.settle(ctx, steps); err != nil {
		return err
	}
	p.leaveRemoved()
	if p.fresh, err = p.x.missingBySession(ctx, p.tips(), p.had()); err != nil {
		return err
	}
	for _, id := range p.fresh {
		if p.forgot(id) {
			p.news.forgot[id] = true
		}
	}
	return p.readForest(ctx, number == 0 && len(p.one.Removed)+p.remotes == 0)
}

// has reports whether a session, as it is called here, is one of the store.
func (p *pulling) has(session string) bool { return strings.HasSuffix(session, "@"+p.of.label) }

// leaveRemoved takes sessions that were removed here out of what the pushes bring: their branches,
// what is said of them, and for which they work.
func (p *pulling) leaveRemoved() {
	left := map[string]bool{}
	leave := func(session string) bool {
		name := history.SharedName(session, p.of.label)
		if !history.WasRemoved(p.view, name) || p.comesBack(session, 0) {
			return false
		}
		left[name] = true
		return true
	}
	maps.DeleteFunc(p.news.tips,
		func(b share.Branch, _ format.ID) bool { return leave(b.Session) })
	maps.DeleteFunc(p.news.about, func(session string, _ format.ID) bool { return leave(session) })
	maps.DeleteFunc(p.news.parent,
		func(session string, _ share.Parent) bool { return leave(session) })
	p.one.Removed = append(p.one.Removed, slices.Sorted(maps.Keys(left))...)
}

// comesBack reports whether somebody asks for a session that was removed here, or for one that it
// works for, so many links up.
func (p *pulling) comesBack(session string, up int) bool {
	of, works := p.shares.parent[session]
	return slices.Contains(p.x.back, history.SharedName(session, p.of.label)) ||
		works && up < len(p.shares.parent) && p.comesBack(of.Of, up+1)
}

// tips are the new ends of branches, and had what they were here.
func (p *pulling) tips() branchTips {
	tips := branchTips{}
	for b, tip := range p.news.tips {
		tips.add(b, tip)
	}
	return tips
}

func (p *pulling) had() branchTips {
	had := branchTips{}
	for b := range p.news.tips {
		if v := p.view.Get(p.ref(b)); v.Exists() {
			had.add(b, v.ID)
		}
	}
	return had
}

// objects returns what the store shares, besides its forest: what is new and what is here.
func (p *pulling) objects(ctx context.Context) ([]format.ID, error) {
	here, err := p.x.missingBySession(ctx, p.tipsHere(), nil)
	return append(here, p.fresh...), err
}

// tipsHere are the ends that the store's branches have here.
func (p *pulling) tipsHere() branchTips {
	tips := branchTips{}
	for _, ref := range p.view.Names("sessions/") {
		session, name, _ := history.BranchOfRef(ref)
		if label, shared := history.Owner(p.view, session); shared && label == p.of.label {
			tips.add(share.Branch{Session: session, Name: name}, p.view.Get(ref).ID)
		}
	}
	return tips
}

// ref returns the name of the ref that a branch of the store has here.
func (p *pulling) ref(b share.Branch) string {
	return history.RefName(history.SharedName(b.Session, p.of.label), b.Name)
}

// freeLabel returns the label for a store that is not known yet: its own one, unless another store
// has it or it would change what a name means here. Then digits of its id tell it apart.
func freeLabel(view *refs.View, head *share.Head) string {
	label := strings.Map(func(r rune) rune {
		if r == '/' || r == '@' || r == ' ' {
			return '-'
		}
		return r
	}, head.Label)
	if isFree(view, label) {
		return label
	}
	for n := 4; n < len(head.Store); n++ {
		if longer := label + "-" + head.Store[:n]; isFree(view, longer) {
			return longer
		}
	}
	return head.Store
}

// isFree reports whether no store has a label, and no session of this one looks as if.
func isFree(view *refs.View, label string) bool {
	if label == "" || view.Get(history.LabelRefs+label).Exists() {
		return false
	}
	for _, ref := range view.Names("sessions/") {
		if session, _, _ := history.BranchOfRef(ref); strings.HasSuffix(session, "@"+label) {
			return false
		}
	}
	return true
}

// take records what was pulled in one operation. ErrStale says that another pull was faster.
func (p *pulling) take(ctx context.Context) error {
	x := p.x
	x.cache(p.head.Store, p.shares)
	return x.s.Store.Locked(ctx, func(t *store.Tx) error {
		ref := history.StoreRef(p.of.label, x.o.Name)
		stores := history.StoreRefs + p.of.label + "/"
		if slices.ContainsFunc(slices.Concat(t.View.Names(stores), p.view.Names(stores)),
			func(at string) bool { return t.View.Get(at) != p.view.Get(at) }) ||
			p.isNew && !isFree(t.View, p.of.label) {
			return fmt.Errorf("%w: another pull was faster", history.ErrStale)
		}
		op := &format.Operation{Verb: refs.VerbPull}
		add := func(name string, v format.Value) {
			if old := t.View.Get(name); old != v {
				op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: old, New: v})
			}
		}
		mark, err := t.KeyMark()
		if err != nil {
			return err
		}
		for _, blob := range []struct {
			ref   string
			text  []byte
			fixed bool
		}{{ref, p.headBytes, false}, {history.LabelRefs + p.of.label, p.of.text(), true},
			{history.KeyRef, mark, true}} {
			if blob.fixed && t.View.Get(blob.ref).Exists() {
				continue
			}
			v, err := t.AddBlob(blob.text, format.MediaText)
			if err != nil {
				return err
			}
			add(blob.ref, v)
		}
		for b, tip := range p.news.tips {
			session := history.SharedName(b.Session, p.of.label)
			if _, err := format.EncodeName(session); err != nil {
				return fmt.Errorf("session %q: %w", sanitize.Line(session), err)
			}
			if t.View.Get(p.ref(b)).ID != tip {
				p.one.Sessions = append(p.one.Sessions, session)
			}
			add(p.ref(b), format.Value{Kind: format.SessionValue, ID: tip})
			// It was removed here and is back: if its store ends it, nobody here has removed it.
			add(history.RemovedRefs+session, format.Value{})
			told, err := p.epochAt(t, b, tip)
			if err != nil {
				return err
			}
			add(epochs.EpochRef(session, b.Name), told)
		}
		for b := range p.ends {
			if !t.View.Get(p.ref(b)).Exists() {
				continue // it was removed here
			}
			session := history.SharedName(b.Session, p.of.label)
			p.one.Ended = append(p.one.Ended, session)
			add(p.ref(b), format.Value{})
			add(epochs.EpochRef(session, b.Name), format.Value{})
		}
		if err := errors.Join(p.link(t, add), p.takeAbouts(add)); err != nil {
			return err
		}
		if v, moves, err := p.takeForest(t); err != nil {
			return err
		} else if moves {
			add(history.SharedForestRef(p.of.label), v)
		}
		for _, list := range []*[]string{&p.one.Sessions, &p.one.Ended} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
		if len(op.Refs) == 0 {
			p.one = nil
			return nil
		}
		return t.Commit(op)
	})
}

// epochAt returns the epoch of a branch that moves to tip: what the model was told there.
func (p *pulling) epochAt(t *store.Tx, b share.Branch, tip format.ID) (v format.Value, err error) {
	old := t.View.Get(p.ref(b)).ID
	for e, err := range history.Line(tip, t.EntryNow) {
		switch {
		case err != nil:
			return v, err
		case e.ID == old:
			name := epochs.EpochRef(history.SharedName(b.Session, p.of.label), b.Name)
			return t.View.Get(name), nil
		case e.Kind == format.KindEpoch:
			return format.Value{Kind: format.ObjectValue, ID: e.Epoch}, nil
		}
	}
	return v, nil
}
