package compaction

import (
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
)

// told holds, by summary, the sessions of the messages for which it stands: none if it is an
// extract, after which a rendering says no more than before.
type told map[format.ID]map[string]bool

// since reports whether st tells of messages of a session in words of a model or a person that a
// pinned forest does not have, and whether summaries of that forest are forgotten.
func (c told) since(
	t *Tx, st *forest.State, session string, pin format.ID,
) (tells, forgotten bool, err error) {
	was, err := t.ReadForest(pin)
	if err != nil {
		return false, false, err
	}
	whole, err := t.Objects.NothingGone()
	had := map[format.ID]bool{}
	for _, cluster := range was.Live() {
		for _, v := range cluster.Covers {
			if had[v.Summary] = true; err == nil && !whole && !forgotten {
				forgotten, err = t.Objects.Forgotten(v.Summary)
			}
		}
	}
	live := st.Live()
	unread := func(v format.Cover) bool { return !had[v.Summary] && c[v.Summary] == nil }
	unknown := slices.DeleteFunc(slices.Clone(live), func(cluster *forest.Cluster) bool {
		return !slices.ContainsFunc(cluster.Covers, unread)
	})
	for _, cluster := range st.Placed(unknown) {
		for _, v := range cluster.Covers {
			if err == nil && unread(v) {
				err = c.read(t, st, cluster, v)
			}
		}
	}
	for _, cluster := range live {
		for _, v := range cluster.Covers {
			tells = tells || !had[v.Summary] && c[v.Summary][session]
		}
	}
	return tells, forgotten, err
}

// read takes up a summary.
func (c told) read(t *Tx, st *forest.State, cluster *forest.Cluster, v format.Cover) error {
	c[v.Summary] = map[string]bool{}
	written, err := t.summaries.WrittenCovers([]format.Cover{v})
	if err != nil || len(written) == 0 {
		return err
	}
	members, err := st.Slice(cluster, v.Offset, v.Offset+v.Count)
	if err != nil {
		return err
	}
	for _, id := range members {
		e, err := t.Header(id)
		if err != nil {
			return err
		}
		c[v.Summary][e.Session] = true
	}
	return nil
}
