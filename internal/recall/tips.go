package recall

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/varint"
	"github.com/gemini-ctx/ctx/refs"
)

// tips is what is known of the newest entry of each session, from the cache and since. Without it,
// a brief of a project would unpack a block of a pack for each session. A tip and a link never
// change, and words that are forgotten empty the cache.
type tips struct {
	had   map[format.ID]tip // by tip or link, as the cache has it
	found map[format.ID]tip // those that the sessions have now
	fresh bool              // found has what had does not
}

// tip is what is known of an entry at the end of a branch, or of a link to a parent.
type tip struct {
	seq  uint64
	last time.Time
	link bool // of a session that works for another one; seq and last are not known
}

// tipsVersion is that of the form of the cache.
const tipsVersion = 1

var errTips = errors.New("not the tips of sessions")

// readAll reads the tips of branches that are not known, in the order in which that is fastest.
func (t *tips) readAll(s *Reader, v *refs.View, names []string) error {
	var unknown []string
	for _, name := range names {
		if _, known := t.had[v.Get(name).ID]; !known {
			unknown = append(unknown, name)
		}
	}
	for _, name := range s.ByPlace(unknown, history.TipIn(v)) {
		if _, err := t.newest(s, v.Get(name).ID); err != nil {
			return err
		}
	}
	return nil
}

// newest returns the seq and the time of the entry id.
func (t *tips) newest(s *Reader, id format.ID) (tip, error) {
	known, ok := t.found[id]
	if !ok {
		known, ok = t.had[id]
	}
	if !ok || known.link {
		e, err := s.Header(id)
		if err != nil {
			return tip{}, err
		}
		known, t.fresh = tip{seq: e.Seq, last: e.Time}, true
	}
	t.found[id] = known
	return known, nil
}

// child reports whether a session works for another one, as those of subagents do.
func (t *tips) child(s *Reader, v *refs.View, session string) (bool, error) {
	link := v.Get(history.ParentRef(session)).ID
	if link.IsZero() {
		return false, nil
	}
	if !t.had[link].link {
		_, child, err := s.ParentOf(v, session)
		if err != nil || !child {
			return false, err
		}
		t.fresh = true
	}
	t.found[link] = tip{link: true}
	return true, nil
}

// loadTips returns what the cache has, nothing if that is damaged.
func (s *Reader) loadTips() *tips {
	t := &tips{found: map[format.ID]tip{}}
	if b, _, ok := s.Cache.Load(cache.TipsName); ok {
		t.had, _ = decodeTips(b)
	}
	return t
}

// storeTips replaces what the cache has, if something new was found. An error is ignored, because
// the cache may be lost at any time.
func (s *Reader) storeTips(t *tips) {
	if t.fresh {
		_ = s.Cache.Store(cache.TipsName, cache.Stamp{}, encodeTips(t.found))
	}
}

// tipSize is the least size of an encoded tip.
const tipSize = idSize + 3

// encodeTips encodes the version, the number of rows, and of each row the id, whether it is a link,
// the seq and the time.
func encodeTips(rows map[format.ID]tip) []byte {
	b := binary.AppendUvarint(make([]byte, 0, 48*len(rows)+16), tipsVersion)
	b = binary.AppendUvarint(b, uint64(len(rows)))
	for _, id := range slices.SortedFunc(maps.Keys(rows), format.ID.Compare) {
		t, link := rows[id], byte(0)
		if t.link {
			link = 1
		}
		b = append(append(b, id[:]...), link)
		b = binary.AppendUvarint(b, t.seq)
		b = binary.AppendVarint(b, millis(t.last))
	}
	return b
}

func decodeTips(b []byte) (map[format.ID]tip, error) {
	r := varint.Reader{Rest: b}
	if r.Uvarint() != tipsVersion {
		return nil, errTips
	}
	n := r.Count(int(tipSize))
	rows := make(map[format.ID]tip, n)
	for range n {
		var id format.ID
		copy(id[:], r.Take(idSize))
		t := tip{link: r.Bool()}
		t.seq, t.last = r.Uvarint(), fromMillis(r.Varint())
		rows[id] = t
	}
	if r.Err == nil && (len(r.Rest) > 0 || len(rows) != n) {
		return nil, errTips
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return rows, nil
}
