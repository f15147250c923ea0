package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/view"
)

const (
	// shownTombstones is how many tombstones are read for a rendering; the rest are counted.
	shownTombstones = 20

	// readEvicted is how many evicted clusters a rendering under a budget chooses among, the newest.
	readEvicted = 256
)

// RenderInput reads what a branch renders: its pin, and every message after it; and, under a budget, the evicted clusters that it may choose among.
func (s *Store) RenderInput(v *refs.View, session, branch string, o view.Options) (view.Input, error) {
	value, err := Tip(v, session, branch)
	if err != nil {
		return view.Input{Session: session, Branch: branch}, err
	}
	in, err := s.renderInputOf(v, value, session, branch, o)
	if err != nil || in.Work == nil || o.Budget == 0 {
		return in, err
	}
	in.Work.Others, err = s.others(v, &in, view.OthersRoom(o.Budget))
	return in, err
}

// renderInputOf is RenderInput for a branch that stands at value, with the epoch that v has of it.
func (s *Store) renderInputOf(v *refs.View, value format.Value, session, branch string, o view.Options) (in view.Input, err error) {
	in = view.Input{Session: session, Branch: branch, Pin: value.Pin, Through: value.Through, EpochID: v.Get(EpochRef(session, branch)).ID}
	if in.Epoch, err = s.epochBlock(in.EpochID); err != nil {
		return in, err
	}
	if in.Work, err = s.work(value, &in, o.Budget > 0); err != nil {
		return in, err
	}
	if err := s.readTail(value, &in, o.Budget); err != nil || value.Pin.IsZero() {
		return in, err
	}
	st, err := s.forestAt(value.Pin)
	if err != nil {
		return in, err
	}
	r := &listReader{Store: s}
	if r.pin, err = s.pinnedBy(v, value, &in); err != nil {
		return in, err
	}
	if in.Work != nil {
		return in, r.own(st, &in)
	}
	for _, c := range st.Live() {
		cluster, err := r.live(st, c)
		if err != nil {
			return in, err
		}
		if !cluster.ID.IsZero() {
			in.Clusters = append(in.Clusters, cluster)
		}
	}
	if err := r.evicted(st, &in, o.Budget > 0); err != nil {
		return in, err
	}
	r.elsewhere(st, &in, o.Budget)
	return in, r.read(o.Reads())
}

// maxTail is how many messages after the pin a rendering under a budget looks at, the newest. What is
// before them is counted as left out: a compaction, or a search, has it.
const maxTail = 4096

// maxEarlier is how many messages before the pin are read where the facts of all of them leave room.
const maxEarlier = 64

// readTail reads the messages after in.Through, and some before it where a budget has room for more
// than the facts say.
func (s *Store) readTail(v format.Value, in *view.Input, budget int) (err error) {
	from, most := in.Through, 0
	if budget > 0 {
		most = maxTail
	}
	if in.Work != nil && in.Work.Size() < 4*budget {
		from -= min(from, maxEarlier)
	}
	in.Tail, in.Unread, err = s.tail(v, from, most)
	n := 0
	for in.Work != nil && n < len(in.Tail) && in.Tail[n].Seq <= in.Through {
		n++
	}
	if n > 0 {
		in.Work.Earlier, in.Tail = in.Tail[:n:n], in.Tail[n:]
	}
	return err
}

// work reads what an agent did; nil where the branch is not an agent's. The prefix ends where the pin
// does. Where less than all may be printed and the pin lags behind, or there is none yet, it ends where
// the window begins. in.Through says where.
func (s *Store) work(v format.Value, in *view.Input, bounded bool) (*view.Work, error) {
	tip, err := s.entry(v.ID)
	if err != nil {
		return nil, err
	}
	if bounded {
		in.Through = s.digestBorder(v, tip)
	}
	w, err := s.workOf(BranchName{in.Session, in.Branch}, v.ID, in.Through, false)
	if err != nil {
		return nil, err
	}
	if !w.agent {
		in.Through = v.Through
		return nil, nil
	}
	return &view.Work{Facts: w.before, Tail: w.after}, nil
}

// own reads the clusters that the facts of a branch come from: their headings, and the texts of
// summarisers other than ours.
func (r *listReader) own(st *forest.State, in *view.Input) error {
	entries := map[format.ID]bool{}
	for _, f := range in.Work.Facts {
		entries[f.Entry] = true
	}
	places, err := st.Find(entries)
	if err != nil {
		return err
	}
	nodes := map[uint64]format.ID{}
	in.Work.Places = make(map[format.ID]format.ID, len(places))
	for _, f := range in.Work.Facts {
		p, ok := places[f.Entry]
		if !ok {
			continue
		}
		node, ok := nodes[p.Cluster]
		if !ok {
			c, err := r.ownCluster(st, p.Cluster)
			if err != nil {
				return err
			}
			if node = c.ID; !node.IsZero() {
				in.Clusters = append(in.Clusters, c)
			}
			nodes[p.Cluster] = node
		}
		in.Work.Places[f.Entry] = node
	}
	return r.label(st, in, nodes)
}

