package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/agent/unionfind"
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// ImportedForest is what ImportUnionFind reports.
type ImportedForest struct {
	Session   string
	Messages  int // new in this run
	Known     int // there already
	Amended   int // newer versions of what was there
	Joined    int // messages that became members in this run
	Opened    int // clusters that are new in this run
	Summaries int // that cover members from this run on
	Evicted   int // clusters that became tombstones in this run
	Lost      int // summaries and tombstones that do not fit the cluster as it is now, or that say nothing
	Redacted  []sanitize.Finding
}

// unionFindAgent is what the sources of imported messages name.
const unionFindAgent = "union-find-json"

// ImportUnionFind brings a forest that was written as one file into the session named as, or where as is "" one named after the store that the file is
// of. Its messages are appended; each joins the cluster that the file has it in, whatever its words; summaries become covers of these clusters under
// the names of their summarisers, and what was a tombstone is evicted. It can be run again, and after it was cut short, with the same file or one
// that has grown: what is known is not added again, members stay where they are, and no summary of the store is replaced. The session may not have
// other messages that have not graduated (ErrRefused).
func (s *Store) ImportUnionFind(ctx context.Context, r io.Reader, as string) (ImportedForest, error) {
	doc, err := unionfind.Decode(r)
	if err != nil {
		return ImportedForest{}, err
	}
	if as == "" {
		as = "union-find-" + doc.Store[:8]
	}
	im := &forestImporter{Store: s, doc: doc, out: ImportedForest{Session: as}}
	if err := im.run(ctx); err != nil {
		return im.out, err
	}
	return im.out, nil
}

type forestImporter struct {
	*Store
	doc  *unionfind.Document
	out  ImportedForest
	ids  []format.ID // the entries of the nodes
	seen format.ID   // a tip behind which every message that has not graduated is of this file
	sums []format.ID // of the lineage: the summaries as objects; zero where there is none
	raws []format.Raw

	offset []int                // of a node among the members of its cluster in the file
	places map[format.ID]uint64 // of an entry among those of its cluster in the store
	listed map[uint64]bool      // the clusters of which places holds the entries
}

func (im *forestImporter) run(ctx context.Context) error {
	if len(im.doc.Nodes) == 0 {
		return nil
	}
	free := im.free(nil)
	if free != nil && !errors.Is(free, ErrRefused) {
		return free
	}
	if free == nil {
		if err := im.append(ctx); err != nil {
			return err
		}
		if err := im.free(nil); err != nil {
			return err
		}
	} else if all, err := im.allKnown(); err != nil || !all {
		return cmp.Or(err, free)
	}
	if err := im.summaries(); err != nil {
		return err
	}
	for len(im.raws) > 0 {
		n := min(len(im.raws), importBatch)
		if err := im.Objects.Put(dedupe(im.raws[:n])...); err != nil {
			return err
		}
		im.raws = im.raws[n:]
	}
	return im.locked(ctx, im.take)
}

// free holds that every message of the session that has not graduated is of this file: else the file's could not graduate, since a frontier passes over
// nothing. t is nil while the lock is not held.
func (im *forestImporter) free(t *tx) error {
	view, err := im.Refs.Read()
	if t != nil {
		view, err = t.view, nil
	}
	if err != nil {
		return err
	}
	v := view.Get(RefName(im.out.Session, MainBranch))
	if !v.Exists() {
		return nil
	}
	var other format.ID
	err = im.back(v.ID, func(id format.ID, e *format.Entry) bool {
		if e.Kind == format.KindMessage && e.Seq > v.Frontier && (e.Source == nil || e.Source.Agent != unionFindAgent || e.Source.Session != im.doc.Store) {
			other = id
		}
		return other.IsZero() && id != im.seen && (e.Kind != format.KindMessage || e.Seq > v.Frontier)
	})
	if err == nil && !other.IsZero() {
		err = fmt.Errorf("%w: session %q has messages of its own that have not graduated, such as %v", ErrRefused, clip(im.out.Session), other)
	}
	if err == nil {
		im.seen = v.ID
	}
	return err
}

