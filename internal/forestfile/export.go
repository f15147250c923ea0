package forestfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Export collects the shared forest after an operation into one document: every member with its
// newest text, every cluster, the summaries of members, and the summaries that those were made of,
// as far as they still exist.
func (s *Reader) Export(view *refs.View, number uint64) (*Document, error) {
	g := &gatherer{Reader: s, view: view, nodes: map[format.ID]int{}, lineage: map[format.ID]int{},
		sums: map[int]int{}}
	g.doc = &Document{Head: Head{Store: s.ID, Forest: history.MainForest,
		Operation: number}}
	st, err := s.Forest(view)
	if number != view.Number {
		st, err = s.clusters.ForestAt(view, number)
	}
	if err != nil {
		return nil, err
	}
	if err := g.gatherClusters(st); err != nil {
		return nil, err
	}
	if err := g.members(); err != nil {
		return nil, err
	}
	if err := g.summaries(); err != nil {
		return nil, err
	}
	return g.doc, g.moments(number)
}

type gatherer struct {
	*Reader
	view    *refs.View
	doc     *Document
	runs    []run // of the clusters, in their order
	nodes   map[format.ID]int
	lineage map[format.ID]int
	sums    map[int]int // number of a cluster's summaries in the lineage
}

// run lists the members of a cluster and the summaries of them.
type run struct {
	members []format.ID
	covers  []format.Cover
}

// gatherClusters adds the clusters, live and evicted, by number.
func (g *gatherer) gatherClusters(st *forest.State) error {
	type found struct {
		Cluster
		run
	}
	var list []found
	for _, c := range st.Live() {
		members, err := st.Members(c)
		if err != nil {
			return err
		}
		node, err := st.Node(c)
		if err != nil {
			return err
		}
		list = append(list,
			found{Cluster{Stable: node, Number: c.Number, Arrival: c.Arrival,
				Covers: []format.ID{}}, run{slices.Clone(members), c.Covers}})
	}
	evicted, err := st.Evicted()
	if err != nil {
		return err
	}
	for _, e := range evicted {
		stone, line, err := g.clusters.Tombstone(e.Tombstone)
		if err != nil {
			return err
		}
		f := found{Cluster{Stable: stone.Node, Number: e.Cluster, Arrival: stone.Arrival,
			Covers: []format.ID{}},
			run{covers: []format.Cover{{Summary: stone.Summary, Count: stone.Count}}}}
		f.Tombstone = &Tombstone{Stable: e.Tombstone, Line: line, Eviction: e.Eviction}
		if f.members, err = forest.Slice(g.Loader(), stone.Node, 0, stone.Count); err != nil {
			return err
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Compare(a.Number, b.Number) })
	for _, f := range list {
		g.doc.Clusters = append(g.doc.Clusters, f.Cluster)
		g.runs = append(g.runs, f.run)
	}
	return nil
}

// members makes nodes of the members in the order in which they were said: by seq in one session,
// by time across sessions.
func (g *gatherer) members() error {
	var list []history.Entry
	for _, r := range g.runs {
		for _, id := range r.members {
			e, err := g.Header(id)
			if err != nil {
				return err
			}
			list = append(list, history.Entry{ID: id, Entry: e})
		}
	}
	if len(list) > MaxNodes {
		return fmt.Errorf(
			"%w: %d messages are in the forest, and a union-find-json file holds %d at most",
			history.ErrRefused, len(list), MaxNodes)
	}
	sortSaid(list)
	for i, at := range list {
		g.nodes[at.ID] = i
	}
	for i := range g.runs {
		c := &g.doc.Clusters[i]
		c.Members = g.indexes(g.runs[i].members)
		c.Root = c.Members[0]
	}
	for i, at := range list {
		n, err := g.node(i, at)
		if err != nil {
			return err
		}
		g.doc.Nodes = append(g.doc.Nodes, n)
	}
	for _, c := range g.doc.Clusters {
		for _, m := range c.Members {
			g.doc.Nodes[m].Parent = c.Root
		}
	}
	return nil
}

// sortSaid sorts entries into the order in which they were said. The order within a session wins
// over its clock.
func sortSaid(list []history.Entry) {
	slices.SortFunc(list, func(a, b history.Entry) int {
		return cmp.Or(strings.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq),
			a.ID.Compare(b.ID))
	})
	when := make(map[format.ID]time.Time, len(list))
	var latest time.Time
	for i, at := range list {
		if i == 0 || at.Session != list[i-1].Session || at.Time.After(latest) {
			latest = at.Time
		}
		when[at.ID] = latest
	}
	slices.SortStableFunc(list,
		func(a, b history.Entry) int { return when[a.ID].Compare(when[b.ID]) })
}

// indexes returns the nodes of entries.
func (g *gatherer) indexes(ids []format.ID) []int {
	return lists.Map(ids, func(id format.ID) int { return g.nodes[id] })
}

func (g *gatherer) node(i int, at history.Entry) (Node, error) {
	newest, err := g.Newest(g.view, at.ID)
	if err != nil {
		return Node{}, err
	}
	shown, err := g.Version(at.ID, newest)
	if err != nil {
		return Node{}, err
	}
	e := shown.Entry
	n := Node{
		ID: i, Stable: at.ID, Session: e.Session, Seq: at.Seq, Role: e.Role, Author: e.Author,
		Time: Time{Time: e.Time}, Invocation: e.Invocation,
		Tokens: e.Tokens, Calls: e.Calls, Results: e.Results, Gone: shown.Gone,
	}
	if src := at.Source; src != nil {
		n.Source = &Source{Agent: src.Agent, Session: src.Session, Message: src.Message}
	}
	if n.Gone == "" {
		if n.Parts = shown.Parts; n.Parts == nil {
			n.Text = &shown.Text
		}
	}
	return n, nil
}

