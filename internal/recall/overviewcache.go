package recall

import (
	"cmp"
	"encoding/binary"
	"errors"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/titles"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// overviewVersion is that of what a row holds, and of the rules by which it is found.
const overviewVersion = 6

var errOverviews = errors.New("not the overviews of sessions")

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
	said            titles.Said
	prompt, agent   string
	origin          string // see originOf; "" without a message
	first, last     time.Time
	spoke           time.Time // zero if no user has
	ahead           time.Time // the first time in it that was later than the clock; zero for none
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
		First: r.first, Last: r.last, Spoke: r.spoke}
	o.About, _ = history.DecodeAbout(r.about)
	o.Title = cmp.Or(o.About.Title, o.Title, cutTitle(r.said.Title))
	if o.Named = o.Title != ""; !o.Named {
		o.Title = r.prompt
	}
	return o
}

// loadOverviews returns what the cache has, nothing if that is damaged.
func (s *Reader) loadOverviews() *overviews {
	known := &overviews{rows: map[string]*overviewRow{}}
	b, _, ok := s.Cache.Load(cache.OverviewsName)
	if !ok {
		return known
	}
	rows, err := decodeOverviews(b)
	if err != nil {
		return known
	}
	for i := range rows {
		known.rows[rows[i].session] = &rows[i]
	}
	return known
}

// storeOverviews replaces what the cache has. An error is ignored, because the cache may be lost at
// any time.
func (s *Reader) storeOverviews(rows []overviewRow) {
	_ = s.Cache.Store(cache.OverviewsName, cache.Stamp{}, encodeOverviews(rows))
}

// encodeOverviews encodes the version, the number of rows, and the rows.
func encodeOverviews(rows []overviewRow) []byte {
	b := binary.AppendUvarint(make([]byte, 0, 256*len(rows)+16), overviewVersion)
	b = binary.AppendUvarint(b, uint64(len(rows)))
	for i := range rows {
		r := &rows[i]
		b = append(append(append(b, r.tip[:]...), r.link[:]...), r.aboutID[:]...)
		b = binary.AppendUvarint(b, r.seq)
		b = binary.AppendVarint(b, millis(r.first))
		b = binary.AppendVarint(b, millis(r.last))
		b = binary.AppendVarint(b, millis(r.spoke))
		b = binary.AppendVarint(b, millis(r.ahead))
		p := r.parent
		apart := byte(0)
		if p == nil {
			p = &history.Parent{}
		}
		if p.Apart {
			apart = 1
		}
		b = append(b, apart)
		for _, s := range []string{r.session, r.branch, r.said.Name, r.said.Title, r.said.Git,
			r.prompt, r.agent, r.origin, p.Session, p.Call, string(r.about)} {
			b = varint.AppendString(b, s)
		}
	}
	return b
}

// idSize is the length of an id in bytes.
const idSize = uint64(len(format.ID{}))

// rowSize is the least size of an encoded row.
const rowSize = 3*idSize + 5 + 1 + 11

func decodeOverviews(b []byte) ([]overviewRow, error) {
	r := varint.Reader{Rest: b}
	if r.Uvarint() != overviewVersion {
		return nil, errOverviews
	}
	rows := make([]overviewRow, r.Count(int(rowSize)))
	for i := range rows {
		row := &rows[i]
		copy(row.tip[:], r.Take(idSize))
		copy(row.link[:], r.Take(idSize))
		copy(row.aboutID[:], r.Take(idSize))
		row.seq = r.Uvarint()
		row.first, row.last = fromMillis(r.Varint()), fromMillis(r.Varint())
		row.spoke, row.ahead = fromMillis(r.Varint()), fromMillis(r.Varint())
		p, about := history.Parent{Apart: r.Bool()}, ""
		for _, s := range []*string{&row.session, &row.branch, &row.said.Name, &row.said.Title,
			&row.said.Git, &row.prompt, &row.agent, &row.origin, &p.Session, &p.Call, &about} {
			*s = r.String()
		}
		row.about = []byte(about)
		if p.Session != "" {
			row.parent = &p
		} else if p != (history.Parent{}) {
			return nil, errOverviews
		}
	}
	if r.Err == nil && len(r.Rest) > 0 {
		return nil, errOverviews
	}
	return rows, r.Err
}

// noTime is the encoding of the zero time.
const noTime = -1 << 62

func millis(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == noTime {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
