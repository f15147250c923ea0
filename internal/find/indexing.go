package find

import (
	"slices"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
)

// Indexing adds to the search index what this process appends, while it appends it. A small append
// leaves its messages to the next search, which reads them. What cannot be added or written is left
// to it as well.
type Indexing struct {
	s *Reader
	// Number of documents after which the index is saved; 0 for that of a full builder
	most     int
	messages int // number of entries that were appended
	batches  chan *history.Batch
	done     chan struct{}
	stopped  atomic.Bool

	// Of the goroutine, until it has closed done.
	taken  int          // number of entries
	x      *searchIndex // nil before the first batch
	u      *searchUpdate
	view   *refs.View
	left   map[string]bool // sessions of which too much is not in the index
	failed bool
}

const (
	// indexAtOnce is the number of entries from which on an append indexes what it appends. A search
	// needs 5 ms more for so many that are not in the index.
	indexAtOnce = 256
	// mostBehind is the largest number of messages that an append reads to bring the index up to date,
	// and as many again as it appended itself. A search reads any number.
	mostBehind = 4096
	// batchesAhead is the number of batches that wait to be indexed.
	batchesAhead = 4
	// segmentsAhead is the number of equal segments that a load writes before it merges them.
	segmentsAhead = 8
)

// NewIndexing begins to follow appends. It belongs before the first of them: a word that is
// forgotten from now on does not come into the index.
func (s *Reader) NewIndexing() *Indexing {
	s.Cache.Begin()
	return &Indexing{s: s, left: map[string]bool{}}
}

// Take takes a batch that was appended. It waits while batchesAhead others are not indexed yet.
func (g *Indexing) Take(b *history.Batch) {
	g.s.Learn(b)
	g.messages += len(b.Said)
	if g.batches == nil {
		if g.messages < indexAtOnce {
			return
		}
		g.batches, g.done = make(chan *history.Batch, batchesAhead), make(chan struct{})
		go g.run()
	}
	g.batches <- b
}

// Finish indexes and saves what is left, and the overviews of the sessions. It belongs after the
// answer of the command. appended is the number of messages that the command appended, whether Take
// was told of them or not.
func (g *Indexing) Finish(appended int) {
	g.messages = max(g.messages, appended)
	most := uint64(mostBehind + g.messages)
	switch {
	case g.batches != nil:
		close(g.batches)
		<-g.done
	case g.messages >= indexAtOnce:
		g.open()
	default:
		return
	}
	if view, err := g.s.Refs.Read(); err == nil {
		_, _ = g.s.Overviews(view) // the next reader finds out what is wrong
	}
	if g.x != nil {
		done := g.failed || g.u.flush() != nil || g.s.finishIndex(g.x, most) || g.x.noWrite
		g.x.close()
		if done {
			return
		}
	}
	// Another process has saved an index meanwhile.
	g.s.Cache.Begin()
	if x := g.s.loadSearch(); x != nil {
		g.s.finishIndex(x, most)
		x.close()
	}
}

// Stop ends without an index of what is left.
func (g *Indexing) Stop() {
	if g.batches == nil {
		return
	}
	g.stopped.Store(true)
	close(g.batches)
	<-g.done
	if g.x != nil {
		g.x.close()
	}
}

// finishIndex brings an index up to date and saves it.
func (s *Reader) finishIndex(x *searchIndex, most uint64) bool {
	view, err := s.Refs.Read()
	if err != nil {
		return false
	}
	if err := s.updateSearch(x, view, most); err != nil {
		return false
	}
	return x.changed == 0 || s.saveSearch(x, view, 1)
}

// open opens the index in the cache, or begins a new one.
func (g *Indexing) open() {
	if g.x = g.s.loadSearch(); g.x == nil {
		g.x = g.s.emptySearch()
	}
	g.u = newSearchUpdate(g.s, g.x)
}

// run indexes batches until there are no more.
func (g *Indexing) run() {
	defer close(g.done)
	for b := range g.batches {
		g.taken += len(b.Said)
		if !g.failed && !g.stopped.Load() && g.add(b) != nil {
			g.failed = true
		}
	}
}

func (g *Indexing) add(b *history.Batch) (err error) {
	if g.x == nil {
		g.open()
		if g.view, err = g.s.Refs.Read(); err != nil {
			return err
		}
	}
	if g.left[b.Session] {
		return nil
	}
	line, follows, err := g.follows(b)
	if err != nil {
		return err
	}
	if !follows {
		return g.read(b)
	}
	for i := range b.Said {
		if d := &b.Said[i]; d.Plain {
			if !line[i] {
				g.u.leave(b.Session, d.ID)
			}
			g.u.b.Add(docOf(b.Session, d))
			g.x.changed++
		}
	}
	g.x.tips.set(b.Session, b.Branch, b.To)
	if g.u.b.Full() || g.most > 0 && g.u.b.Docs() >= g.most {
		return g.publish()
	}
	return nil
}

// follows reports whether a batch continues the branch as the index knows it, as lineOf says. The
// entries on the line are marked.
func (g *Indexing) follows(b *history.Batch) (line []bool, ok bool, err error) {
	branches := g.x.tips[b.Session]
	if branches[b.Branch] != b.From || b.From.IsZero() && len(branches) > 0 {
		return nil, false, nil
	}
	if line, ok = sessions.LineOf(b); !ok {
		return nil, false, nil
	}
	// The index may have entries of this session that no branch has any more.
	for _, seg := range g.x.segments {
		known, err := seg.HasFrom(b.Session, b.Said[0].Seq, func(id format.ID) bool {
			return slices.ContainsFunc(b.Said, func(d history.Said) bool { return d.ID == id })
		})
		if known || err != nil {
			return nil, false, err
		}
	}
	return line, true, nil
}

// read brings the session of a batch up to date from the store.
func (g *Indexing) read(b *history.Batch) error {
	view, err := g.s.Refs.Read()
	if err != nil {
		return err
	}
	list := branchTipsIn(view, "sessions/"+b.Session+"/")
	list.set(b.Session, b.Branch, b.To)
	was, now := g.x.tips[b.Session], list[b.Session]
	n, err := g.s.behind(was, now)
	if err != nil {
		return err
	}
	if n > uint64(mostBehind+g.taken) {
		g.left[b.Session] = true
		return nil
	}
	// What is in the builder cannot be hidden, or found.
	if err := g.u.flush(); err != nil {
		return err
	}
	c, err := g.s.searchChange(view, b.Session, was, now)
	if err == nil {
		err = g.u.apply(b.Session, c)
	}
	if err != nil {
		return err
	}
	g.x.tips.put(b.Session, now)
	return g.u.flush()
}

// publish saves the index as it is, so that searches find it.
func (g *Indexing) publish() error {
	if err := g.u.flush(); err != nil {
		return err
	}
	if g.s.saveSearch(g.x, g.view, segmentsAhead) || g.x.noWrite {
		g.failed = g.x.noWrite
		return nil
	}
	g.x.close() // another process has saved an index
	g.x, g.u = nil, nil
	return nil
}

// docOf is indexDoc for an entry that was just appended.
func docOf(session string, d *history.Said) search.Doc {
	kept := false
	if d.Kind == format.KindNote {
		_, kept = message.NoteOf(d.Parts)
	}
	return search.Doc{
		ID: d.ID, Version: d.ID, Session: session, Seq: d.Seq, Role: d.Role, Author: d.Author,
		Note: d.Kind == format.KindNote, Kept: kept,
		Calls: len(d.Calls) > 0, Time: d.Time, Text: d.Words(),
	}
}
