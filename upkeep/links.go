package upkeep

import (
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// kind is what an object is. An edge has edgeKinds bits for it.
type kind uint8

const (
	entryKind kind = iota
	blobKind
	nodeKind
	summaryKind
	forestKind
	pageKind
	tombstoneKind
	epochKind
	anyKind // of a name that says nothing about the kind; of an object that this build cannot read. No edge has it
)

// A kind that does not fit into an edge does not compile: the length of the array is negative then.
var _ [1<<edgeKinds - int(anyKind)]struct{}

// kinds are the names of all kinds, as a header begins with them, and how a header of each is read.
var kinds = [anyKind]struct {
	name  string
	parse func(header []byte) (parsed, error)
}{
	entryKind:     {"entry", parseEntry},
	blobKind:      {"blob", parseBlob},
	nodeKind:      {"node", parseNode},
	summaryKind:   {"summary", parseSummary},
	forestKind:    {"forest", parseForest},
	pageKind:      {"page", parsePage},
	tombstoneKind: {"tombstone", parseTombstone},
	epochKind:     {"epoch", parseEpoch},
}

func (k kind) String() string {
	if k >= anyKind {
		return "object"
	}
	return kinds[k].name
}

// link is an object that a header names, and what it must be.
type link struct {
	id   format.ID
	want kind
}

// parsed is what a walk needs of a header.
type parsed struct {
	kind    kind
	message bool   // of an entry: it counts in seq
	seq     uint64 // of an entry
	parents int    // the first so many links are parents
	links   []link
	encode  func() ([]byte, error)
}

// parse reads a header of any kind. *format.VersionError says that a newer build wrote it.
func parse(header []byte) (parsed, error) {
	name, version, err := format.HeaderKind(header)
	if err != nil {
		return parsed{}, err
	}
	for _, k := range kinds {
		if k.name == name {
			return k.parse(header)
		}
	}
	return parsed{}, fmt.Errorf("kind of object: %w", &format.VersionError{What: name, Got: version})
}

func (p *parsed) add(id format.ID, want kind) {
	if !id.IsZero() {
		p.links = append(p.links, link{id, want})
	}
}

func parseBlob(header []byte) (parsed, error) {
	body, err := format.DecodeBlob(header)
	return parsed{kind: blobKind, encode: func() ([]byte, error) { return format.EncodeBlob(body) }}, err
}

func parseEntry(header []byte) (parsed, error) {
	e, err := format.DecodeEntry(header)
	if err != nil {
		return parsed{}, err
	}
	p := parsed{kind: entryKind, message: e.Kind == format.KindMessage, seq: e.Seq, parents: len(e.Parents), encode: e.Encode}
	for _, id := range e.Parents {
		p.add(id, entryKind)
	}
	p.add(e.Amends, entryKind)
	p.add(e.Left, entryKind)
	p.add(e.Epoch, epochKind)
	return p, nil
}

func parseNode(header []byte) (parsed, error) {
	n, err := format.DecodeNode(header)
	if err != nil {
		return parsed{}, err
	}
	p := parsed{kind: nodeKind, encode: n.Encode}
	want := nodeKind
	if n.Level == 0 {
		want = entryKind
	}
	for _, id := range n.Children {
		p.add(id, want)
	}
	return p, nil
}

func parseSummary(header []byte) (parsed, error) {
	s, err := format.DecodeSummary(header)
	if err != nil {
		return parsed{}, err
	}
	p := parsed{kind: summaryKind, encode: s.Encode}
	p.add(s.Node, nodeKind)
	for _, in := range s.Inputs {
		if in.Summary {
			p.add(in.ID, summaryKind)
		} else {
			p.add(in.ID, nodeKind)
		}
	}
	return p, nil
}

func parseForest(header []byte) (parsed, error) {
	f, err := format.DecodeForest(header)
	if err != nil {
		return parsed{}, err
	}
	p := parsed{kind: forestKind, encode: f.Encode}
	for _, c := range f.Clusters {
		p.add(c.Node, nodeKind)
		for _, v := range c.Covers {
			p.add(v.Summary, summaryKind)
		}
	}
	p.add(f.Tombs, pageKind)
	return p, nil
}

func parsePage(header []byte) (parsed, error) {
	page, err := format.DecodePage(header)
	if err != nil {
		return parsed{}, err
	}
	p := parsed{kind: pageKind, encode: page.Encode}
	want := pageKind
	if page.Level == 0 {
		want = tombstoneKind
	}
	for _, s := range page.Slots {
		p.add(s.ID, want)
	}
	return p, nil
}

func parseTombstone(header []byte) (parsed, error) {
	t, err := format.DecodeTombstone(header)
	if err != nil {
		return parsed{}, err
	}
	p := parsed{kind: tombstoneKind, encode: t.Encode}
	p.add(t.Node, nodeKind)
	p.add(t.Summary, summaryKind)
	return p, nil
}

func parseEpoch(header []byte) (parsed, error) {
	e, err := format.DecodeEpoch(header)
	if err != nil {
		return parsed{}, err
	}
	p := parsed{kind: epochKind, encode: e.Encode}
	for _, t := range e.Initial {
		p.add(t.Value, blobKind)
		p.add(t.Text, blobKind)
	}
	for _, b := range e.Current {
		for _, id := range []format.ID{b.Value, b.First, b.Gone} {
			p.add(id, blobKind)
		}
	}
	return p, nil
}

// sortedIDs puts ids in order, in place.
func sortedIDs(ids []format.ID) []format.ID {
	slices.SortFunc(ids, format.ID.Compare)
	return ids
}
