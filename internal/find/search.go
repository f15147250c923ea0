package find

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
)

// SearchQuery says what Search looks for.
type SearchQuery struct {
	Text    string
	Session string           // only entries of this session; "" for all
	Branch  string           // with Session: only the history of this branch; "" for all branches
	Except  string           // no entries of this session; "" for no such limit
	Role    string           // only entries of this role; "" for all
	Since   time.Time        // only entries at this time or later; the zero Time for all
	Until   time.Time        // only entries before this time; the zero Time for all
	Rewound bool             // also rewound entries
	Reader  *clusters.Viewer // only what this reader may see; nil for everything
	Limit   int              // the largest number of entries, and of clusters
	// Phrases requires every quoted part of Text to occur word for word. Otherwise quotes have no
	// meaning.
	Phrases bool
	// Pattern is looked for instead of Text, in the whole texts. The newest message comes first, and
	// Clusters is ignored.
	Pattern *regexp.Regexp
	// Parts looks for the words of Text as parts of others where no message has them as words, or
	// where Text has none. It reads the texts of the newest Read messages, and adds to Unread how
	// many it has not read; of all, if Unread is nil.
	Parts  bool
	Read   int
	Unread *atomic.Int64
	// Alike looks for words that are alike to those of a question, too.
	Alike bool
	// Clusters asks also for the clusters of the best entries.
	Clusters bool
	// Titles asks also for sessions whose title or tags, as a person or an agent gave them, have all
	// words of Text.
	Titles bool
}

// Hit is an entry or a cluster that Search found.
type Hit struct {
	ID      format.ID // the entry, or the cluster's node
	Score   float64   // the larger the better, within one search
	Session string
	Branch  string                // of an entry: a branch that has it; "" if it was rewound
	Shown   *history.Shown        // of an entry
	Cluster *clusters.ClusterInfo // of a cluster
	// Of an entry its latest text, of a cluster the beginning of its summary
	Text    string
	Rewound bool   // no branch has the entry any more
	Excerpt string // the passage of Text with most of the query, as one line
	Copies  int    // the number of other entries with the same words
	// SupersededBy is the newer note which says that this one holds no more; zero for none.
	SupersededBy format.ID
	Objection    Objection // to an answer of a model
	// Named is the session whose title or tags have all the words of the query; it has no entry, and
	// the title is its Text.
	Named *sessions.Overview

	find finder
}

// Search returns the entries, and if q.Clusters is set the clusters, that answer a query best, best
// first. It searches the history of all branches, evicted or not. An amended message counts with
// its latest text, and rewound entries only if q.Rewound is set. Forgotten entries and those of
// removed sessions are never found. If all words of the query are common, Search first returns
// entries with nothing but these words, and then entries with these words in a row. It returns
// search.ErrNoTerms for a query without words and ErrNotFound for an unknown session or branch.
func (s *Reader) Search(view *refs.View, q SearchQuery) ([]Hit, error) {
	if q.Pattern != nil {
		return s.searchPatterns(view, q, q.Pattern)
	}
	hits, err := s.searchTerms(view, q)
	if as, bare := search.PartsOf(q.Text); q.Parts && !as.None() && len(hits) == 0 &&
		(err == nil || errors.Is(err, search.ErrNoTerms)) {
		return s.searchPatterns(view, q, as, bare, search.FormsOf(q.Text))
	}
	return hits, err
}

// searchTerms is Search without parts of words.
func (s *Reader) searchTerms(view *refs.View, q SearchQuery) ([]Hit, error) {
	f, err := s.Find(view, q)
	switch {
	case err != nil:
		return nil, err
	case f.empty == nil:
		return f.Hits()
	}
	if whole, within := search.WordPatterns(q.Text); whole != nil {
		return s.searchPatterns(view, q, whole, within)
	}
	return nil, f.empty
}

// searchWords calls yield for the messages that Search would find for words, while a model waits,
// until that is done: without the gain of messages that have the words in a row. It reads no
// message that it does not yield. The query is one that a caller in this package has checked.
func (s *Reader) searchWords(
	view *refs.View, q SearchQuery, yield func(session string, shown *history.Shown) (bool, error),
) error {
	parsed, err := q.parse()
	if err != nil {
		return err
	}
	o := q.options(view)
	o.Whole = 0
	var ranked []search.Hit
	err = s.withNearIndex(view, func(sources []search.Source) (err error) {
		ranked, err = search.Rank(sources, parsed, o)
		return err
	})
	done := false
	for i := 0; i < len(ranked) && err == nil && !done; i++ {
		var shown *history.Shown
		shown, err = s.Version(ranked[i].ID, ranked[i].Version)
		if err == nil && shown.Gone == "" {
			done, err = yield(ranked[i].Session, shown)
		}
	}
	return err
}

