package sessions

import (
	"path/filepath"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/varint"
)

const (
	// maxDigested is the largest number of messages, the newest of a branch, in a digest. It bounds
	// the time of a first brief to about 0.1 ms times this number.
	maxDigested = 8192

	// agentWindow is the number of newest messages of which one must call a tool for a branch to count
	// as an agent's.
	agentWindow = 256
)

// digestCache is the cached digest of a branch. As long as no body is forgotten, it depends only on
// at and on digest.Version.
type digestCache struct {
	at     format.ID // the newest entry of the digest
	newest uint64    // seq of the newest message
	called uint64    // seq of the newest message that calls a tool, with its arguments
	// tip is one of which at is known to be in the history; zero for none.
	tip format.ID
	digest.Digester
}

func (d *digestCache) code(c *varint.Code) {
	c.Fixed(d.at[:])
	varint.Number(c, &d.newest)
	varint.Number(c, &d.called)
	c.Fixed(d.tip[:])
	d.Code(c)
}

// branchFacts are the facts of the messages of a branch, up to a message and after it.
type BranchFacts struct {
	Before, After []digest.Fact // oldest first
	// whole are the facts of both, as they are at the end: before has no result of a call that was
	// answered after it.
	Whole []digest.Fact
	Root  brief.Root // of the session
	Agent bool       // one of the newest messages calls a tool, with its arguments
}

// readFacts returns the facts of a branch up to the message with number through, and those after
// it. An amend of a message up to through counts only if the branch had no newer message at that
// time, so before does not change while the branch grows. If all is false and the branch is not an
// agent's, readFacts leaves out the facts before through. It caches the digest, so that the next
// call reads only newer messages.
func (s *Reader) ReadFacts(
	name history.BranchName, tip format.ID, through uint64, all bool,
) (*BranchFacts, error) {
	h, err := s.digestHistory(tip, through, s.loadDigest(name), all)
	if err != nil {
		return nil, err
	}
	d := digestCache{}
	if h.cached != nil {
		d = *h.cached
	}
	d.newest = max(d.newest, h.newest)
	may := d.isAgents(h.called)
	if through > 0 && !may && !all {
		return &BranchFacts{}, nil // talk is not rendered from facts
	}
	if len(h.before.list) > 0 && (may || all) {
		done := s.Afar() // the next reading has the facts
		list, err := s.digestMessages(&h.before)
		done()
		if err != nil {
			return nil, err
		}
		d.Add(list)
		d.called = max(d.called, calledIn(list))
		d.at, d.tip = h.before.list[0].ID, tip
		s.storeDigest(name, &d)
	}
	w := &BranchFacts{Before: d.Facts(), Agent: d.isAgents(0), Root: s.rootOf(&d.Digester)}
	if through > 0 && !w.Agent && !all {
		return w, nil
	}
	list, err := s.digestMessages(&h.after)
	if err != nil {
		return nil, err
	}
	w.Agent = w.Agent || through == 0 && calledIn(list) > 0
	w.Whole = w.Before
	if len(list) > 0 {
		d.Add(list)
		w.Whole, w.Root = d.Facts(), s.rootOf(&d.Digester)
	}
	w.After = w.Whole[len(w.Before):]
	return w, nil
}

// rootOf returns the root of a session of which a digester has seen the beginning. The project is
// the directory that has the store.
func (s *Reader) rootOf(d *digest.Digester) brief.Root {
	return brief.NewRoot(d.Began, filepath.Dir(filepath.Dir(s.Dir)))
}

// isAgents reports whether one of the newest messages calls a tool: one of the digest, or the
// message with number called.
func (d *digestCache) isAgents(called uint64) bool {
	called = max(called, d.called)
	return called > 0 && d.newest-called < agentWindow
}

// calledIn returns the seq of the newest message with calls whose arguments are stored, or 0 if
// there is none. A call without arguments tells nothing about the work, so such a branch is
// summarized by its texts.
func calledIn(list []digest.Message) uint64 {
	for i := range slices.Backward(list) {
		if len(list[i].Calls) > 0 {
			return max(list[i].Seq, 1)
		}
	}
	return 0
}

// digestInput is the part of a branch that a digest must read: the entries that are not cached.
type digestInput struct {
	before, after passage
	cached        *digestCache // the digest of the entries before, if it is cached
	newest        uint64       // seq of the newest message before
	called        uint64       // seq of the newest message before that calls a tool
}

// passage is a part of the history, newest first.
type passage struct {
	list   []history.Entry
	amends map[format.ID]format.ID // by message: its newest version
}

func (s *Reader) loadDigest(name history.BranchName) *digestCache {
	d := &digestCache{}
	if _, ok := s.Cache.Get(cache.FactsName(name.Session, name.Branch), digest.Version,
		d.code); !ok {
		return nil
	}
	return d
}