// allKnown reports whether every node is in the session already, and then knows the entries.
func (im *forestImporter) allKnown() (bool, error) {
	view, err := im.Refs.Read()
	if err != nil {
		return false, err
	}
	past := im.history(view.Get(RefName(im.out.Session, MainBranch)).ID)
	for i := range im.doc.Nodes {
		src := format.Source{Agent: unionFindAgent, Session: im.doc.Store, Message: im.doc.Nodes[i].Stable.String(), Digest: anyDigest}
		key, err := src.Key()
		if err != nil {
			return false, err
		}
		ids, err := im.bySource(view, key)
		if err != nil {
			return false, err
		}
		found := false
		for _, id := range ids {
			if found, err = past.has(id); err != nil {
				return false, err
			}
			e, err := im.entry(id)
			if err != nil {
				return false, err
			}
			if found && e.Kind == format.KindMessage {
				im.ids = append(im.ids, id)
				break
			}
			found = false
		}
		if !found {
			return false, nil
		}
	}
	im.out.Known = len(im.ids)
	return true, nil
}

// anyDigest stands where a key of a source is made, which does not depend on it.
const anyDigest = "0000000000000000"

// append brings the nodes into the session as messages.
func (im *forestImporter) append(ctx context.Context) error {
	for start := 0; start < len(im.doc.Nodes); start += importBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := im.doc.Nodes[start:min(start+importBatch, len(im.doc.Nodes))]
		batch := make([]Message, len(part))
		for i := range part {
			batch[i] = im.message(&part[i])
		}
		done, found, err := im.Append(ctx, im.out.Session, MainBranch, batch, AppendOptions{Verb: refs.VerbImport, Orphan: true, NoGraduation: true})
		if err != nil {
			return err
		}
		for _, a := range done {
			im.ids = append(im.ids, a.ID)
			switch {
			case a.Known:
				im.out.Known++
			case a.Amended:
				im.out.Amended++
			default:
				im.out.Messages++
			}
		}
		im.out.Redacted = addFindings(im.out.Redacted, found)
	}
	return nil
}

func (im *forestImporter) message(n *unionfind.Node) Message {
	m := Message{
		Role: n.Role, Author: n.Author, Text: n.Text, Parts: n.Parts, Time: n.Time, Tokens: n.Tokens, Invocation: n.Invocation,
		Calls: slices.Concat([]format.Call{}, n.Calls), Results: slices.Concat([]string{}, n.Results),
		Source: &Source{Agent: unionFindAgent, Session: im.doc.Store, Message: n.Stable.String()},
	}
	return m
}

// entries are the entries of nodes.
func (im *forestImporter) entries(nodes []int) []format.ID {
	list := make([]format.ID, len(nodes))
	for i, n := range nodes {
		list[i] = im.ids[n]
	}
	return list
}

// summaries makes objects of the lineage. A summary names what it was made of: those before it that there are, and the members that these do not stand for.
func (im *forestImporter) summaries() error {
	im.offset = make([]int, len(im.doc.Nodes))
	for _, c := range im.doc.Clusters {
		for at, n := range c.Members {
			im.offset[n] = at
		}
	}
	im.sums = make([]format.ID, len(im.doc.Lineage))
	generation := make([]uint64, len(im.doc.Lineage))
	forgotten, err := im.forgets()
	if err != nil {
		return err
	}
	for i := range im.doc.Lineage {
		from := &im.doc.Lineage[i]
		text, err := im.cleanText(from.Text)
		if err != nil {
			return err
		}
		if from.Gone != "" || strings.TrimSpace(text) == "" || forgotten.inAnswer(text) {
			continue
		}
		members := im.entries(from.Members)
		sum := &format.Summary{Generation: 1, Interim: from.Interim, Summarizer: from.Summarizer, Version: from.Version, Prompt: from.Prompt}
		if sum.Node, err = im.node(members); err != nil {
			return err
		}
		raw, at := []format.ID(nil), 0
		for _, p := range im.byFirst(from.Parents) {
			part := im.doc.Lineage[p].Members
			start := im.offset[part[0]] - im.offset[from.Members[0]]
			if im.sums[p].IsZero() || start < at {
				continue
			}
			raw, at = append(raw, members[at:start]...), start+len(part)
			sum.Inputs = append(sum.Inputs, format.Input{Summary: true, ID: im.sums[p]})
			sum.Generation = max(sum.Generation, generation[p]+1)
		}
		if raw = append(raw, members[at:]...); len(raw) > 0 {
			node, err := im.node(raw)
			if err != nil {
				return err
			}
			sum.Inputs = append(sum.Inputs, format.Input{ID: node})
		}
		object, err := im.sealNew([]byte(text), format.MediaText, func(b format.Body) ([]byte, error) {
			sum.Body = b
			return sum.Encode()
		})
		if err != nil {
			return err
		}
		im.sums[i], generation[i] = object.ID(), sum.Generation
		im.raws = append(im.raws, object)
	}
	return nil
}

