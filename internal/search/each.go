package search

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Document is an indexed document without its text.
type Document struct {
	ID, Version format.ID
	Session     string
	Seq         uint64
	Time        time.Time
	Rewound     bool
	// Print is the fingerprint of the text: equal for texts with the same words in the same order,
	// 0 without words.
	Print uint64
}

// Each returns the documents that o admits, sorted by session, seq and id. It ignores o.Most and
// o.Whole.
func Each(sources []Source, o Options) ([]Document, error) {
	var list []Document
	for i := range sources {
		s := &sources[i]
		first, end := uint32(0), uint32(s.docs)
		if o.Session != "" {
			first, end = s.Range(o.Session)
		}
		for doc := first; doc < end; doc++ {
			if !o.sees(s, doc) {
				continue
			}
			session, seq := s.place(doc)
			if ok, err := o.admits(s, doc, session); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
			d := Document{Session: session, Seq: seq, Rewound: s.Hidden[doc]}
			var err error
			if d.ID, d.Version, err = s.Entry(doc); err != nil {
				return nil, err
			}
			if d.Time, _, err = s.cold(doc); err != nil {
				return nil, err
			}
			if d.Print, err = s.print(doc); err != nil {
				return nil, err
			}
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b Document) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq),
			bytes.Compare(a.ID[:], b.ID[:]))
	})
	return list, nil
}

// admits reports whether the options admit a document of a session.
func (o *Options) admits(s *Source, doc uint32, session string) (bool, error) {
	if o.Session != "" && session != o.Session || o.Except != "" && session == o.Except {
		return false, nil
	}
	if o.Role != "" || o.Kept {
		attr, err := s.attr(doc)
		role := int(attr & attrRole)
		if err != nil || o.Kept && role < rolesKept ||
			o.Role != "" && (role >= len(roles) || roles[role] != o.Role) {
			return false, err
		}
	}
	if !o.Since.IsZero() || !o.Until.IsZero() {
		when, _, err := s.cold(doc)
		if err != nil || !o.inTime(when) {
			return false, err
		}
	}
	return true, nil
}

// After returns the documents of a session that come after a seq, up to a number of seqs later, by
// seq: without their times and prints.
func After(sources []Source, session string, seq, most uint64) ([]Document, error) {
	var list []Document
	for i := range sources {
		s := &sources[i]
		first, end := s.seqRange(session, seq+1, seq+most)
		for doc := first; doc < end; doc++ {
			id, version, err := s.Entry(doc)
			if err != nil {
				return nil, err
			}
			_, at := s.place(doc)
			list = append(list, Document{ID: id, Version: version, Session: session, Seq: at,
				Rewound: s.Hidden[doc]})
		}
	}
	slices.SortStableFunc(list, func(a, b Document) int { return cmp.Compare(a.Seq, b.Seq) })
	return list, nil
}
