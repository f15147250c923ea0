package sharing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
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
	Store, Label string
	Pushes       int
	Sessions     []string // that began, went on or moved, by the names that they have here
	Ended        []string // that are shared no more
	Removed      []string // that went on, and were removed here: they stay so
	Objects      int
	Bytes        int64
	Forgot       int         // bodies that went here because the store has forgotten them
	Asked        []format.ID // what it has forgotten and this store has said itself: that stays
}

// Pull takes in what other stores have put on the remote. It takes the log and the objects of a
// store in only when all of it is there and is what the store wrote; then one operation names them,
// so a crash leaves the old state or the new one. What is wrong with one store keeps it out, and
// not the others: the errors are joined. Errors: remote.ErrIncomplete, ErrTampered, ErrCopied,
// those of the remote and of the store.
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
		if name == folder(x.s.Shared) {
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
		if err == nil && !there[folder(head.Store)] {
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
		if folder(head.Store) != name {
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
	several bool         // other remotes have the store, too
	before  format.Value // of the ref of seen

	news   *published
	ever   map[format.ID]bool // all that the store has forgotten; nil until it is asked for
	fresh  []format.ID        // objects of branches that the pushes bring
	forest *forest.State      // that the pushes bring, as far as it is taken in; nil where it stays
	ends   map[share.Branch]bool
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
	if head.Number <= number { // another pull of this store may be further
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
	return p.one, p.take(ctx)
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
	for _, other := range p.view.Names(history.StoreRefs + p.of.label + "/") {
		p.several = p.several || other != ref
	}
	p.before = p.view.Get(ref)
	if p.seen, err = x.seen(p.view, ref); err != nil {
		return err
	}
	return x.follows(p.head, p.seen, ref)
}

// fetch reads the pushes after a known one, stores their objects, and checks that nothing is
// missing. The error is objects.ErrNotFound where something is.
func (p *pulling) fetch(ctx context.Context, number uint64, digest format.ID) error {
	c, err := p.x.list(ctx, folder(p.head.Store))
	if err != nil {
		return err
	}
	steps, err := p.x.pushes(ctx, p.head, c, number, digest)
	if err != nil {
		return err
	}
	if p.seen != nil && number == 0 && steps[p.seen.Number-1].digest != p.seen.Digest {
		return tampered("store %s: push %d is another one than before: the log was forked",
			p.head.Store, p.seen.Number)
	}
	p.news, p.ends = newPublished(), map[share.Branch]bool{}
	for _, s := range steps {
		for _, b := range s.Ends {
			p.ends[b] = true
		}
		for _, b := range s.Branches {
			delete(p.ends, share.Branch{Session: b.Session, Name: b.Name})
		}
		p.news.apply([]step{s})
	}
	p.one = &PulledStore{Store: p.head.Store, Label: p.of.label, Pushes: len(steps)}
	if err := p.leaveRemoved(); err != nil {
		return err
	}
	if err := p.adopt(ctx, c, number); err != nil {
		return err
	}
	if p.fresh, err = p.x.missingBySession(ctx, p.tips(), p.had()); err != nil {
		return err
	}
	return p.readForest(ctx, number == 0 && len(p.one.Removed) == 0)
}

// has reports whether a session, as it is called here, is one of the store.
func (p *pulling) has(session string) bool { return strings.HasSuffix(session, "@"+p.of.label) }

// leaveRemoved takes sessions that were removed here out of what the pushes bring.
func (p *pulling) leaveRemoved() error {
	removed, err := p.x.s.Conversation.Removed(p.view)
	if err != nil || len(removed) == 0 {
		return err
	}
	left := map[string]bool{}
	for b := range p.news.tips {
		if name := history.SharedName(b.Session, p.of.label); removed[name] &&
			!slices.Contains(p.x.back, name) {
			left[b.Session] = true
			delete(p.news.tips, b)
		}
	}
	for _, session := range slices.Sorted(maps.Keys(left)) {
		delete(p.news.parent, session)
		delete(p.news.about, session)
		p.one.Removed = append(p.one.Removed, history.SharedName(session, p.of.label))
	}
	return nil
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

// forget erases the bodies in the store's own sessions that it has forgotten. What this store has
// sealed with its own key stays, and is reported: nobody else erases what was said here. So does
// what is no message.
func (p *pulling) forget(ctx context.Context) error {
	if len(p.news.forgot) == 0 {
		return nil
	}
	x := p.x
	theirs, err := p.objects(ctx)
	if err != nil {
		return err
	}
	clusters, err := p.forestObjects()
	if err != nil {
		return err
	}
	theirs = append(theirs, clusters...)
	left, err := p.leftBehind(ctx, setOf(theirs))
	if err != nil {
		return err
	}
	var here []format.ID
	for _, id := range append(theirs, left...) {
		if !p.news.forgot[id] {
			continue
		}
		raw, err := x.s.Objects.Get(id)
		var gone *objects.GoneError
		if errors.As(err, &gone) {
			continue
		}
		if err != nil {
			return err
		}
		mine, sealed, err := x.s.Store.FitsKey(raw)
		switch {
		case err != nil:
			return err
		case mine || !sealed:
			p.one.Asked = append(p.one.Asked, id)
		default:
			here = append(here, id)
		}
	}
	said, err := p.forgottenAbouts()
	if err != nil {
		return err
	}
	here = append(here, said...)
	slices.SortFunc(p.one.Asked, format.ID.Compare)
	if len(here) == 0 {
		return nil
	}
	p.one.Forgot = len(here)
	from, err := p.from(ctx, setOf(here))
	if err != nil {
		return err
	}
	x.o.Forgetting(p.of.label, from)
	// The store tells all that went
	_, err = forget.Run(ctx, x.s, forget.Options{IDs: here, Exact: true})
	return err
}

// leftBehind returns what the store has forgotten and only the log here leads to: what was in a
// session that was removed here, or that its owner has moved away from it since. An undo would
// bring it back. theirs is what the store's sessions lead to now.
func (p *pulling) leftBehind(ctx context.Context, theirs map[format.ID]bool) ([]format.ID, error) {
	x := p.x
	rest := map[format.ID]bool{}
	for id := range p.news.forgot {
		if theirs[id] {
			continue
		}
		there, err := x.s.Objects.Has(id)
		if err != nil {
			return nil, err
		}
		forgot, err := x.s.Objects.Forgotten(id)
		if err != nil {
			return nil, err
		}
		if there && !forgot {
			rest[id] = true
		}
	}
	if len(rest) == 0 {
		return nil, nil
	}
	tips, err := p.tipsOnce()
	if err != nil {
		return nil, err
	}
	all, err := x.missingBySession(ctx, tips, nil)
	return slices.DeleteFunc(all, func(id format.ID) bool { return !rest[id] }), err
}

// tipsOnce are the ends that the store's branches have had here, as far as the log goes back.
func (p *pulling) tipsOnce() (branchTips, error) {
	tips, seen := branchTips{}, map[format.ID]bool{}
	add := func(ref string, v format.Value) {
		session, name, ok := history.BranchOfRef(ref)
		if !ok || v.ID.IsZero() || seen[v.ID] {
			return
		}
		if label, shared := history.Owner(p.view, session); shared && label == p.of.label {
			seen[v.ID] = true
			tips.add(share.Branch{Session: session, Name: name}, v.ID)
		}
	}
	base, err := p.x.s.Refs.Base()
	if err != nil {
		return nil, err
	}
	for _, ref := range base.Refs {
		add(ref.Name, ref.Value)
	}
	return tips, p.x.s.Refs.Forward(func(r refs.Record) bool {
		for _, u := range r.Op.Refs {
			add(u.Name, u.Old)
			add(u.Name, u.New)
		}
		return true
	})
}

// from counts bodies by the session of the store that they are in, here or in what is pulled. A
// body of several sessions counts for the first.
func (p *pulling) from(ctx context.Context, ids map[format.ID]bool) (list []Going, err error) {
	tips := p.tipsHere()
	for b, tip := range p.news.tips {
		b.Session = history.SharedName(b.Session, p.of.label)
		tips.add(b, tip)
	}
	w, rest := p.x.newWalk(ctx), len(ids)
	for _, session := range slices.Sorted(maps.Keys(tips)) {
		all, err := w.find(tips[session], nil)
		if err != nil {
			return nil, err
		}
		one := Going{Session: session}
		for _, id := range all {
			if ids[id] {
				one.Bodies++
			}
		}
		if rest -= one.Bodies; one.Bodies > 0 {
			list = append(list, one)
		}
	}
	if rest > 0 {
		list = append(list, Going{Bodies: rest})
	}
	return list, nil
}

// adopt fetches and stores the packs of the pushes after a known one. A push that was stopped may
// have left a pack from which it has taken bodies, and told nobody: those that it is to replace are
// there still, and serve.
func (p *pulling) adopt(ctx context.Context, c content, number uint64) error {
	packs := needed(c.packs, number)
	for i, f := range packs {
		if f.First > p.head.Number {
			continue
		}
		p.x.o.Progress(i, len(packs), "fetching from "+sanitize.Line(p.of.label))
		err := p.adoptFile(ctx, c, f)
		if errors.Is(err, objects.ErrNoBody) {
			for _, other := range c.packs {
				if !f.Covers(other) || other == f {
					continue
				}
				if bad := p.adoptFile(ctx, c, other); !errors.Is(bad, objects.ErrNoBody) {
					err = bad
				}
				if err != nil && !errors.Is(err, objects.ErrNoBody) {
					return err
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adoptFile fetches and stores a pack.
func (p *pulling) adoptFile(ctx context.Context, c content, f share.File) error {
	b, err := p.x.r.Get(ctx, share.Stores+folder(p.head.Store)+"/"+share.PackFolder+f.Name(), 0, -1)
	if errors.Is(err, remote.ErrNotFound) {
		return nil // it was replaced meanwhile, or something is missing then
	}
	if err == nil {
		p.one.Bytes += int64(len(b))
		err = p.adoptPack(ctx, c, b, f.Digest)
	}
	var corrupt *objects.CorruptError
	if errors.As(err, &corrupt) && packIsCut(b) {
		return incomplete("store %s: pack %s", p.head.Store, f.Name())
	}
	if errors.As(err, &corrupt) {
		return tampered("store %s: pack %s: %s", p.head.Store, f.Name(), corrupt.Why)
	}
	return err
}

// adoptPack stores the objects of a pack. Those that lack their body because the store has
// forgotten it are recorded as forgotten first, in an operation of their own. So are those that
// were made of words that are forgotten here: if another process forgets some meanwhile, the pack
// is looked at again before its objects get their names.
func (p *pulling) adoptPack(ctx context.Context, c content, b []byte, id format.ID) error {
	absent := false
	for try := 1; ; try++ {
		before, _, err := p.x.s.Objects.ForgetFiles()
		if err != nil {
			return err
		}
		noted, err := p.keepOut(ctx, b, id)
		if err != nil {
			return err
		}
		if noted == 0 {
			err = p.adoptAs(ctx, b, id, before)
		}
		switch {
		case noted > 0, errors.Is(err, history.ErrStale) && try < pullTries:
		case errors.Is(err, objects.ErrNoBody) && !absent:
			absent = true
			if err := p.noteAbsent(ctx, c, b, id); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// adoptAs stores the objects of a pack. ErrStale says that something was forgotten here since some
// operations.
func (p *pulling) adoptAs(ctx context.Context, b []byte, id format.ID, before []uint64) error {
	n := 0
	_, err := p.x.s.Objects.AdoptPack(b, id, func(id format.ID, raw format.Raw) error {
		n++
		kind, o, err := fit(id, raw)
		p.x.decoded.keep(id, kind, o)
		return err
	}, func(publish func() error) error {
		return p.x.s.Store.Locked(ctx, func(*store.Tx) error {
			now, _, err := p.x.s.Objects.ForgetFiles()
			switch {
			case err != nil:
				return err
			case !slices.Equal(now, before):
				return fmt.Errorf("%w: something was forgotten meanwhile", history.ErrStale)
			}
			return publish()
		})
	})
	if err == nil {
		p.one.Objects += n
	}
	return err
}

// noteAbsent records as forgotten what a pack has without its body because the store has forgotten
// it, and what is not here. A pack of pushes that were joined may have objects of long ago: the
// push that told of their end was pulled before them, or gc has removed them here since.
func (p *pulling) noteAbsent(ctx context.Context, c content, b []byte, id format.ID) error {
	var absent []format.ID
	err := p.x.s.Objects.ReadPack(b, id, func(raw format.Raw) error {
		if _, named, err := format.HeaderBody(raw.Header); err != nil || !named || raw.Body != nil {
			return err
		}
		id := raw.ID()
		there, err := p.x.s.Objects.Has(id)
		if err != nil || there {
			return err
		}
		forgot := p.news.forgot[id]
		if !forgot {
			forgot, err = p.everForgot(ctx, c, id)
		}
		if forgot {
			absent = append(absent, id)
		}
		return err
	})
	if err != nil || len(absent) == 0 {
		return err
	}
	return p.x.s.Store.Locked(ctx, func(t *store.Tx) error { return t.NoteForgotten(absent) })
}

// everForgot reports whether the store has told in any of its pushes that it has forgotten a body.
func (p *pulling) everForgot(ctx context.Context, c content, id format.ID) (bool, error) {
	if p.ever == nil {
		steps, err := p.x.pushes(ctx, p.head, c, 0, format.ID{})
		if err != nil {
			return false, err
		}
		all := newPublished()
		all.apply(steps)
		p.ever = all.forgot
	}
	return p.ever[id], nil
}

// fit decodes an object, and returns an error for one that no push of ctx brings: of another kind,
// or with what sanitizing takes out of every text.
func fit(id format.ID, raw format.Raw) (format.ObjectKind, format.Object, error) {
	kind, o, err := format.DecodeObject(raw.Header)
	if err != nil {
		return kind, o, tampered("object %v: %v", id, err)
	}
	switch kind {
	case format.EntryKind, format.EpochKind, format.BlobKind,
		format.NodeKind, format.SummaryKind, format.ForestKind, format.PageKind,
		format.TombstoneKind:
	default:
		return kind, o, tampered("object %v is a %v, which no push brings", id, kind)
	}
	body, named, err := format.HeaderBody(raw.Header)
	if err != nil || !named || raw.Body == nil {
		return kind, o, err
	}
	text := raw.Text()
	if !strings.HasPrefix(body.Media, "text/") && !strings.Contains(body.Media, "json") {
		return kind, o, nil
	}
	if _, found, broken := controls.Strip(text, nil); found+broken > 0 {
		return kind, o, tampered("object %v has control characters, or bytes that are no text", id)
	}
	return kind, o, nil
}

// take records what was pulled in one operation. ErrStale says that another pull was faster.
func (p *pulling) take(ctx context.Context) error {
	x := p.x
	return x.s.Store.Locked(ctx, func(t *store.Tx) error {
		ref := history.StoreRef(p.of.label, x.o.Name)
		if t.View.Get(ref) != p.before || p.isNew && !isFree(t.View, p.of.label) {
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
			v, err := newBlob(t, blob.text, "text/plain")
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
			older, err := p.isOlder(ctx, t.View.Get(p.ref(b)), tip)
			if err != nil {
				return err
			}
			if older {
				continue
			}
			if t.View.Get(p.ref(b)).ID != tip {
				p.one.Sessions = append(p.one.Sessions, session)
			}
			add(p.ref(b), format.Value{Kind: format.SessionValue, ID: tip})
		}
		for b := range p.ends {
			if p.several || !t.View.Get(p.ref(b)).Exists() {
				continue // another remote may share it still, or it is not here
			}
			p.one.Ended = append(p.one.Ended, history.SharedName(b.Session, p.of.label))
			add(p.ref(b), format.Value{})
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
		return t.Commit(op)
	})
}

// isOlder reports whether a branch is already further than a tip, by what another remote has
// brought.
func (p *pulling) isOlder(ctx context.Context, now format.Value, tip format.ID) (bool, error) {
	if !p.several || !now.Exists() || now.ID == tip {
		return false, nil
	}
	more, err := p.x.missing(ctx, []format.ID{tip}, []format.ID{now.ID})
	return err == nil && len(more) == 0, err
}