// byFirst orders summaries by the first member that they stand for.
func (im *forestImporter) byFirst(list []int) []int {
	first := func(p int) int { return im.offset[im.doc.Lineage[p].Members[0]] }
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(first(a), first(b)) })
	return sorted
}

func (im *forestImporter) cleanText(text string) (string, error) {
	clean, found, err := sanitize.Text([]byte(text))
	if err != nil {
		return "", fmt.Errorf("%w: cannot sanitise a summary, so it is not stored: %w", ErrInput, err)
	}
	im.out.Redacted = addFindings(im.out.Redacted, found)
	return string(clean), nil
}

func (im *forestImporter) node(run []format.ID) (format.ID, error) {
	raws, id, err := nodeObjects(run)
	im.raws = append(im.raws, raws...)
	return id, err
}

// take decides under the lock what the file says of the clusters, in one operation: the frontier passes over all of it at once. Where that takes no
// new summary, the branch leaves.
func (im *forestImporter) take(t *tx) error {
	name := RefName(im.out.Session, MainBranch)
	old := t.view.Get(name)
	h, err := t.head(im.out.Session, MainBranch, old)
	if err != nil {
		return err
	}
	st, err := t.forest()
	if err != nil {
		return err
	}
	clusters, err := im.join(t, st)
	if err != nil {
		return err
	}
	if im.out.Joined > 0 {
		if err := im.free(t); err != nil {
			return err
		}
		h.value.Frontier, h.Items, h.Joined, h.Lags = h.Seq, nil, false, false
	}
	if err := im.cover(t, st, clusters); err != nil {
		return err
	}
	if err := im.evict(t, st, clusters); err != nil {
		return err
	}
	if len(t.decided) == 0 {
		return nil
	}
	// Nothing was compared here: what may be joined next is taken from the forest anew.
	if err := t.Cache.Store(index.CandidatesName(MainForest), index.Stamp{}, nil); err != nil {
		return fmt.Errorf("cannot write the cache: %w", err)
	}
	if err := t.writeForests(); err != nil {
		return err
	}
	pinned, err := t.pinnedForest(h.value)
	if err != nil {
		return err
	}
	op := &format.Operation{Verb: refs.VerbGraduate, Session: im.out.Session}
	if pinned == MainForest && !slices.ContainsFunc(st.Live(), func(c *forest.Cluster) bool { return !c.Frozen() }) {
		if h.value, err = t.leave(h.value, h.Seq); err != nil { // it takes no summary but those there are
			return err
		}
		if h.value, op.Refs, err = t.foldAt(im.out.Session, MainBranch, h.value, h.Seq); err != nil {
			return err
		}
	}
	op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: old, New: h.value})
	if err := t.commit(op); err != nil {
		return err
	}
	t.saveHead(h)
	return t.shortenLog()
}

// join has every node that is no member yet join the cluster of the store in which a member of its cluster is, or a new one. It returns the number of the
// store's cluster for each of the file's.
func (im *forestImporter) join(t *tx, st *forest.State) ([]uint64, error) {
	wanted := make(map[format.ID]bool, len(im.ids))
	for _, id := range im.ids {
		wanted[id] = true
	}
	found, err := st.Find(wanted)
	if err != nil {
		return nil, err
	}
	clusters := make([]uint64, len(im.doc.Clusters))
	opened := make([]bool, len(clusters))
	for i, c := range im.doc.Clusters {
		for _, id := range im.entries(c.Members) {
			if place, there := found[id]; there && !opened[i] {
				clusters[i], opened[i] = place.Cluster, true
			}
		}
	}
	one := func(i int, id format.ID) error {
		if _, there := found[id]; there {
			return nil
		}
		if !opened[i] {
			clusters[i], opened[i] = st.Opened, true
			im.out.Opened++
		}
		found[id] = forest.Place{}
		im.out.Joined++
		return t.decide(format.Decision{Kind: format.DecideJoin, Cluster: clusters[i], ID: id})
	}
	// Clusters are opened in the file's order, and the one whose newest member arrived last in the file gets its newest member last.
	next := 0
	for _, i := range byArrivalOf(im.doc) {
		for ; next <= i; next++ {
			if err := one(next, im.ids[im.doc.Clusters[next].Members[0]]); err != nil {
				return nil, err
			}
		}
		for _, id := range im.entries(im.doc.Clusters[i].Members) {
			if err := one(i, id); err != nil {
				return nil, err
			}
		}
	}
	return clusters, nil
}