// label gives the live clusters of an input their labels. nodes are the nodes by the clusters' numbers.
func (r *listReader) label(st *forest.State, in *view.Input, nodes map[uint64]format.ID) error {
	var live []*forest.Cluster
	for _, c := range st.Live() {
		if nodes[c.Number].IsZero() {
			continue
		}
		cut, err := r.pin.cutLive(st, c)
		if err != nil {
			return err
		}
		if cut == nil || !cut.hides(0, c.Count()) { // a label may be made of words that the branch must not see
			live = append(live, c)
		}
	}
	labels, err := r.liveLabels(st, live)
	if err != nil {
		return err
	}
	for _, c := range live {
		for i := range in.Clusters {
			if in.Clusters[i].ID == nodes[c.Number] {
				in.Clusters[i].Label = labels[c.Number]
			}
		}
	}
	return nil
}

// ownCluster reads a cluster, live or evicted, without ranked lists.
func (r *listReader) ownCluster(st *forest.State, number uint64) (view.Cluster, error) {
	var c view.Cluster
	if live := st.Cluster(number); live != nil {
		var err error
		if c, err = r.live(st, live); err != nil {
			return c, err
		}
	} else {
		id, ok, err := st.Tombstone(number)
		if err != nil || !ok {
			return c, err
		}
		stone, line, err := r.stone(id)
		if err != nil {
			return c, err
		}
		if cut, err := r.pin.cutStone(stone.Node); err != nil || cut != nil {
			return c, err // its line and its summary may be made of words that the branch must not see
		}
		c = view.Cluster{ID: stone.Node, Members: int(stone.Count), Label: labelOfLine(line)}
		if c.Parts, err = r.partsOf([]format.Cover{{Summary: stone.Summary, Count: stone.Count}}, true); err != nil {
			return c, err
		}
	}
	c.Parts = slices.DeleteFunc(c.Parts, func(p view.Part) bool { return p.Text == "" })
	return c, nil
}

// listReader reads clusters for a rendering. Ranked lists are decoded when all of them are at hand, of each as much as a rendering can use.
type listReader struct {
	*Store
	lists []list
	pin   *pinned // what a branch renders of it; nil for all
}

// list is a ranked list that was not decoded yet.
type list struct {
	part    *view.Part
	body    []byte
	without map[format.ID]bool // sentences of these entries are left out
	most    int                // how many bytes of text are decoded at most; 0 for no such limit
}

// live reads a live cluster, as far as it is rendered; the zero cluster where nothing of it is.
func (r *listReader) live(st *forest.State, c *forest.Cluster) (view.Cluster, error) {
	node, err := st.Node(c)
	if err != nil {
		return view.Cluster{}, err
	}
	cluster := view.Cluster{ID: node, Members: int(c.Count())}
	if cluster.Sessions, cluster.Elsewhere, err = r.pin.sessionsOf(st, c); err != nil {
		return cluster, err
	}
	cut, err := r.pin.cutLive(st, c)
	if err != nil {
		return cluster, err
	}
	if cut != nil {
		shown := cut.shown(0, c.Count())
		if len(shown) == 0 {
			return view.Cluster{}, nil
		}
		cluster.Members = len(shown)
		first, last, err := r.ends(shown[0], shown[len(shown)-1])
		if err != nil {
			return cluster, err
		}
		cluster.First, cluster.Last = first.Time, last.Time
		cluster.Parts, err = r.cutParts(c.Covers, cut)
		return cluster, err
	}
	first, last, err := r.endsOf(st, c)
	if err != nil {
		return cluster, err
	}
	cluster.First, cluster.Last = first.Time, last.Time
	cluster.Parts, err = r.partsOf(c.Covers, true)
	return cluster, err
}

// goneSummary stands for a summary that was forgotten, up to the next leave.
const goneSummary = "[forgotten]"

// evicted reads the newest tombstones and, with summaries, what more clusters than those say.
func (r *listReader) evicted(st *forest.State, in *view.Input, summaries bool) error {
	most := shownTombstones
	if summaries {
		most = readEvicted
	}
	newest, all, err := st.NewestEvicted(most)
	if err != nil {
		return err
	}
	in.OlderTombstones = int(all) - min(len(newest), shownTombstones)
	for i, e := range newest {
		stone, line, err := r.stone(e.Tombstone)
		if err != nil {
			return err
		}
		if cut, err := r.pin.cutStone(stone.Node); err != nil {
			return err
		} else if cut != nil {
			// Its line and its summary may be made of words that the branch must not see. With something that it sees it counts among those not listed.
			if i < shownTombstones && len(cut.shown(0, stone.Count)) > 0 {
				in.OlderTombstones++
			}
			continue
		}
		if is, err := r.isElsewhere(stone); err != nil {
			return err
		} else if is {
			if i < shownTombstones {
				in.OlderTombstones++
			}
			continue
		}
		if i < shownTombstones {
			in.Tombstones = append(in.Tombstones, view.Tombstone{ID: stone.Node, Line: line, Members: int(stone.Count)})
		}
		if !summaries {
			continue
		}
		parts, err := r.parts([]format.Cover{{Summary: stone.Summary, Count: stone.Count}})
		var gone *objects.GoneError
		if err != nil && !errors.As(err, &gone) {
			return err
		}
		in.Evicted = append(in.Evicted, view.Cluster{ID: stone.Node, Members: int(stone.Count), Parts: parts})
	}
	return nil
}