// maxTitles is the largest number of sessions that are hits for their titles: of more, the title
// tells them from each other no better than their messages do.
const maxTitles = 3

// withTitles returns hits after those for the titles and the tags of sessions, which score more.
func (s *Reader) withTitles(view *refs.View, hits []Hit, q SearchQuery) ([]Hit, error) {
	list, err := s.Overviews(view)
	if err != nil {
		return nil, err
	}
	top := 0.0
	for i := range hits {
		top = max(top, hits[i].Score)
	}
	words := strings.Fields(strings.ReplaceAll(q.Text, `"`, " "))
	var titled []Hit
	for i := range list {
		o := &list[i]
		if (o.Named || len(o.About.Tags) > 0) && o.HasWords(words, false) &&
			len(titled) < maxTitles {
			titled = append(titled, Hit{Session: o.Name,
				Branch: sessions.MainOf(&o.Session).Name, Named: o,
				Score: top + 1, Text: o.Title, Excerpt: o.Title})
		}
	}
	return append(titled, hits...), nil
}

func (q *SearchQuery) parse() (*search.Query, error) {
	parsed, err := search.Parse(q.Text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: %q", history.ErrInput, err, history.Clip(q.Text))
	}
	if q.Phrases {
		parsed.RequirePhrases()
	}
	return parsed, nil
}

// check returns an error for an unknown session or branch.
func (q *SearchQuery) check(view *refs.View) error {
	if q.Session != "" && len(view.Names("sessions/"+q.Session+"/")) == 0 {
		return history.UnknownSession(q.Session, history.MainBranch)
	}
	if q.Branch == "" {
		return nil
	}
	_, err := history.Tip(view, q.Session, q.Branch)
	return err
}

// options returns the options for the index. What a session that works for another was asked is the
// words of a model; who names the session may look for them.
func (q *SearchQuery) options(view *refs.View) search.Options {
	o := search.Options{
		Session: q.Session, Except: q.Except, Role: q.Role, Since: q.Since, Until: q.Until,
		Rewound: q.Rewound, Limit: q.Limit, Whole: wholeDepth,
	}
	if q.Role == transcript.RoleUser && q.Session == "" {
		o.Workers = map[string]bool{}
		for _, ref := range view.Names(history.ParentRef("")) {
			o.Workers[strings.TrimPrefix(ref, history.ParentRef(""))] = true
		}
	}
	return o
}

// entryHits reads the best entries. It skips an entry that was forgotten after it was indexed.
func (s *Reader) entryHits(
	view *refs.View, parsed *search.Query, ranked []rankedHit, q SearchQuery,
) ([]Hit, error) {
	names := s.newBranchNames(view, q.Branch)
	var hits []Hit
	for _, r := range ranked {
		if len(hits) == q.Limit {
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
		branch, err := names.of(r.Session, r.ID, r.Rewound)
		if err != nil {
			return nil, err
		}
		hits = append(hits, Hit{
			ID: r.ID, Score: r.Score, Session: r.Session, Branch: branch, Shown: shown,
			Text: shown.Text, Rewound: r.Rewound,
			Excerpt: parsed.Excerpt(shown.Text, excerptLen), Copies: len(r.Copies) + r.quoted,
			find: queryFinder{parsed},
		})
	}
	return hits, nil
}

// onlyBranch returns sources that hide what other branches of the session have and the branch of
// the query has not.
func (s *Reader) onlyBranch(
	view *refs.View, q SearchQuery, sources []search.Source,
) ([]search.Source, error) {
	out, err := s.notOnBranch(view, q.Session, q.Branch)
	if err != nil || len(out) == 0 {
		return sources, err
	}
	sources = slices.Clone(sources)
	for i := range sources {
		src := &sources[i]
		src.Hidden = maps.Clone(src.Hidden)
		for _, f := range out {
			docs, err := src.Find(q.Session, f.seq, f.id)
			if err != nil {
				return nil, err
			}
			for _, doc := range docs {
				if _, hidden := src.Hidden[doc]; !hidden {
					src.Hidden[doc] = false
				}
			}
		}
	}
	return sources, nil
}

// notOnBranch returns what other branches of a session have and this one has not. It reads the
// entries in which the branches differ; it reads all entries only if branches were merged.
func (s *Reader) notOnBranch(view *refs.View, session, branch string) ([]searchDoc, error) {
	tip, err := history.Tip(view, session, branch)
	if err != nil {
		return nil, err
	}
	var out []searchDoc
	for _, name := range view.Names("sessions/" + session + "/") {
		if name == history.RefName(session, branch) {
			continue
		}
		other := view.Get(name).ID
		base, err := s.MergeBase(tip.ID, other)
		if err != nil {
			return nil, err
		}
		theirs, err := s.collectRange(historyRange{other, base})
		if err != nil {
			return nil, err
		}
		ours, err := s.collectRange(historyRange{tip.ID, base})
		if err != nil {
			return nil, err
		}
		if theirs.joins || ours.joins {
			return s.notReached(view, session, tip.ID)
		}
		out = append(out, theirs.list[:theirs.standing]...)
	}
	return out, nil
}

// notReached is notOnBranch for any shape of history.
func (s *Reader) notReached(view *refs.View, session string, tip format.ID) ([]searchDoc, error) {
	on := map[format.ID]bool{}
	if err := s.Reach(on, tip); err != nil {
		return nil, err
	}
	all, err := s.sessionDocs(view, session)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(f searchDoc) bool { return on[f.id] || f.rewound }), nil
}

