package refs

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/dense"
)

// packed is what the object stores of these tests have in packs: the objects id(0) to id(packed-1).
const packed = 3000

var byPrefix = func() map[dense.Prefix]format.ID {
	m := map[dense.Prefix]format.ID{}
	for n := range packed {
		m[prefixOf(id(n))] = id(n)
	}
	return m
}()

func (a anything) Resolve(prefixes []dense.Prefix, _ bool) ([][]format.ID, error) {
	found := make([][]format.ID, len(prefixes))
	for i, p := range prefixes {
		if id, ok := byPrefix[p]; ok && !a.missing[id] {
			found[i] = []format.ID{id}
		}
	}
	return found, nil
}

func (a anything) Packed(ids []format.ID) ([]bool, error) {
	there := make([]bool, len(ids))
	for i, id := range ids {
		there[i] = byPrefix[prefixOf(id)] == id && !a.missing[id]
	}
	return there, nil
}

func (anything) CompressLog(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(raw)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

func (anything) DecompressLog(size int, frame []byte) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(frame)), int64(size)+1))
	if err == nil && len(raw) != size {
		err = errors.New("another size")
	}
	return raw, err
}

func prefixOf(id format.ID) dense.Prefix { return dense.Prefix(id[:]) }
