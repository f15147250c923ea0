package find

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
)

// searchDoc is a message, a note or a replacement that a search can find.
type searchDoc struct {
	id      format.ID
	latest  *format.ID // the entry with its latest text; nil if that is the entry itself
	seq     uint64
	rewound bool // no branch has it any more, but a branch was rewound past it
}

// version returns the entry with the latest text.
func (f *searchDoc) version() format.ID {
	if f.latest != nil {
		return *f.latest
	}
	return f.id
}

// docCollector collects messages, notes and replacements along the history, newest first.
type docCollector struct {
	s        *Reader
	seen     map[format.ID]bool // visited entries; nil if no entry can be visited twice
	list     []searchDoc
	standing int         // the length of the part of list that branches have; the rest was rewound
	amended  []format.ID // messages with a visited amend
	joins    bool        // an entry with several parents was visited
}

// maxPreallocated is the largest number of elements to allocate because of the seq of one header.
const maxPreallocated = 1 << 21

// historyRange is the history from an entry back to stop, which is not part of it.
type historyRange struct{ from, stop format.ID }

// sessionDocs returns everything in a session that a search can find: what its branches have, and
// what was rewound. A rewound entry has the text that it had at the rewind.
func (s *Reader) sessionDocs(view *refs.View, session string) ([]searchDoc, error) {
	branches := view.Names("sessions/" + session + "/")
	w := &docCollector{s: s}
	if len(branches) > 1 {
		w.seen = map[format.ID]bool{}
	}
	left, err := w.branches(view, branches)
	if err == nil && w.joins && w.seen == nil {
		w = &docCollector{s: s, seen: map[format.ID]bool{}}
		left, err = w.branches(view, branches)
	}
	if err != nil {
		return nil, err
	}
	return w.finish(view, left)
}

// branches adds the entries of branches. It returns the ranges that were rewound.
func (w *docCollector) branches(
	view *refs.View, branches []string,
) (left []historyRange, err error) {
	for _, name := range branches {
		more, err := w.along(historyRange{from: view.Get(name).ID}, false)
		if err != nil {
			return nil, err
		}
		left = append(left, more...)
	}
	return left, nil
}

// finish adds what was rewound, and sets the latest text of the rest.
func (w *docCollector) finish(view *refs.View, left []historyRange) ([]searchDoc, error) {
	w.standing = len(w.list)
	if w.seen == nil && len(left) > 0 {
		// A branch may have a rewound entry again, and rewound ranges may overlap.
		w.seen = make(map[format.ID]bool, len(w.list))
		for i := range w.list {
			w.seen[w.list[i].id] = true
		}
	}
	if err := w.rewound(left); err != nil {
		return nil, err
	}
	return w.list, w.s.setLatest(view, w.list[:w.standing])
}

// rewound adds the entries of rewound ranges, and of ranges that were rewound on the way there.
func (w *docCollector) rewound(left []historyRange) error {
	for len(left) > 0 {
		more, err := w.along(left[0], true)
		if err != nil {
			return err
		}
		left = append(left[1:], more...)
	}
	return nil
}

// along adds the entries of a range. It returns the ranges that were rewound on the way, newest
// first.
func (w *docCollector) along(c historyRange, rewound bool) (left []historyRange, err error) {
	newest := map[format.ID]format.ID{}
	todo := []format.ID{c.from}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id.IsZero() || id == c.stop || w.seen[id] {
			continue
		}
		if w.seen != nil {
			w.seen[id] = true
		}
		e, err := w.s.Header(id)
		if err != nil {
			return nil, err
		}
		if id == c.from && c.stop.IsZero() {
			// Avoids copies of a long list
			w.list = slices.Grow(w.list, int(min(e.Seq, maxPreallocated)))
		}
		switch e.Kind {
		case format.KindAmend:
			w.amended = append(w.amended, e.Amends)
			if _, ok := newest[e.Amends]; !ok {
				newest[e.Amends] = id
			}
		case format.KindMessage, format.KindNote, format.KindReplace:
			m := searchDoc{id: id, seq: e.Seq, rewound: rewound}
			if version, ok := newest[id]; ok {
				m.latest = &version
			}
			w.list = append(w.list, m)
		case format.KindRewind:
			left = append(left, historyRange{from: e.Left, stop: history.FirstParent(e)})
		}
		if w.joins = w.joins || len(e.Parents) > 1; w.joins && w.seen == nil {
			return nil, nil // the caller starts again with seen
		}
		for _, p := range slices.Backward(e.Parents) {
			todo = append(todo, p)
		}
	}
	return left, nil
}

