package sharing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// content is what one store has on a remote.
type content struct {
	log, packs []share.File // those that nothing needs as well
}

// list returns the files of a store.
func (x *Sharer) list(ctx context.Context, folder string) (content, error) {
	var c content
	root := share.Stores + folder + "/"
	files, err := x.r.List(ctx, root)
	if err != nil {
		return c, err
	}
	for _, f := range files {
		kind, file, err := share.ParseFileName(strings.TrimPrefix(f.Name, root))
		if err != nil {
			continue // nothing that a store writes
		}
		if kind == share.LogFolder {
			c.log = append(c.log, file)
		} else {
			c.packs = append(c.packs, file)
		}
	}
	return c, nil
}

// needed returns the files that have all pushes after known: of those with the same pushes the one
// that has most, the oldest first.
func needed(files []share.File, known uint64) []share.File {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b share.File) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(b.Last, a.Last),
			a.Digest.Compare(b.Digest))
	})
	var out []share.File
	for _, f := range files {
		if f.Last <= known {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Covers(f) && !f.Covers(out[n-1]) {
			continue
		}
		out = append(out, f)
	}
	return out
}

// step is a push with its bytes and digest.
type step struct {
	*share.Push
	bytes  []byte
	digest format.ID
}

// maxLog is how many bytes of segments one pull reads of a store, so that no store takes the memory
// of those who read it.
const maxLog = 1 << 30

// pushes returns the pushes of a store after known, oldest first, up to the newest one that the
// head names. The chain is followed from the head back to the known push, so what a push that was
// stopped has left there does no harm.
func (x *Sharer) pushes(
	ctx context.Context, h *share.Head, c content, known uint64, after format.ID,
) ([]step, error) {
	met := map[format.ID]step{}
	size := 0
	for _, f := range needed(c.log, known) {
		if f.First > h.Number {
			continue // of a push that is under way
		}
		b, err := x.r.Get(ctx, share.Stores+h.Store+"/"+share.LogFolder+f.Name())
		if errors.Is(err, remote.ErrNotFound) {
			continue // it was replaced meanwhile, or the chain shows that it is missing
		}
		if err != nil {
			return nil, err
		}
		if format.Sum(b) != f.Digest {
			if segmentIsCut(b) {
				return nil, incomplete("store %s: the log's segment %s", h.Store, f.Name())
			}
			return nil, tampered("store %s: the log's segment %s is not what its name says",
				h.Store, f.Name())
		}
		list, err := x.unpackSegment(b)
		if err != nil {
			return nil, tampered("store %s: %s: %v", h.Store, f.Name(), err)
		}
		for i, b := range list {
			if size += len(b); size > maxLog {
				return nil, fmt.Errorf("store %s: its log is too long for one pull", h.Store)
			}
			p, digest, err := share.DecodePush(b)
			if err != nil {
				return nil, unread(err, "store %s: %s", h.Store, f.Name())
			}
			if p.Number != f.First+uint64(i) || p.Store != h.Store {
				return nil, tampered("store %s: %s has another push", h.Store, f.Name())
			}
			met[digest] = step{p, b, digest}
		}
	}
	return chain(h, met, known, after)
}

// chain returns the pushes from the one after known up to the newest.
func chain(h *share.Head, met map[format.ID]step, known uint64, after format.ID) ([]step, error) {
	if h.Number < known || h.Number-known > uint64(len(met)) {
		return nil,
			incomplete("store %s: pushes between %d and %d are missing", h.Store, known, h.Number)
	}
	steps := make([]step, h.Number-known)
	digest := h.Digest
	for n := h.Number; n > known; n-- {
		s, ok := met[digest]
		if !ok || s.Number != n {
			return nil, incomplete("store %s: push %d is missing", h.Store, n)
		}
		steps[n-known-1], digest = s, s.Before
	}
	if digest != after {
		return nil, tampered("store %s: push %d does not follow from push %d: the log was forked",
			h.Store, known+1, known)
	}
	return steps, nil
}

const segmentMagic = "ctx segment 1 "

// packSegment returns the file of a segment with these pushes.
func (x *Sharer) packSegment(pushes [][]byte) ([]byte, error) {
	raw := share.EncodeSegment(pushes)
	frame, err := x.s.Objects.CompressLog(raw)
	return append(fmt.Appendf(nil, "%s%d\n", segmentMagic, len(raw)), frame...), err
}

// unpackSegment returns the pushes of a segment.
func (x *Sharer) unpackSegment(b []byte) ([][]byte, error) {
	first, frame, _ := bytes.Cut(b, []byte{'\n'})
	digits, ok := strings.CutPrefix(string(first), segmentMagic)
	size, err := strconv.Atoi(digits)
	if !ok || err != nil || size < 0 || size > share.MaxSegment || strconv.Itoa(size) != digits {
		return nil, errors.New("not a segment")
	}
	raw, err := x.s.Objects.DecompressLog(size, frame)
	if err != nil {
		return nil, err
	}
	return share.DecodeSegment(raw)
}

