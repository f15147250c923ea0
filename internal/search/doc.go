// Package search ranks messages by how well they answer a query, and defines the index segments
// that make this fast.
//
// The package is pure: documents, bytes and queries go in, bytes and ranks come out. Scores are
// identical to the bit on every platform. Begin with Parse and Rank; Builder makes a segment, Merge
// combines segments.
package search

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/terms"
)

// Doc is a message or a note as it is indexed.
type Doc struct {
	ID      format.ID // the entry
	Version format.ID // the entry that has its text: ID itself, or an amend
	Session string
	Seq     uint64 // its place in the conversation; documents with near seqs were said together
	Role    string
	Author  string
	Note    bool
	Kept    bool // somebody wanted it remembered
	Calls   bool // it calls tools
	Time    time.Time
	Text    string
}

// The limits of a document. A message with more distinct terms is a listing, for which the most
// frequent ones are enough.
const (
	maxTerms = terms.MaxTerms
	maxText  = terms.MaxText
	maxCount = 255
)

// posting is one document that has a term.
type posting struct {
	doc   uint32
	count uint8 // number of occurrences in halves: a word or a name counts 2, a part of a name 1
}

// analysed is what the index stores of a text beside its postings.
type analysed struct {
	length   uint8 // as lengthClass returns it
	question bool  // it ends with a question mark
	number   bool  // it contains a number
	when     bool  // it contains an expression of time
	print    uint64
}

func isQuestion(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, " \t\r\n\"')"), "?")
}

// cutText returns the beginning and the end of a long text, which are where error messages stand.
func cutText(text string) string {
	if len(text) <= maxText {
		return text
	}
	i, j := maxText/2, len(text)-maxText/2
	for i > maxText/2-utf8.UTFMax && !utf8.RuneStart(text[i]) {
		i--
	}
	for j < len(text)-maxText/2+utf8.UTFMax && !utf8.RuneStart(text[j]) {
		j++
	}
	return text[:i] + "\n" + text[j:]
}

// lengthClass packs a number of words into a byte: exact up to 128, in steps of 16 up to about
// 2,000, and then constant.
func lengthClass(n int) uint8 {
	if n <= 128 {
		return uint8(n)
	}
	return uint8(min(128+(n-128)/16, 255))
}

// lengthOf returns the number of words for a result of lengthClass.
func lengthOf(class uint8) float64 {
	if class <= 128 {
		return float64(class)
	}
	return float64(128 + (int(class)-128)*16)
}

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
	if o.Session != "" && session != o.Session || o.Except != "" && session == o.Except ||
		o.Role == roles[roleUser] && o.Workers[session] {
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