// branchNames finds the branches of entries. It compares two branches only once.
type branchNames struct {
	s    *Reader
	view *refs.View
	only string                        // the branch of all entries; "" if it is to be found
	out  map[string]map[format.ID]bool // by branch: the entries that only other branches have
}

func (s *Reader) newBranchNames(view *refs.View, only string) *branchNames {
	return &branchNames{s: s, view: view, only: only, out: map[string]map[format.ID]bool{}}
}

// of returns the branch of a session that has an entry: main if it has it, else the first by name;
// "" for a rewound entry.
func (n *branchNames) of(session string, id format.ID, rewound bool) (string, error) {
	if n.only != "" || rewound {
		return n.only, nil
	}
	branches := history.BranchesIn(n.view, session)
	if i := slices.Index(branches, history.MainBranch); i > 0 {
		branches = slices.Insert(slices.Delete(branches, i, i+1), 0, history.MainBranch)
	}
	for _, branch := range branches {
		if len(branches) == 1 {
			return branch, nil
		}
		name := history.RefName(session, branch)
		if n.out[name] == nil {
			list, err := n.s.notOnBranch(n.view, session, branch)
			if err != nil {
				return "", err
			}
			n.out[name] = map[format.ID]bool{}
			for _, f := range list {
				n.out[name][f.id] = true
			}
		}
		if !n.out[name][id] {
			return branch, nil
		}
	}
	return "", nil
}

// branchTips are the tips of branches, by session and by branch. A session that is there has one.
type branchTips map[string]map[string]format.ID

// branchTipsIn returns the tips of the branches whose refs start with prefix.
func branchTipsIn(view *refs.View, prefix string) branchTips {
	list := branchTips{}
	for _, ref := range view.Names(prefix) {
		if session, branch, ok := history.BranchOfRef(ref); ok {
			list.set(session, branch, view.Get(ref).ID)
		}
	}
	return list
}

func (t branchTips) set(session, branch string, tip format.ID) {
	if t[session] == nil {
		t[session] = map[string]format.ID{}
	}
	t[session][branch] = tip
}

// put replaces the branches of a session; none remove it.
func (t branchTips) put(session string, branches map[string]format.ID) {
	if len(branches) == 0 {
		delete(t, session)
		return
	}
	t[session] = branches
}

// documents returns the documents that q selects, by session and in the order of the history.
func (s *Reader) documents(view *refs.View, q SearchQuery) (list []search.Document, err error) {
	if err := q.check(view); err != nil {
		return nil, err
	}
	err = s.withIndex(view, q, func(sources []search.Source) error {
		list, err = search.Each(sources, q.options(view))
		return err
	})
	return list, err
}

// documentText reads a document. ok is false if it was forgotten after it was indexed, or if the
// reader may not see it.
func (s *Reader) documentText(
	d search.Document, r *clusters.Viewer,
) (shown *history.Shown, ok bool, err error) {
	if shown, err = s.Version(d.ID, d.Version); err != nil {
		return nil, false, err
	}
	return shown, shown.Gone == "" && (r == nil || r.Sees(d.ID, shown.Entry)), nil
}
