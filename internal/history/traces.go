package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/bits"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/objects"
)

// leastTraced is how many bytes words must have to be known again: what is shorter is said by
// anybody.
const leastTraced = 12

// Traces recognize forgotten words by their keyed digests.
type Traces struct {
	s       *Reader
	from    []uint64 // the operations that it was made of
	point   uint64   // of the rolling sum
	sources map[format.ID]bool
	texts   map[uint64]sums
	Phrases map[uint64]sums
}

// sums are the traces of one length: by the rolling sum the digests.
type sums map[uint64][]format.ID

// NewTraces returns traces that recognize nothing yet. Errors are those of repo.Key.
func (s *Reader) NewTraces() (*Traces, error) {
	point, err := s.Keyed("forgotten roll", nil)
	if err != nil {
		return nil, err
	}
	return &Traces{
		s: s, point: binary.BigEndian.Uint64(point[:8]) % rollPrime,
		sources: map[format.ID]bool{}, texts: map[uint64]sums{}, Phrases: map[uint64]sums{},
	}, nil
}

// Add has the traces recognize what one operation forgot.
func (w *Traces) Add(f *format.Forgotten) {
	for _, id := range f.Sources {
		w.sources[id] = true
	}
	put := func(into map[uint64]sums, list []format.Trace) {
		for _, t := range list {
			if into[t.Size] == nil {
				into[t.Size] = sums{}
			}
			into[t.Size][t.Roll] = append(into[t.Size][t.Roll], t.Digest)
		}
	}
	put(w.texts, f.Texts)
	put(w.Phrases, f.Phrases)
}

// source is the keyed digest of a source.
func (w *Traces) source(key [16]byte) (format.ID, error) { return w.s.SourceDigest(key) }

// Trace returns the trace of some words. Errors are those of repo.Key.
func (w *Traces) Trace(b []byte) (format.Trace, error) {
	digest, err := w.s.Keyed("forgotten text", b)
	return format.Trace{Size: uint64(len(b)), Roll: w.roll(b), Digest: digest}, err
}

// TraceEntry adds the traces of an entry's source and, if asked, of its words to f. It adds nothing
// for an entry whose words are gone.
func (w *Traces) TraceEntry(f *format.Forgotten, id format.ID, words bool) error {
	raw, err := w.s.Objects.Get(id)
	if objects.IsGone(err) || errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	body, ok, err := format.HeaderBody(raw.Header)
	if err != nil || !ok {
		return err
	}
	if key, ok := format.SourceKey(raw.Header); ok {
		source, err := w.source(key)
		if err != nil {
			return err
		}
		f.Sources = append(f.Sources, source)
	}
	if !words {
		return nil
	}
	for _, form := range formsOf(raw.Text(), body.Media) {
		trace, err := w.Trace(form)
		if err != nil {
			return err
		}
		f.Texts = append(f.Texts, trace)
	}
	return nil
}

// rollPrime is 2⁶¹−1, in which a product is reduced by shifts.
const rollPrime = 1<<61 - 1

func rollMul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return rollAdd(lo&rollPrime, lo>>61|hi<<3)
}

func rollAdd(a, b uint64) uint64 {
	c := a + b
	if c >= rollPrime {
		c -= rollPrime
	}
	return c
}

func (w *Traces) roll(b []byte) uint64 {
	h := uint64(0)
	for _, c := range b {
		h = rollAdd(rollMul(h, w.point), uint64(c)+1)
	}
	return h
}

// Has reports whether b as a whole is one of the traced words.
func (w *Traces) Has(of map[uint64]sums, b []byte) bool {
	list, ok := of[uint64(len(b))]
	return ok && w.proves(list[w.roll(b)], b)
}

func (w *Traces) proves(digests []format.ID, b []byte) bool {
	if len(digests) == 0 {
		return false
	}
	digest, err := w.s.Keyed("forgotten text", b)
	return err == nil && slices.Contains(digests, digest)
}

