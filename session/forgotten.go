package session

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
)

// Files of what was forgotten, under absent/. unfinishedForget is that of a forget which is under way, or which a crash cut short.
const (
	absentDir        = "absent"
	unfinishedForget = "unfinished"
	forgetPrefix     = "forget-"
	MaxForgetFile    = format.MaxHeader + 100 // the most bytes of one
)

// ForgottenName is the name, under the store's directory, of the file of what operation n forgot.
func ForgottenName(n uint64) string {
	return absentDir + "/" + forgetPrefix + strconv.FormatUint(n, 10)
}

// forgetFiles lists the files of what was forgotten, by the numbers of their operations, and whether there is an unfinished one.
func (s *Store) forgetFiles() (numbers []uint64, unfinished bool, err error) {
	dir, err := os.Open(filepath.Join(s.Dir, absentDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, false, fmt.Errorf("cannot look for what was forgotten: %w", err)
	}
	for _, name := range names {
		unfinished = unfinished || name == unfinishedForget
		if digits, ok := strings.CutPrefix(name, forgetPrefix); ok {
			if n, err := strconv.ParseUint(digits, 10, 64); err == nil && strconv.FormatUint(n, 10) == digits {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers, unfinished, nil
}

// readForgotten reads one of them.
func (s *Store) readForgotten(name string) (*format.Forgotten, error) {
	path := filepath.Join(s.Dir, filepath.FromSlash(name))
	b, err := lock.ReadAtMost(path, MaxForgetFile)
	if err != nil {
		return nil, err
	}
	f, err := format.DecodeForgotten(b)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return f, nil
}

// Forgotten returns what operation n forgot; fs.ErrNotExist where it forgot nothing.
func (s *Store) Forgotten(n uint64) (*format.Forgotten, error) {
	return s.readForgotten(ForgottenName(n))
}

// forgets returns what knows forgotten words when they come again; nil where nothing was ever forgotten.
func (s *Store) forgets() (*traces, error) {
	numbers, _, err := s.forgetFiles()
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	s.mu.Lock()
	known := s.traced
	s.mu.Unlock()
	if known != nil && slices.Equal(known.from, numbers) {
		return known, nil
	}
	w, err := s.newTraces()
	if err != nil {
		return nil, err
	}
	w.from = numbers
	for _, n := range numbers {
		f, err := s.Forgotten(n)
		if err != nil {
			return nil, fmt.Errorf("cannot read what was forgotten: %w", err)
		}
		w.add(f)
	}
	s.mu.Lock()
	s.traced = w
	s.mu.Unlock()
	return w, nil
}

// Forgets returns the numbers of the operations that forgot something, in order. An unfinished one is not among them.
func (s *Store) Forgets() ([]uint64, error) {
	numbers, _, err := s.forgetFiles()
	return numbers, err
}

// UnfinishedName is the file of a forget that is under way, or was cut short.
func UnfinishedName() string { return absentDir + "/" + unfinishedForget }

// Unfinished returns what a forget that was cut short had begun to forget; nil where there is none.
func (s *Store) Unfinished() (*format.Forgotten, error) {
	f, err := s.readForgotten(UnfinishedName())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// ForgetMark returns a number that is another one once something was forgotten since.
func (s *Store) ForgetMark() (int, error) {
	numbers, unfinished, err := s.forgetFiles()
	if unfinished {
		return -1, err // whoever takes the lock finishes it
	}
	return len(numbers), err
}

// leastTraced is how many bytes words must have to be known again: what is shorter is said by anybody.
const leastTraced = 12

// traces know words by their keyed digests.
type traces struct {
	s       *Store
	from    []uint64 // the operations that it was made of
	point   uint64   // of the rolling sum
	sources map[format.ID]bool
	texts   map[uint64]sums
	phrases map[uint64]sums
}

// sums are the traces of one length: by the rolling sum the digests.
type sums map[uint64][]format.ID

func (s *Store) newTraces() (*traces, error) {
	point, err := s.Keyed("forgotten roll", nil)
	if err != nil {
		return nil, err
	}
	return &traces{
		s: s, point: binary.BigEndian.Uint64(point[:8]) % rollPrime,
		sources: map[format.ID]bool{}, texts: map[uint64]sums{}, phrases: map[uint64]sums{},
	}, nil
}

func (w *traces) add(f *format.Forgotten) {
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
	put(w.phrases, f.Phrases)
}

// source is the keyed digest of a source.
func (w *traces) source(key [16]byte) (format.ID, error) { return w.s.SourceDigest(key) }

// SourceDigest is the keyed digest of a source key (format.SourceKey), as the files of what was forgotten have it. Errors are those
// of repo.Key.
func (s *Store) SourceDigest(key [16]byte) (format.ID, error) {
	return s.Keyed("forgotten source", key[:])
}

// trace is how words are known again.
func (w *traces) trace(b []byte) (format.Trace, error) {
	digest, err := w.s.Keyed("forgotten text", b)
	return format.Trace{Size: uint64(len(b)), Roll: w.roll(b), Digest: digest}, err
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

func (w *traces) roll(b []byte) uint64 {
	h := uint64(0)
	for _, c := range b {
		h = rollAdd(rollMul(h, w.point), uint64(c)+1)
	}
	return h
}

// has reports whether b is one of the words as a whole.
func (w *traces) has(of map[uint64]sums, b []byte) bool {
	list, ok := of[uint64(len(b))]
	return ok && w.proves(list[w.roll(b)], b)
}

func (w *traces) proves(digests []format.ID, b []byte) bool {
	if len(digests) == 0 {
		return false
	}
	digest, err := w.s.Keyed("forgotten text", b)
	return err == nil && slices.Contains(digests, digest)
}

// within reports whether some of the words stand anywhere in b.
func (w *traces) within(of map[uint64]sums, b []byte) bool {
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

// inMessage reports whether a message says what was forgotten.
func (w *traces) inMessage(text []byte, media string, key [16]byte, sourced bool) (bool, error) {
	if sourced && len(w.sources) > 0 {
		id, err := w.source(key)
		if err != nil || w.sources[id] {
			return err == nil, err
		}
	}
	for _, form := range formsOf(text, media) {
		if w.has(w.texts, form) {
			return true, nil
		}
	}
	if len(w.phrases) == 0 {
		return false, nil
	}
	return w.inAny(w.phrases, text), nil
}

// inAny looks for words in bytes, and in the strings of what these are as JSON.
func (w *traces) inAny(of map[uint64]sums, b []byte) bool {
	found := w.within(of, b)
	eachString(b, func(text string) { found = found || w.within(of, []byte(text)) })
	return found
}

// inAnswer reports whether a text that somebody brings holds what was forgotten, whole messages included. A nil *traces knows nothing.
func (w *traces) inAnswer(text string) bool {
	return w != nil && (w.inAny(w.texts, []byte(text)) || w.inAny(w.phrases, []byte(text)))
}

// CheckForgotten returns ErrGone for bytes that hold a phrase that was forgotten: for what is stored and is no message.
func (s *Store) CheckForgotten(b []byte) error {
	w, err := s.forgets()
	if err != nil || w == nil || !w.inAny(w.phrases, b) {
		return err
	}
	return fmt.Errorf("%w: it holds what was forgotten, and is not stored", ErrGone)
}

// formsOf are the forms in which a message is known again: as it is stored, and its words.
func formsOf(text []byte, media string) [][]byte {
	forms := [][]byte{bytes.TrimSpace(text)}
	if media == format.MediaParts {
		forms = append(forms, bytes.TrimSpace([]byte(Words(text))))
	}
	return slices.DeleteFunc(forms, func(b []byte) bool { return len(b) < leastTraced })
}

// eachString calls fn for every string of a JSON value, keys included, and of those that are JSON themselves; for nothing where b is none.
func eachString(b []byte, fn func(string)) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '[' && b[0] != '{' {
		return
	}
	d := json.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		if text, ok := token.(string); ok {
			fn(text)
			eachString([]byte(text), fn)
		}
	}
}