// published is what a store shares on a remote after some of its pushes.
type published struct {
	number uint64
	digest format.ID
	tips   map[share.Branch]format.ID // by branch without its tip
	parent map[string]share.Parent    // by session
	about  map[string]format.ID       // by session
	at     map[string]uint64          // by session: the At of the last push that tells of it
	gone   map[string]bool            // sessions that were shared, and that the store has no more
	forest format.ID
	of     uint64 // the At of the push that brought the forest
	forgot map[format.ID]bool
}

func newPublished() *published {
	return &published{tips: map[share.Branch]format.ID{}, parent: map[string]share.Parent{},
		about: map[string]format.ID{}, at: map[string]uint64{}, gone: map[string]bool{},
		forgot: map[format.ID]bool{}}
}

// apply takes further pushes.
func (p *published) apply(steps []step) {
	for _, s := range steps {
		for _, b := range s.Branches {
			p.tips[share.Branch{Session: b.Session, Name: b.Name}] = b.Tip
			p.at[b.Session] = s.At
			delete(p.gone, b.Session)
		}
		for i, b := range slices.Concat(s.Gone, s.Ends) {
			delete(p.tips, b)
			p.at[b.Session] = s.At
			if len(p.tipsOf(b.Session)) == 0 {
				delete(p.parent, b.Session)
				delete(p.about, b.Session)
				p.gone[b.Session] = i < len(s.Gone)
			}
		}
		for _, parent := range s.Parents {
			p.parent[parent.Session] = parent
			p.at[parent.Session] = s.At
		}
		for _, about := range s.Abouts {
			p.about[about.Session] = about.Blob
			p.at[about.Session] = s.At
		}
		if !s.Forest.IsZero() {
			p.forest, p.of = s.Forest, s.At
		}
		for _, id := range s.Forgot {
			p.forgot[id] = true
		}
		p.number, p.digest = s.Number, s.digest
	}
}

// cache keeps what a store shares on the remote, so that the next push or pull need not read its
// log there. It has the form of a segment: the pushes that share all of it, one for each At.
func (x *Sharer) cache(store string, p *published) {
	parts := map[uint64]*share.Push{}
	part := func(at uint64) *share.Push {
		if parts[at] == nil {
			parts[at] = &share.Push{Store: store, Number: p.number + 1, Before: p.digest,
				Time: x.now(), At: at}
		}
		return parts[at]
	}
	for b, tip := range p.tips {
		one := part(p.at[b.Session])
		b.Tip = tip
		one.Branches = append(one.Branches, b)
	}
	for session, gone := range p.gone {
		if gone {
			one := part(p.at[session])
			one.Gone = append(one.Gone, share.Branch{Session: session, Name: history.MainBranch})
		}
	}
	for _, session := range slices.Sorted(maps.Keys(p.parent)) {
		one := part(p.at[session])
		one.Parents = append(one.Parents, p.parent[session])
	}
	for _, session := range slices.Sorted(maps.Keys(p.about)) {
		one := part(p.at[session])
		one.Abouts = append(one.Abouts, share.About{Session: session, Blob: p.about[session]})
	}
	part(p.of).Forest = p.forest
	part(0).Forgot = slices.SortedFunc(maps.Keys(p.forgot), format.ID.Compare)
	var pushes [][]byte
	for _, at := range slices.Sorted(maps.Keys(parts)) {
		slices.SortFunc(parts[at].Branches, share.Branch.Compare)
		slices.SortFunc(parts[at].Gone, share.Branch.Compare)
		b, err := parts[at].Encode()
		if err != nil {
			return
		}
		pushes = append(pushes, b)
	}
	_ = x.s.History.Cache.Store(sharedName(x.o.Name, store),
		cache.Stamp{Number: p.number, Digest: p.digest}, share.EncodeSegment(pushes))
}

// cached returns what cache kept of a store on a remote, as of the newest push of a head; nil where
// it kept something else.
func (x *Sharer) cached(remote string, head *share.Head) *published {
	b, stamp, ok := x.s.History.Cache.Load(sharedName(remote, head.Store))
	if !ok || stamp.Number != head.Number || stamp.Digest != head.Digest {
		return nil
	}
	pushes, err := share.DecodeSegment(b)
	p := newPublished()
	for _, b := range pushes {
		part, _, bad := share.DecodePush(b)
		if bad != nil || part.Store != head.Store {
			return nil
		}
		p.apply([]step{{Push: part}})
	}
	if p.number, p.digest = head.Number, head.Digest; err != nil {
		return nil
	}
	return p
}

// sharedName is the name of the file with what a store shares on a remote.
func sharedName(remote, store string) string { return "shared-" + remote + "." + store }

// tags returns the tags of the heads that the last pulls took in, by folder: a head with the same
// tag need not be read.
func (x *Sharer) tags() map[string]string {
	known := map[string]string{}
	if !x.s.History.Cache.GetJSON(x.tagsName(), &known) {
		return map[string]string{}
	}
	return known
}

