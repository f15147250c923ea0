package repair

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/refs"
)

// holes lays a header in the place of each object that something names and that is nowhere, as a
// record in absent/. The object keeps its id, so that all that stands on it stays as it is: other
// entries, clusters, summaries. The header says what the log and the other objects say.
type holes struct {
	*repairer
	g     *graph.Graph
	lost  map[format.ID]format.ObjectKind // by what names them, but for what can be made again
	child map[format.ID]*format.Entry     // one that can be read, and stands on a lost entry
	lines map[string]*line                // by session
	tips  []format.ID                     // that nothing stands on: a lost entry did
	refs  []map[string]format.Value       // where the kept log begins, and now
	begin time.Time                       // of the kept log
	laid  map[format.ID]format.ID         // the parents of what was laid
	left  map[format.ID]bool              // a rewind or an undo has left it: nothing stands on it
	from  map[format.ID]format.ID         // what the tip of a lost rewind has left
	later []refs.Record                   // the whole records behind a damage of the log
}

// mendHoles makes the store whole again where objects are lost with their headers.
func (r *repairer) mendHoles() error { return r.layLost(nil) }

// layLost lays headers in the place of what is lost of refs and the log, and below the tips that
// later records give branches.
func (r *repairer) layLost(later []refs.Record) error {
	h := &holes{repairer: r, later: later, lost: map[format.ID]format.ObjectKind{},
		child: map[format.ID]*format.Entry{}, lines: map[string]*line{},
		laid: map[format.ID]format.ID{}, left: map[format.ID]bool{},
		from: map[format.ID]format.ID{}}
	if err := h.find(); err != nil || len(h.lost) == 0 {
		return err
	}
	if err := h.follow(); err != nil {
		return err
	}
	for _, session := range slices.Sorted(maps.Keys(h.lines)) {
		if err := h.bridge(session); err != nil {
			return err
		}
	}
	if err := h.clusters(); err != nil {
		return err
	}
	return h.others()
}

// find walks over all that refs and the log lead to, and notes what is not there.
func (h *holes) find() error {
	var err error
	if h.g, err = h.readGraph(); err != nil {
		return err
	}
	w := graph.Walk{Graph: h.g, Mark: graph.Reached}
	w.Missing = func(from uint32, l format.Link, why error) error {
		if history.IsDamage(why) {
			h.miss(l)
		}
		return h.ctx.Err()
	}
	var failed error
	walk := func(roots []graph.Root) bool {
		for _, root := range roots {
			i, err := h.g.Meet(root.ID)
			if err != nil {
				if history.IsDamage(err) {
					h.miss(root.Link)
				}
				continue
			}
			if failed = w.From(i); failed != nil {
				return false
			}
		}
		return true
	}
	view, err := h.s.Refs.Read()
	if err != nil {
		return err
	}
	base, err := h.s.Refs.Base()
	if err != nil {
		return err
	}
	now := view.All()
	for _, rec := range h.later {
		for _, u := range rec.Op.Refs {
			if strings.HasPrefix(u.Name, graph.SessionsPrefix) && u.New.Exists() {
				now[u.Name] = u.New
			}
		}
	}
	h.refs = []map[string]format.Value{graph.RefsOf(base), now}
	if walk(graph.RootsOfRefs(now)) && walk(graph.RootsOfBase(graph.RefsOf(base))) {
		err = h.s.Refs.Forward(func(rec refs.Record) bool {
			return walk(graph.RootsOfRecord(rec.Op))
		})
	}
	if failed != nil || err != nil || len(h.lost) == 0 {
		return cmp.Or(failed, err)
	}
	for i := range uint32(h.g.Len()) {
		for _, l := range h.g.Lost[i] {
			if h.is(l.ID, format.EntryKind) && h.g.Kind(i) == format.EntryKind {
				h.standsOn(i, l.ID)
			}
		}
	}
	h.findTips()
	return nil
}

// findTips finds the entries that nothing stands on, that are not the tip of a branch, and that no
// rewind has left.
func (h *holes) findTips() {
	below := make([]bool, h.g.Len())
	for i := range uint32(h.g.Len()) {
		up := h.g.ParentsOf(i)
		for _, e := range up {
			below[e.To()] = true
		}
		if h.g.Kind(i) != format.EntryKind || len(h.g.Below(i)) == len(up) {
			continue
		}
		if e, err := h.s.History.Header(h.g.ID(i)); err == nil && !e.Left.IsZero() {
			if left, ok := h.g.Find(e.Left); ok {
				below[left] = true
			}
		}
	}
	for _, v := range h.refs[1] {
		if i, ok := h.g.Find(v.ID); ok {
			below[i] = true
		}
	}
	for i, is := range below {
		if !is && h.g.Kind(uint32(i)) == format.EntryKind {
			h.tips = append(h.tips, h.g.ID(uint32(i)))
		}
	}
}

