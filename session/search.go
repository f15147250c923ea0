package session

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/search"
)

// SearchQuery is what Search looks for.
type SearchQuery struct {
	Text    string
	Session string    // only what was said in this session; "" for all
	Branch  string    // with Session: only what this branch stands on; "" for all branches
	Except  string    // not what was said in this session; "" for no such
	Role    string    // only what was said in this role; "" for all
	Since   time.Time // only what was said then or later; the zero Time for all
	Until   time.Time // only what was said before; the zero Time for all
	Rewound bool      // what was rewound, too
	Reader  *Reader   // only what this reader may see; nil for everybody
	Most    int       // how many hits at most, of entries; as many again of clusters
	// Phrases makes what Text has in quotes something that a message must have, word for word.
	// Without it quotes mean nothing.
	Phrases bool
	// Pattern is looked for in place of Text, in texts as they are; the newest message comes first,
	// and Clusters is not heeded.
	Pattern *regexp.Regexp
	// Clusters asks for the clusters that the best entries are in, too.
	Clusters bool
}

// Hit is an entry or a cluster that Search found.
type Hit struct {
	ID      format.ID // the entry, or the cluster's node
	Score   float64   // the larger the better, within one search
	Session string
	Branch  string       // of an entry: one that stands on it; "" where it was rewound
	Shown   *Shown       // of an entry
	Cluster *ClusterInfo // of a cluster
	Text    string       // of an entry its newest text, of a cluster the beginning of its summary
	Rewound bool         // no branch stands on the entry any more
	Excerpt string       // of Text: the passage that has most of the query, in one line
	Copies  int          // how many more entries have the same words
}

// clusterDepth is how many of the best entries say which clusters are good ones.
const clusterDepth = 64