// keepTags keeps the tags of heads for the next pull.
func (x *Sharer) keepTags(tags map[string]string) {
	maps.DeleteFunc(tags, func(_, tag string) bool { return tag == "" })
	if !maps.Equal(tags, x.tags()) {
		_ = x.s.History.Cache.PutJSON(x.tagsName(), cache.Stamp{}, tags)
	}
}

func (x *Sharer) tagsName() string { return "heads-" + x.o.Name }

// tipsOf returns the ends of the branches of a session.
func (p *published) tipsOf(session string) (tips []format.ID) {
	for b, tip := range p.tips {
		if b.Session == session {
			tips = append(tips, tip)
		}
	}
	slices.SortFunc(tips, format.ID.Compare)
	return tips
}

// bySession returns the branches that are shared, with their tips, by session and in order.
func (p *published) bySession() map[string][]share.Branch {
	all := map[string][]share.Branch{}
	for b, tip := range p.tips {
		b.Tip = tip
		all[b.Session] = append(all[b.Session], b)
	}
	for _, list := range all {
		slices.SortFunc(list, share.Branch.Compare)
	}
	return all
}

// toldLater returns the shared sessions of which another remote was told something else since this
// one was told of them. A session that is again as this remote has it would count as the older one.
func (x *Sharer) toldLater(view *refs.View, base *published) (map[string]bool, error) {
	again, tips := map[string]bool{}, base.bySession()
	for _, ref := range view.Names(history.RemoteRefs) {
		head, err := x.seen(view, ref)
		if err != nil {
			return nil, err
		}
		if head.Store != x.s.Shared || path.Base(ref) == x.o.Name {
			continue
		}
		other := x.cached(path.Base(ref), head)
		if other == nil {
			continue // it counts as it is until the next push there
		}
		theirs := other.bySession()
		for session := range tips {
			again[session] = again[session] || other.at[session] > base.at[session] &&
				(other.about[session] != base.about[session] ||
					!slices.Equal(tips[session], theirs[session]))
		}
	}
	return again, nil
}

// A folder that another program syncs has its files in any order, and some in part. So there are
// three answers to a file that is not as its name or its head says:
//
//   - A name that no remote writes is passed over.
//   - What is missing, or the beginning of a file, has not arrived yet: remote.ErrIncomplete.
//   - What is whole and wrong was tampered with: remote.ErrTampered.
//
// Nothing of the store is taken in, either way.

// zeroTail is how many zeros at the end of a file are taken for room that a copy has reserved.
const zeroTail = 64

// incomplete returns remote.ErrIncomplete.
func incomplete(form string, args ...any) error {
	return fmt.Errorf("%w: %s", remote.ErrIncomplete, fmt.Sprintf(form, args...))
}

// isReserved reports whether a file is empty, or ends with zeros that hold the place of the rest.
func isReserved(b []byte) bool {
	begin := bytes.TrimRight(b, "\x00")
	return len(begin) == 0 || len(b)-len(begin) >= zeroTail
}

// headIsCut reports whether a head that cannot be read is the beginning of one: its last line is
// not the signature.
func headIsCut(b []byte) bool {
	last := b[bytes.LastIndexByte(bytes.TrimSuffix(b, []byte{'\n'}), '\n')+1:]
	return isReserved(b) || !bytes.HasSuffix(b, []byte{'\n'}) ||
		!bytes.HasPrefix(last, []byte("signature "))
}

// packIsCut is headIsCut for packs.
func packIsCut(b []byte) bool { return isReserved(b) || objects.PackIsCut(b) }

// segmentIsCut is headIsCut for segments.
func segmentIsCut(b []byte) bool {
	first, frame, line := bytes.Cut(b, []byte{'\n'})
	switch {
	case isReserved(b):
		return true
	case line:
		return frameIsCut(frame)
	}
	return bytes.HasPrefix(first, []byte(segmentMagic)) ||
		bytes.HasPrefix([]byte(segmentMagic), first)
}

// formatIsCut is headIsCut for the file that says which version a remote is of.
func formatIsCut(b []byte) bool {
	whole := share.Format()
	return isReserved(b) || len(b) < len(whole) && bytes.HasPrefix(whole, b)
}

// frameIsCut reports whether a zstd frame ends before its last block does (RFC 8878, 3.1.1).
func frameIsCut(b []byte) bool {
	const magic, checksum, blockHead = 4, 4, 3
	if len(b) <= magic {
		return true
	}
	flags := b[magic]
	at := magic + 1 + []int{0, 1, 2, 4}[flags&3] + []int{0, 2, 4, 8}[flags>>6]
	switch single := flags&0x20 != 0; {
	case !single:
		at++ // the window
	case flags>>6 == 0:
		at++ // the size has a byte
	}
	for last := false; !last; {
		if at+blockHead > len(b) {
			return true
		}
		head := int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16
		last = head&1 != 0
		size := head >> 3
		if head>>1&3 == 1 {
			size = 1 // one byte, repeated
		}
		at += blockHead + size
	}
	if flags&4 != 0 {
		at += checksum
	}
	return at > len(b)
}