// summaries adds the summaries of members, each after the summaries that it was made of.
func (g *gatherer) summaries() error {
	for i, r := range g.runs {
		for _, v := range r.covers {
			c := &g.doc.Clusters[i]
			if err := g.summary(i, v.Summary, c.Members[v.Offset:v.Offset+v.Count]); err != nil {
				return err
			}
			c.Covers = append(c.Covers, v.Summary)
		}
	}
	return nil
}

// summary adds one summary of members, after the summaries that it was made of: a few generations
// at most.
func (g *gatherer) summary(cluster int, id format.ID, members []int) error {
	if _, there := g.lineage[id]; there {
		return nil
	}
	sum, err := history.Decoded(g.Objects, id, format.DecodeSummary)
	if err != nil {
		return err
	}
	out := Summary{
		Stable: id, Root: g.doc.Clusters[cluster].Root, Members: members,
		Parents: []format.ID{}, Generation: sum.Generation, Interim: sum.Interim,
		Summarizer: sum.Summarizer, Version: sum.Version, Prompt: sum.Prompt,
	}
	for _, in := range sum.Inputs {
		if !in.Summary {
			continue
		}
		ok, err := g.input(cluster, in.ID, members)
		if err != nil {
			return err
		}
		if ok {
			out.Parents = append(out.Parents, in.ID)
		}
	}
	text, gone, err := g.summaryText(id)
	if err != nil {
		return err
	}
	if out.Gone = gone; gone == "" {
		out.Text = &text
	}
	g.sums[cluster]++
	g.lineage[id] = len(g.doc.Lineage)
	g.doc.Lineage = append(g.doc.Lineage, out)
	return nil
}

// input adds a summary that another was made of. ok is false if it no longer exists, if it stands
// for members that have left, or if it is provisional: a branch adopts a provisional summary
// several times.
func (g *gatherer) input(cluster int, id format.ID, whole []int) (ok bool, err error) {
	var ids []format.ID
	sum, err := history.Decoded(g.Objects, id, format.DecodeSummary)
	if err == nil && !sum.Interim && g.sums[cluster] < MaxSums/2 {
		err = g.clusters.Members(g.view, id, func(e format.ID) error {
			ids = append(ids, e)
			return nil
		})
	}
	switch {
	case errors.Is(err, objects.ErrNotFound), errors.Is(err, history.ErrNotFound):
		return false, nil
	case err != nil, len(ids) == 0:
		return false, err
	}
	start := slices.IndexFunc(whole, func(n int) bool { return g.doc.Nodes[n].Stable == ids[0] })
	if start < 0 || start+len(ids) > len(whole) {
		return false, nil
	}
	members := whole[start : start+len(ids)]
	for i, n := range members {
		if g.doc.Nodes[n].Stable != ids[i] {
			return false, nil
		}
	}
	err = g.summary(cluster, id, members)
	return err == nil, err
}

// summaryText returns the text of a summary; for a ranked list its sentences in reading order.
func (s *Reader) summaryText(id format.ID) (text, gone string, err error) {
	header, body, err := s.Text(id)
	var forgotten *objects.GoneError
	if errors.As(err, &forgotten) {
		return "", forgotten.Reason, nil
	}
	if err != nil {
		return "", "", err
	}
	sum, err := format.DecodeSummary(header)
	if err != nil || sum.Body.Media != format.MediaExtract {
		return string(body), "", err
	}
	list, err := summarize.Decode(body)
	if err != nil {
		return "", "", fmt.Errorf("summary %v: %w", id, err)
	}
	return strings.Join(lists.Map(summarize.Order(list), func(sentence summarize.Sentence) string {
		return sentence.Text
	}), "\n"), "", nil
}

// moments reads from the log when summaries were first accepted and clusters evicted, and when the
// last operation was.
func (g *gatherer) moments(number uint64) error {
	stones := map[format.ID]*Tombstone{}
	for i := range g.doc.Clusters {
		if t := g.doc.Clusters[i].Tombstone; t != nil {
			stones[t.Stable] = t
		}
	}
	err := g.Refs.Backward(g.view, func(r refs.Record) bool {
		if r.Op.Number > number {
			return true
		}
		made := Moment{Operation: Number(r.Op.Number),
			Time: Time{Time: r.Op.Time}}
		if r.Op.Number == number {
			g.doc.Time = made.Time
		}
		for _, f := range r.Op.Forests {
			if f.Name != history.MainForest {
				continue
			}
			for _, d := range f.Decisions {
				if at, there := g.lineage[d.ID]; there && d.Kind == format.DecideSettle {
					g.doc.Lineage[at].Moment = made
				}
				if t := stones[d.ID]; t != nil && d.Kind == format.DecideEvict &&
					t.Operation == 0 {
					t.Moment = made
				}
			}
		}
		return true
	})
	if g.doc.Time.IsZero() {
		g.doc.Operation = 0 // the log does not reach back to it
	}
	return err
}