func byArrivalOf(doc *unionfind.Document) []int {
	order := make([]int, len(doc.Clusters))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(doc.Clusters[a].Arrival, doc.Clusters[b].Arrival) })
	return order
}

// cover settles the summaries of the file, those first that others were made of, where the cluster still has just these members in a row and no
// summary of its own stands for some of them.
func (im *forestImporter) cover(t *tx, st *forest.State, clusters []uint64) error {
	mine := map[format.ID]bool{}
	im.places, im.listed = map[format.ID]uint64{}, map[uint64]bool{}
	last := map[int]bool{}
	for _, c := range im.doc.Clusters {
		for _, at := range c.Covers {
			last[at] = true
		}
	}
	for i := range im.doc.Lineage {
		from := &im.doc.Lineage[i]
		d, known, err := im.settling(st, clusters[from.Cluster], i, mine)
		if err != nil {
			return err
		}
		switch {
		case known:
		case d.Count == 0 && last[i]:
			im.out.Lost++
		case d.Count > 0:
			if last[i] {
				im.out.Summaries++
			}
			mine[d.ID] = true
			if err := t.decide(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// settling is the decision that takes a summary; a Count of 0 says that it does not fit. known says that it stands there already.
func (im *forestImporter) settling(st *forest.State, number uint64, at int, mine map[format.ID]bool) (d format.Decision, known bool, err error) {
	id, from := im.sums[at], &im.doc.Lineage[at]
	c := st.Cluster(number)
	if c == nil {
		stone, there, err := st.Tombstone(number)
		if err != nil || !there {
			return d, false, err
		}
		evicted, err := im.Loader().Tombstone(stone)
		return d, err == nil && evicted.Summary == id, err
	}
	if id.IsZero() {
		return d, false, nil
	}
	members, err := st.Members(c)
	if err != nil {
		return d, false, err
	}
	if !im.listed[number] {
		im.listed[number] = true
		for at, m := range members {
			im.places[m] = uint64(at)
		}
	}
	run := im.entries(from.Members)
	first, there := im.places[run[0]]
	end := first + uint64(len(run))
	if !there || end > uint64(len(members)) || !slices.Equal(members[first:end], run) {
		return d, false, nil
	}
	for _, v := range c.Covers {
		switch {
		case v.Summary == id:
			return d, true, nil
		case v.Offset >= end || v.Offset+v.Count <= first || mine[v.Summary]:
		case !v.Interim || from.Interim:
			return d, false, nil
		}
	}
	return format.Decision{Kind: format.DecideSettle, Cluster: number, ID: id, Offset: first, Count: uint64(len(run)), Interim: from.Interim}, false, nil
}

// evict makes tombstones of the clusters that are tombstones in the file and are here just what they are there, in the order of their evictions.
func (im *forestImporter) evict(t *tx, st *forest.State, clusters []uint64) error {
	var order []int
	for i, c := range im.doc.Clusters {
		if c.Tombstone != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(im.doc.Clusters[a].Tombstone.Eviction, im.doc.Clusters[b].Tombstone.Eviction)
	})
	for _, i := range order {
		from := &im.doc.Clusters[i]
		c := st.Cluster(clusters[i])
		if c == nil {
			continue // it is one
		}
		sum := im.sums[from.Covers[0]]
		if c.Dirty() || c.Covers[0].Summary != sum || c.Count() != uint64(len(from.Members)) {
			im.out.Lost++
			continue
		}
		line, err := im.cleanText(from.Tombstone.Line)
		if err != nil {
			return err
		}
		node, err := t.addNodes(im.entries(from.Members))
		if err != nil {
			return err
		}
		stone := &format.Tombstone{Cluster: c.Number, Node: node, Count: c.Count(), Arrival: c.Arrival, Summary: sum}
		raw, err := im.seal([]byte(line), format.MediaText, func(b format.Body) ([]byte, error) {
			stone.Body = b
			return stone.Encode()
		})
		if err != nil {
			return err
		}
		if err := t.decide(format.Decision{Kind: format.DecideEvict, Cluster: c.Number, ID: t.add(raw)}); err != nil {
			return err
		}
		im.out.Evicted++
	}
	return nil
}
