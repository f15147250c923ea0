package sessions

import (
	"cmp"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// overviewVersion is that of what a row holds, and of the rules by which it is found.
const overviewVersion = 9

// overviewRow is what the cache has of a session. It depends only on the tip and the link: words
// that are forgotten empty the cache.
type overviewRow struct {
	session, branch string
	tip             format.ID
	seq             uint64
	link            format.ID // the blob that names the parent
	aboutID         format.ID // the blob with what is said of the session
	about           []byte
	parent          *history.Parent
	said            transcript.SessionSaid
	prompt, agent   string
	origin          string // see originOf; "" without a message
	first, last     time.Time
	spoke           time.Time // zero if no user has
	notes           []digest.Fact
	ahead           time.Time // the first time in it that was later than the clock; zero for none

	learned bool // from appends of this process, without the rest
}

// overviews is what the cache has. Its methods may be called on nil, which knows nothing.
type overviews struct {
	rows map[string]*overviewRow
}

func (o *overviews) row(session string) *overviewRow {
	if o == nil {
		return nil
	}
	return o.rows[session]
}

// seqOf returns the number of messages of a branch with a tip, if it is known.
func (o *overviews) seqOf(session, branch string, tip format.ID) (seq uint64, ok bool) {
	r := o.row(session)
	if r == nil || r.branch != branch || r.tip != tip {
		return 0, false
	}
	return r.seq, true
}

// parentOf returns the parent of a session that a link names, if it is known.
func (o *overviews) parentOf(session string, link format.ID) (p *history.Parent, ok bool) {
	r := o.row(session)
	if r == nil || r.link != link {
		return nil, false
	}
	return r.parent, true
}

func (r *overviewRow) overview(one *Session) Overview {
	o := Overview{Session: *one, Title: cutTitle(r.said.Name), Agent: r.agent, Git: r.said.Git,
		First: r.first, Last: r.last, Spoke: r.spoke, Notes: r.notes, Origin: r.origin}
	o.About, _ = history.DecodeAbout(r.about)
	o.Title = cmp.Or(o.About.Title, o.Title, cutTitle(r.said.Title))
	if o.Named = o.Title != ""; !o.Named {
		o.Title = r.prompt
	}
	return o
}

// loadOverviews returns what the cache has, nothing if that is damaged.
func (s *Reader) loadOverviews() *overviews {
	known := &overviews{}
	if _, ok := s.Cache.Get(cache.OverviewsName, overviewVersion, known.code); !ok {
		known.rows = map[string]*overviewRow{}
	}
	return known
}

// storeOverviews replaces what the cache has. An error is ignored, because the cache may be lost at
// any time.
func (s *Reader) storeOverviews(known *overviews) {
	_ = s.Cache.Put(cache.OverviewsName, cache.Stamp{}, overviewVersion, known.code)
}

func (o *overviews) code(c *varint.Code) {
	varint.Map(c, &o.rows, func(session *string, row **overviewRow) {
		if *row == nil {
			*row = &overviewRow{}
		}
		(*row).code(c)
		*session = (*row).session
	})
}

func (r *overviewRow) code(c *varint.Code) {
	c.Fixed(r.tip[:])
	c.Fixed(r.link[:])
	c.Fixed(r.aboutID[:])
	varint.Number(c, &r.seq)
	for _, t := range []*time.Time{&r.first, &r.last, &r.spoke, &r.ahead} {
		c.Time(t)
	}
	child := r.parent != nil
	c.Flag(&child)
	if child {
		if r.parent == nil {
			r.parent = &history.Parent{}
		}
		c.Flag(&r.parent.Apart)
		varint.Text(c, &r.parent.Session)
		varint.Text(c, &r.parent.Call)
	}
	for _, s := range []*string{&r.session, &r.branch, &r.said.Name, &r.said.Title, &r.said.Git,
		&r.prompt, &r.agent, &r.origin} {
		varint.Text(c, s)
	}
	c.Bytes(&r.about)
	varint.List(c, &r.notes, func(f *digest.Fact, c *varint.Code) {
		c.Fixed(f.Entry[:])
		varint.Text(c, &f.Kind)
		for _, s := range []*string{&f.Text, &f.Key, &f.Path} {
			varint.Text(c, s)
		}
	})
}
