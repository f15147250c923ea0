package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// For the tests of package format_test.
var (
	KindNamed  = kindNamed
	ParseValue = parseValue
)

// DecodePackIndex reads a whole index. It checks the digest, the order, the limits, and that the
// bytes are the one accepted encoding. The entries are sorted by id. OpenPackIndex is for look-ups,
// which need only a small part of an index.
func DecodePackIndex(b []byte) (pack ID, entries []PackEntry, blocks []PackBlock, err error) {
	x, err := OpenPackIndex(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return ID{}, nil, nil, err
	}
	body := b[:len(b)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], b[len(body):]) {
		return ID{}, nil, nil, errors.New("pack index does not match its digest")
	}
	if blocks, err = x.Blocks(); err != nil {
		return ID{}, nil, nil, err
	}
	entries = make([]PackEntry, 0, x.Len())
	err = x.Each(0, func(id ID, at PackPlace) (bool, error) {
		entries = append(entries, PackEntry{ID: id, PackPlace: at})
		return true, nil
	})
	if err != nil {
		return ID{}, nil, nil, err
	}
	for i := range x.sources {
		s := binary.BigEndian.Uint64(b[x.sourcesAt()+int64(i)*idxSource:])
		n := int(uint32(s))
		if n >= len(entries) || entries[n].Sourced {
			return ID{}, nil, nil, errors.New("bad source table in a pack index")
		}
		entries[n].Sourced, entries[n].Tag = true, uint32(s>>32)
	}
	again, err := EncodePackIndex(x.Pack, entries, blocks)
	if err != nil {
		return ID{}, nil, nil, err
	}
	if !bytes.Equal(again, b) {
		return ID{}, nil, nil, errors.New("pack index is not in the one accepted encoding")
	}
	return x.Pack, entries, blocks, nil
}