// setLatest sets the latest version of entries that branches have.
func (s *Reader) setLatest(view *refs.View, list []searchDoc) error {
	return s.ReadLinks(view, func(l *history.Links) error {
		for i := range list {
			d := &list[i]
			d.latest = nil
			if versions := l.Newer[d.id]; len(versions) > 0 {
				version := versions[len(versions)-1]
				d.latest = &version
			}
		}
		return nil
	})
}

// indexDoc reads what the index stores about an entry. A replacement counts as a note, because the
// messages that it stands for are indexed themselves. ok is false if the entry was forgotten.
func (s *Reader) indexDoc(session string, f searchDoc) (doc search.Doc, ok bool, err error) {
	shown, err := s.Version(f.id, f.version())
	if err != nil || shown.Gone != "" {
		return doc, false, err
	}
	e := shown.Entry
	kept := false
	if e.Kind == format.KindNote {
		_, kept = message.NoteOf(shown.Parts)
	}
	return search.Doc{
		ID: f.id, Version: f.version(), Session: session, Seq: e.Seq, Role: e.Role,
		Author: e.Author, Note: e.Kind == format.KindNote || e.Kind == format.KindReplace,
		Kept: kept, Calls: len(e.Calls) > 0, Time: e.Time, Text: shown.Text,
	}, true, nil
}

// supersededLoss is by how much a note counts less than others once a newer one supersedes it.
const supersededLoss = 3