// within reports whether some of the words stand anywhere in b.
func (w *Traces) within(of map[uint64]sums, b []byte) bool {
	for size, list := range of {
		if size > uint64(len(b)) {
			continue
		}
		n, top := int(size), uint64(1)
		for range n - 1 {
			top = rollMul(top, w.point)
		}
		h := w.roll(b[:n])
		for end := n; ; end++ {
			if w.proves(list[h], b[end-n:end]) {
				return true
			}
			if end == len(b) {
				break
			}
			first := rollMul(uint64(b[end-n])+1, top)
			h = rollAdd(rollMul(rollAdd(h, rollPrime-first), w.point), uint64(b[end])+1)
		}
	}
	return false
}

// InMessage reports whether a message is one that was forgotten, by its words or its source, or
// holds a forgotten phrase.
func (w *Traces) InMessage(text []byte, media string, key [16]byte, sourced bool) (bool, error) {
	if sourced && len(w.sources) > 0 {
		id, err := w.source(key)
		if err != nil || w.sources[id] {
			return err == nil, err
		}
	}
	for _, form := range formsOf(text, media) {
		if w.Has(w.texts, form) {
			return true, nil
		}
	}
	if len(w.Phrases) == 0 {
		return false, nil
	}
	return w.InAny(w.Phrases, text), nil
}

// InObject reports whether an object that comes from elsewhere, with its body, is what was
// forgotten, or holds it. e is the entry that it is; nil for another object. A nil *Traces
// recognizes nothing.
func (w *Traces) InObject(e *format.Entry, raw format.Raw) (bool, error) {
	if w == nil {
		return false, nil
	}
	if e == nil || e.Body == nil {
		return w.InBytes(raw.Text()), nil
	}
	key, sourced := format.SourceKey(raw.Header)
	return w.InMessage(raw.Text(), e.Body.Media, key, sourced)
}

// InAny reports whether traced words stand anywhere in b or, where b is JSON, in one of its
// strings.
func (w *Traces) InAny(of map[uint64]sums, b []byte) bool {
	found := w.within(of, b)
	jsonvalue.Texts(b, func(text string) { found = found || w.within(of, []byte(text)) })
	return found
}

// InAnswer reports whether a text holds a forgotten phrase or a whole forgotten message. A nil
// *Traces recognizes nothing.
func (w *Traces) InAnswer(text string) bool {
	return w != nil && (w.InAny(w.texts, []byte(text)) || w.InAny(w.Phrases, []byte(text)))
}

// mostSmall bounds the files outside of objects/ that are read as a whole: a segment of the log has
// some 4 MiB.
const mostSmall = 1 << 30

// InFile reports whether a file outside of the objects holds what was forgotten. A missing file
// does not.
func (w *Traces) InFile(path string) (bool, error) {
	b, err := durable.ReadAtMost(path, mostSmall)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return w.InBytes(b), nil
}

// InBytes reports whether b holds what was forgotten.
func (w *Traces) InBytes(b []byte) bool { return w.within(w.texts, b) || w.within(w.Phrases, b) }

// InRecord reports whether a phrase stands in a stored header, in the text of a stored body, or in
// a decoded name of either. A nonce is no text: with the first letters of the text behind it, it
// can be the phrase by chance.
func (w *Traces) InRecord(r format.Raw) bool {
	return len(w.Phrases) > 0 && (w.inNamed(r.Header) || w.inNamed(r.Text()))
}

func (w *Traces) inNamed(b []byte) bool {
	if w.InAny(w.Phrases, b) {
		return true
	}
	if !bytes.Contains(b, []byte{'%'}) {
		return false
	}
	for field := range bytes.FieldsSeq(b) {
		if name, err := format.DecodeName(string(field)); err == nil &&
			w.within(w.Phrases, []byte(name)) {
			return true
		}
	}
	return false
}

// formsOf are the forms in which a message is known again: as it is stored, and its words.
func formsOf(text []byte, media string) [][]byte {
	forms := [][]byte{bytes.TrimSpace(text)}
	if media == format.MediaParts {
		forms = append(forms, bytes.TrimSpace([]byte(Words(text))))
	}
	return slices.DeleteFunc(forms, func(b []byte) bool { return len(b) < leastTraced })
}