// parts reads the summaries of a cluster, ranked lists not decoded.
func (r *listReader) parts(covers []format.Cover) ([]view.Part, error) {
	return r.partsOf(covers, false)
}

// partsOf is parts; with gone a summary that was forgotten says that, and is no error.
func (r *listReader) partsOf(covers []format.Cover, gone bool) ([]view.Part, error) {
	parts := make([]view.Part, len(covers))
	for i, c := range covers {
		header, text, err := r.text(c.Summary)
		if gone && err != nil && butGone(err) == nil {
			parts[i] = view.Part{Summary: c.Summary, Interim: c.Interim, Text: goneSummary}
			continue
		}
		if err != nil {
			return nil, err
		}
		sum, err := format.DecodeSummary(header)
		if err != nil {
			return nil, err
		}
		parts[i] = view.Part{Summary: c.Summary, Interim: c.Interim}
		if sum.Body.Media == format.MediaExtract {
			r.lists = append(r.lists, list{part: &parts[i], body: text})
		} else {
			parts[i].Text = string(text)
		}
	}
	return parts, nil
}

// leastRead is how much is decoded of every list, in bytes of text.
const leastRead = 2048

// read decodes the lists: all together about most bytes of text, of each its beginning in proportion to its size, and the numbers of what is
// left.
func (r *listReader) read(most int) error {
	total := 0
	for _, l := range r.lists {
		total += len(l.body)
	}
	for _, l := range r.lists {
		share := leastRead + int(int64(most)*int64(len(l.body))/int64(total))
		if l.most > 0 {
			share = min(share, l.most)
		}
		var err error
		if l.part.Sentences, l.part.Unread, err = summarize.DecodeSome(l.body, share); err != nil {
			return fmt.Errorf("summary %v: %w", l.part.Summary, err)
		}
		l.part.Sentences = slices.DeleteFunc(l.part.Sentences, func(s summarize.Sentence) bool { return l.without[s.Entry] })
	}
	return nil
}

// parts reads the summaries of a cluster.
func (s *Store) parts(covers []format.Cover) ([]view.Part, error) {
	r := &listReader{Store: s}
	parts, err := r.parts(covers)
	if err != nil {
		return nil, err
	}
	return parts, r.read(format.MaxBody)
}

// tail reads the messages after through, oldest first, as they are shown: all, or the newest most if
// that is not 0. It returns how many it did not read. A message before through that was amended since
// counts with the prefix.
func (s *Store) tail(v format.Value, through uint64, most int) (list []view.Message, unread int, err error) {
	type said struct {
		id, version format.ID
		seq         uint64
	}
	var found []said
	var controls []entryAt
	version := map[format.ID]format.ID{}
	err = s.backSides(v.ID, func(id format.ID, e *format.Entry, side bool) bool {
		switch e.Kind {
		case format.KindMessage:
			if e.Seq <= through {
				return false
			}
			if most > 0 && len(found) == most {
				unread = int(e.Seq - through)
				return false
			}
			found = append(found, said{id, version[id], e.Seq})
		case format.KindAmend:
			if _, newer := version[e.Amends]; !newer {
				version[e.Amends] = id
			}
			controls = append(controls, entryAt{id, e}) // what was made of older words shows no more
		case format.KindMask, format.KindReplace, format.KindEpoch:
			if !side {
				controls = append(controls, entryAt{id, e})
			}
		}
		return true
	})
	if err != nil {
		return nil, 0, err
	}
	list = make([]view.Message, 0, len(found))
	for _, m := range slices.Backward(found) {
		shown, err := s.Version(m.id, m.version)
		if err != nil {
			return nil, 0, err
		}
		shown.Entry.Seq = m.seq
		list = append(list, MessageOf(shown))
	}
	slices.Reverse(controls)
	list, err = s.overlay(list, controls)
	return list, unread, err
}

// MessageOf is an entry as a rendering takes it.
func MessageOf(s *Shown) view.Message {
	return view.Message{
		ID: s.ID, Seq: s.Entry.Seq, Role: s.Entry.Role, Author: s.Entry.Author, Time: s.Entry.Time,
		Text: s.Text, Parts: s.Parts, Calls: s.Entry.Calls, Results: s.Entry.Results, Gone: s.Gone != "",
	}
}