// Search returns the entries, and where they are asked for the clusters, that answer a query best,
// best first. It looks at all history that a branch stands on, evicted or not: amended messages
// count with their newest text, and what was rewound only where it is asked for. What was
// forgotten, and what only a removed session had, is never found. A query of words that are everywhere
// finds who says just that, and then who says it among other words. search.ErrNoTerms where a query has
// no words; ErrNotFound for a session or a branch that does not exist.
func (s *Store) Search(view *refs.View, q SearchQuery) ([]Hit, error) {
	if q.Pattern != nil {
		return s.searchPattern(view, q)
	}
	parsed, err := q.parse()
	if errors.Is(err, search.ErrNoTerms) {
		if whole, within := search.WordPatterns(q.Text); whole != nil {
			return s.searchWords(view, q, whole, within)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := q.check(view); err != nil {
		return nil, err
	}
	ranked, err := s.rank(view, parsed, q)
	if err != nil {
		return nil, err
	}
	hits, err := s.entryHits(view, parsed, ranked, q)
	if err != nil || !q.Clusters {
		return hits, err
	}
	clusters, err := s.clusterHits(view, parsed, ranked, q.Most)
	if err == nil && q.Reader != nil {
		clusters, err = s.visibleTo(view, q.Reader, clusters)
	}
	hits = append(hits, clusters...)
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits, err
}

func (q *SearchQuery) parse() (*search.Query, error) {
	parsed, err := search.Parse(q.Text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: %q", ErrInput, err, clip(q.Text))
	}
	if q.Phrases {
		parsed.RequirePhrases()
	}
	return parsed, nil
}

// check reports a session or a branch that does not exist.
func (q *SearchQuery) check(view *refs.View) error {
	if q.Session != "" && len(view.Names("sessions/"+q.Session+"/")) == 0 {
		return unknownSession(q.Session, MainBranch)
	}
	if q.Branch == "" {
		return nil
	}
	_, err := Tip(view, q.Session, q.Branch)
	return err
}

// entryHits reads the best entries. What was forgotten since it was indexed is passed over.
func (s *Store) entryHits(view *refs.View, parsed *search.Query, ranked []rankedHit, q SearchQuery) ([]Hit, error) {
	names := &branchNames{s: s, view: view, out: map[string]map[format.ID]bool{}}
	var hits []Hit
	for _, r := range ranked {
		if len(hits) == q.Most {
			break
		}
		shown, err := r.shown, error(nil)
		if shown == nil {
			shown, err = s.Version(r.ID, r.Version)
		}
		if err != nil {
			return nil, err
		}
		if shown.Gone != "" || q.Reader != nil && !q.Reader.Sees(r.ID, shown.Entry) {
			continue
		}
		branch := q.Branch
		if branch == "" && !r.Rewound {
			if branch, err = names.of(r.Session, r.ID); err != nil {
				return nil, err
			}
		}
		hits = append(hits, Hit{
			ID: r.ID, Score: r.Score, Session: r.Session, Branch: branch, Shown: shown, Text: shown.Text, Rewound: r.Rewound,
			Excerpt: parsed.Excerpt(shown.Text, ExcerptLen), Copies: len(r.Copies) + r.quoted,
		})
	}
	return hits, nil
}

// A cluster scores as its best member, a part of its second best, and so on, each counting less by
// clusterDecay: many good members are better than one, and no number of poor ones makes up for a
// good one.
const clusterDecay = 0.5

// briefHit is how many tokens of a cluster's summary are given.
const briefHit = 100

// clusterHits returns the clusters of the best entries.
func (s *Store) clusterHits(view *refs.View, parsed *search.Query, ranked []rankedHit, most int) ([]Hit, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	ids := map[format.ID]bool{}
	for _, r := range ranked {
		ids[r.ID] = true
	}
	places, err := st.Find(ids)
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
	all, err := s.Clusters(view)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	for _, number := range order {
		i := slices.IndexFunc(all, func(c ClusterInfo) bool { return c.Number == number })
		if i < 0 {
			continue
		}
		c := all[i]
		text := c.Line
		if c.Tombstone.IsZero() {
			if text, _, err = s.Brief(c.Covers, briefHit); err != nil {
				return nil, err
			}
		}
		hits = append(hits, Hit{ID: c.ID, Score: scores[number], Session: sessions[number], Cluster: &c, Text: strings.TrimSpace(text), Excerpt: parsed.Excerpt(text, ExcerptLen)})
	}
	return hits, nil
}

// rank asks the index for messages.
func (s *Store) rank(view *refs.View, parsed *search.Query, q SearchQuery) ([]rankedHit, error) {
	o := q.options()
	o.Most = max(q.Most, clusterDepth)
	if q.Reader != nil || parsed.HasPhrases() {
		o.Most = math.MaxInt32 // the reader's, and those with the phrases, are among them somewhere
	}
	var hits []search.Hit
	err := s.withIndex(view, q, func(sources []search.Source) (err error) {
		hits, err = search.Rank(sources, parsed, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	most := max(q.Most, clusterDepth)
	switch {
	case q.Reader != nil:
		most = o.Most
	case parsed.HasPhrases() && !q.Clusters:
		most = q.Most + wholeDepth // each is read; some may be gone, or quote another one
	}
	return byWords(parsed, hits, most, func(h search.Hit) (*Shown, error) { return s.Version(h.ID, h.Version) })
}

// withIndex calls ask with what q may find. An index that turns out to be damaged is made again,
// and asked again.
func (s *Store) withIndex(view *refs.View, q SearchQuery, ask func([]search.Source) error) error {
	s.searching.Lock()
	defer s.searching.Unlock()
	once := func(fresh bool) error {
		sources, err := s.searchSources(view, fresh)
		if err == nil && q.Branch != "" {
			sources, err = s.onlyBranch(view, q, sources)
		}
		if err != nil {
			return err
		}
		return ask(sources)
	}
	err := once(false)
	if isIndexDamage(err) {
		err = once(true)
	}
	return err
}

// options are what the index is asked for.
func (q *SearchQuery) options() search.Options {
	return search.Options{
		Session: q.Session, Except: q.Except, Role: q.Role, Since: q.Since, Until: q.Until, Rewound: q.Rewound, Most: q.Most, Whole: wholeDepth,
	}
}

// visibleTo leaves out clusters with a member that the reader may not see: their summaries may have
// its words.
func (s *Store) visibleTo(view *refs.View, r *Reader, clusters []Hit) ([]Hit, error) {
	var list []Hit
	for _, h := range clusters {
		sees := true
		err := s.Members(view, h.ID, func(id format.ID) error {
			e, err := s.entry(id)
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