// markSuperseded says of each hit that is a note which newer note supersedes it: that one comes
// before it.
func (s *Reader) markSuperseded(view *refs.View, q SearchQuery, hits []Hit) ([]Hit, error) {
	isNote := func(h Hit) bool { _, ok := sessions.NoteOf(h.Shown); return ok }
	if !slices.ContainsFunc(hits, isNote) {
		return hits, nil
	}
	newer, err := s.newerNotes(view, q)
	if err != nil {
		return nil, err
	}
	for i := range hits {
		id, ok := newer[hits[i].ID.String()]
		if e := hits[i].Shown.Entry; !ok && e != nil && e.Source != nil { // its id in another store
			id, ok = newer[e.Source.Message]
		}
		if ok {
			hits[i].SupersededBy = id
			hits[i].Score /= supersededLoss
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits, nil
}

// newerNotes returns the notes that supersede others, by the ids of those.
func (s *Reader) newerNotes(view *refs.View, q SearchQuery) (map[string]format.ID, error) {
	var all []search.Document
	err := s.withIndex(view, q, func(sources []search.Source) (err error) {
		all, err = search.Each(sources, search.Options{Kept: true})
		return err
	})
	newer := map[string]format.ID{}
	for _, d := range all {
		shown, err := s.Version(d.ID, d.Version)
		if err != nil {
			return nil, err
		}
		if n, ok := sessions.NoteOf(shown); ok && n.Supersedes != "" {
			newer[n.Supersedes] = d.ID
		}
	}
	return newer, err
}

// clusterDepth is the number of best entries whose clusters are considered.
const clusterDepth = 64

// clusterDecay is the factor between the weights of the members of a cluster, best first. The score
// of a cluster is the weighted sum of the scores of its members, so several good members are better
// than one, and no number of poor ones replaces a good one.
const clusterDecay = 0.5

// clusterTextTokens is the largest number of tokens of the text of a cluster.
const clusterTextTokens = 100

// clusterHits returns at most most clusters of the ranked entries, best first.
func (s *Reader) clusterHits(
	view *refs.View, parsed *search.Query, ranked []rankedHit, most int,
) ([]Hit, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	ids := lists.Map(ranked, func(r rankedHit) format.ID { return r.ID })
	places, err := st.Find(lists.Set(ids))
	if err != nil {
		return nil, err
	}
	scores, sessions := map[uint64]float64{}, map[uint64]string{}
	weight := map[uint64]float64{}
	var order []uint64
	for _, r := range ranked {
		p, ok := places[r.ID]
		if !ok {
			continue
		}
		if weight[p.Cluster] == 0 {
			weight[p.Cluster], sessions[p.Cluster] = 1, r.Session
			order = append(order, p.Cluster)
		}
		scores[p.Cluster] += float64(r.Score * weight[p.Cluster])
		weight[p.Cluster] = float64(weight[p.Cluster] * clusterDecay)
	}
	slices.SortStableFunc(order, func(a, b uint64) int { return cmp.Compare(scores[b], scores[a]) })
	order = order[:min(len(order), most)]
	all, err := s.clusters.InfosOf(st, func(n uint64) bool { return slices.Contains(order, n) })
	if err != nil {
		return nil, err
	}
	var hits []Hit
	for _, number := range order {
		i := slices.IndexFunc(all, func(c clusters.ClusterInfo) bool { return c.Number == number })
		if i < 0 {
			continue
		}
		c := all[i]
		text := c.Line
		if c.Tombstone.IsZero() {
			if text, _, err = s.CoversText(c.Covers, clusterTextTokens); err != nil {
				return nil, err
			}
		}
		hits = append(hits,
			Hit{ID: c.ID, Score: scores[number], Session: sessions[number], Cluster: &c,
				Text: strings.TrimSpace(text), Excerpt: parsed.Excerpt(text, excerptLen)})
	}
	return hits, nil
}

// visibleTo leaves out clusters with a member that the reader may not see, because their summaries
// may contain its words.
func (s *Reader) visibleTo(view *refs.View, r *clusters.Viewer, clusters []Hit) ([]Hit, error) {
	var list []Hit
	for _, h := range clusters {
		sees := true
		err := s.clusters.Members(view, h.ID, func(id format.ID) error {
			e, err := s.Header(id)
			sees = sees && err == nil && r.Sees(id, e)
			return err
		})
		if err != nil {
			return nil, err
		}
		if sees {
			list = append(list, h)
		}
	}
	return list, nil
}

// SessionHit is a session that SearchSessions found.
type SessionHit struct {
	Score   float64 // from 0 to 1
	Matches int     // how many of its messages have a word of the query
	Best    Hit     // its best message, or its title; its Session is the session
}

// SearchSessions returns the sessions that answer a query best, best first. The score of a session
// depends on its best message and on all its messages, relative to its length; with q.Titles, those
// with all words in their titles or tags come first. q.Limit is the largest number of sessions. It
// rejects a query with Reader, Pattern or Clusters; otherwise it fails as Search does.
func (s *Reader) SearchSessions(view *refs.View, q SearchQuery) ([]SessionHit, error) {
	if q.Reader != nil || q.Pattern != nil || q.Clusters {
		return nil, fmt.Errorf("%w: sessions are searched by words", history.ErrInput)
	}
	parsed, err := q.parse()
	if err != nil {
		return nil, err
	}
	if err := q.check(view); err != nil {
		return nil, err
	}
	o := q.options(view)
	if parsed.HasPhrases() {
		all := q
		all.Limit = math.MaxInt32 / 2 // all
		ranked, err := s.rank(view, parsed, all)
		if err != nil {
			return nil, err
		}
		o.Only = map[format.ID]bool{}
		for _, h := range ranked {
			o.Only[h.ID] = true
		}
	}
	var found []search.SessionHit
	err = s.withIndex(view, q, func(sources []search.Source) error {
		found, err = search.RankSessions(sources, parsed, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	var hits []SessionHit
	for _, f := range found {
		best, err := s.entryHits(view, parsed, []rankedHit{{Hit: f.Best}},
			SearchQuery{Branch: q.Branch, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(best) > 0 { // else it was forgotten after the ranking
			hits = append(hits, SessionHit{Score: f.Score, Matches: f.Matches, Best: best[0]})
		}
	}
	if !q.Titles {
		return hits, nil
	}
	titled, err := s.withTitles(view, nil, q)
	for _, t := range slices.Backward(titled) {
		h := SessionHit{Best: t}
		if i := slices.IndexFunc(hits,
			func(o SessionHit) bool { return o.Best.Session == t.Session }); i >= 0 {
			h = hits[i]
			hits = slices.Delete(hits, i, i+1)
		}
		h.Score = 1
		hits = slices.Insert(hits, 0, h)
	}
	return hits, err
}

// Near returns the words of a query, each of the first ones that no message has replaced by one
// that is a slip of a key away and that some have; "" if nothing is replaced.
func (s *Reader) Near(view *refs.View, text string) (near string, err error) {
	words := strings.Fields(strings.ToLower(text))
	was := strings.Join(words, " ")
	err = s.withIndex(view, SearchQuery{}, func(sources []search.Source) error {
		return search.Near(sources, words[:min(len(words), 8)])
	})
	if near = strings.Join(words, " "); near == was {
		near = ""
	}
	return near, err
}