// is reports whether an object of a kind is lost.
func (h *holes) is(id format.ID, kind format.ObjectKind) bool {
	k, lost := h.lost[id]
	return lost && k == kind
}

// miss notes an object that is lost.
func (h *holes) miss(l format.Link) {
	switch l.Want {
	case format.NodeKind, format.PageKind, format.ForestKind: // rebuild makes them again
	default:
		if was, known := h.lost[l.ID]; !known || was == format.AnyKind {
			h.lost[l.ID] = l.Want
		}
	}
}

// standsOn notes an entry that can be read and stands on a lost one.
func (h *holes) standsOn(i uint32, lost format.ID) {
	e, err := h.s.History.Header(h.g.ID(i))
	if err == nil && slices.Contains(e.Parents, lost) && h.child[lost] == nil {
		h.child[lost] = e
	}
}

func (h *holes) any(kind format.ObjectKind) bool {
	return slices.Contains(slices.Collect(maps.Values(h.lost)), kind)
}

// others lays blobs and epochs. Readers know both without their contents.
func (h *holes) others() error {
	for _, id := range slices.SortedFunc(maps.Keys(h.lost), format.ID.Compare) {
		var header []byte
		var err error
		switch h.lost[id] {
		case format.EpochKind:
			e := format.Epoch{Step: format.EpochUpdate, Body: lostBody(id, 1, format.MediaText)}
			header, err = e.Encode()
		case format.BlobKind, format.AnyKind:
			header, err = format.EncodeBlob(*lostBody(id, 1, "application/octet-stream"))
		case format.SummaryKind: // an input of another one
			if node := h.nodeAbove(id); !node.IsZero() {
				if err := h.layText(id, &format.Summary{Node: node}); err != nil {
					return err
				}
			}
			continue
		default:
			continue // nothing tells of what it was
		}
		if err == nil {
			h.repairer.lost("%s %v", h.lost[id], id)
			err = h.lay(id, header)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lostBody is the line of a body that nobody has: no bytes have the digest.
func lostBody(id format.ID, size int64, media string) *format.Body {
	return &format.Body{Digest: id, Size: size, Media: media}
}

// lay writes what stands for an object.
func (h *holes) lay(id format.ID, header []byte) error {
	delete(h.lost, id)
	return h.markLost(format.Absent{Object: id, Header: header})
}

// clusters lays summaries and tombstones in the place of the lost ones: a replay of the log tells
// of what they were.
func (h *holes) clusters() error {
	if !h.any(format.SummaryKind) && !h.any(format.TombstoneKind) {
		return nil
	}
	base, err := h.s.Refs.Base()
	if err != nil {
		return err
	}
	r, err := graph.New(h.s, graph.RefsOf(base))
	if err != nil {
		return nil //nolint:nilerr // the forest where the log begins is lost, which others tell
	}
	var failed error
	r.Lost = func(id format.ID) bool {
		return h.is(id, format.SummaryKind) || h.is(id, format.TombstoneKind)
	}
	r.Lay = func(id format.ID, o format.Object) error {
		failed = cmp.Or(failed, h.layText(id, o))
		return failed
	}
	r.BaseCovers(func(string, error) {})
	_, _ = r.All(h.ctx, math.MaxUint64, nil) // derive tells of what goes wrong besides
	return failed
}

// layText lays a summary or a tombstone, without a text.
func (h *holes) layText(id format.ID, o format.Object) error {
	body := *lostBody(id, format.NonceLen, format.MediaText)
	switch o := o.(type) {
	case *format.Summary:
		o.Generation, o.Summarizer, o.Version, o.Body = 1, "lost", "1", body
		o.Inputs = []format.Input{{ID: o.Node}}
	case *format.Tombstone:
		o.Body = body
	}
	header, err := o.Encode()
	if err != nil {
		return err
	}
	h.repairer.lost("the text of %s %v", h.lost[id], id)
	return h.lay(id, header)
}

// nodeAbove returns the node of the summary, the tombstone or the cluster that names a lost
// summary.
func (h *holes) nodeAbove(id format.ID) format.ID {
	for i := range uint32(h.g.Len()) {
		switch h.g.Kind(i) {
		case format.SummaryKind, format.TombstoneKind, format.ForestKind:
		default:
			continue
		}
		_, o, err := format.DecodeObject(h.header(i))
		if err != nil {
			continue
		}
		var node format.ID // those of a cluster come before its summaries
		for _, l := range o.Links() {
			switch {
			case l.Want == format.NodeKind && (node.IsZero() || h.g.Kind(i) == format.ForestKind):
				node = l.ID
			case l.ID == id && !node.IsZero():
				return node
			}
		}
	}
	return format.ID{}
}

func (h *holes) header(i uint32) []byte {
	header, _ := h.s.Objects.Header(h.g.ID(i)) // what cannot be read does not decode
	return header
}