// storeDigest caches a digest. An error is ignored, because the cache may be lost at any time.
func (s *Reader) storeDigest(name history.BranchName, d *digestCache) {
	_ = s.Cache.PutPacked(cache.FactsName(name.Session, name.Branch), cache.Stamp{}, digest.Version,
		d.code)
}

// factsBefore returns the facts of a branch up to where its digest goes, without a look at the
// branch: none unless noteTip said that the digest is of the history of this tip.
func (s *Reader) FactsBefore(
	name history.BranchName, tip format.ID,
) (facts []digest.Fact, root brief.Root) {
	d := s.loadDigest(name)
	if d == nil || d.tip != tip {
		return nil, root
	}
	return d.Facts(), s.rootOf(&d.Digester)
}

// noteTip notes that the facts of a branch were read at a tip: its digest is of that history.
func (s *Reader) NoteTip(name history.BranchName, tip format.ID) {
	if d := s.loadDigest(name); d != nil && d.tip != tip {
		d.tip = tip
		s.storeDigest(name, d)
	}
}

// digestHistory reads headers from a tip back to the cached entry, or to the oldest message of a
// digest.
func (s *Reader) digestHistory(
	tip format.ID, through uint64, cached *digestCache, all bool,
) (*digestInput, error) {
	h := &digestInput{}
	messages := 0
	for e, err := range s.Walk(tip, history.WithJoined) {
		if err != nil {
			return nil, err
		}
		if e.Seq > through {
			if h.after.add(e); len(h.after.list) == maxDigested {
				break
			}
			continue
		}
		if cached != nil && e.ID == cached.at {
			h.cached = cached
			break
		}
		h.before.add(e)
		if e.Kind == format.KindMessage {
			messages++
			h.newest = max(h.newest, e.Seq)
			if len(e.Calls) > 0 {
				h.called = max(h.called, e.Seq)
			}
		}
		if messages == maxDigested ||
			!all && h.called == 0 && cached == nil && messages == agentWindow {
			break
		}
	}
	return h, nil
}

// add adds an entry to the passage.
func (h *passage) add(e history.Entry) {
	switch e.Kind {
	case format.KindMessage, format.KindNote:
		h.list = append(h.list, e)
	case format.KindAmend:
		if _, newer := h.amends[e.Amends]; !newer {
			if h.amends == nil {
				h.amends = map[format.ID]format.ID{}
			}
			h.amends[e.Amends] = e.ID
		}
	}
}

// digestMessages reads the messages of a passage, oldest first. A prompt whose words are gone says
// so: what came of it is not to count for the prompt before.
func (s *Reader) digestMessages(h *passage) ([]digest.Message, error) {
	list := make([]digest.Message, 0, len(h.list))
	for _, at := range slices.Backward(h.list) {
		shown, err := s.Version(at.ID, h.amends[at.ID])
		if err != nil {
			return nil, err
		}
		m := summaries.DigestMessage(shown)
		m.Seq = at.Seq
		if shown.Gone != "" && at.Kind == format.KindMessage && m.Role == transcript.RoleUser {
			m.Text = "[" + shown.Gone + "]"
		}
		if at.Kind == format.KindNote && m.Note == "" {
			m.Recap = digest.IsRecap(m.Text)
			switch {
			case m.Recap, digest.IsNotification(m.Text), digest.IsTypedRun(m.Text):
			case m.Branch == "":
				continue
			default: // nobody said the words of the note; its record names the branch
				m.Text, m.Calls, m.Results = "", nil, nil
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// allFacts returns the facts of all messages of a branch, as far back as a digest goes, the root of
// the session, and the newest entry. Every act has its outcome.
func (s *Reader) AllFacts(
	name history.BranchName, v format.Value,
) ([]digest.Fact, brief.Root, *format.Entry, error) {
	e, err := s.Header(v.ID)
	if err != nil {
		return nil, brief.Root{}, nil, err
	}
	w, err := s.ReadFacts(name, v.ID, s.DigestBorder(v, e), true)
	if err != nil {
		return nil, brief.Root{}, nil, err
	}
	return w.Whole, w.Root.Of(w.Whole), e, nil
}

// digestBorder returns the seq up to which the digest of a branch is cached. That is the end of the
// pin. If the pin lags far behind, or there is none, it is the start of the window.
func (s *Reader) DigestBorder(v format.Value, tip *format.Entry) uint64 {
	if tip.Seq > v.Through+2*uint64(s.Config.Window.EvictAt) {
		return tip.Seq - uint64(s.Config.Window.GraduateAt)
	}
	return v.Through
}
