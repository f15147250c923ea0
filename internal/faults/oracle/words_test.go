package oracle

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// search fails if a file under a directory holds one of the words.
func (w *world) search(root string, words []string) {
	w.Helper()
	if len(words) == 0 {
		return
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "remote-") {
			return filepath.SkipDir // the copy of a git repository, which copied looks into
		}
		if err != nil || !d.Type().IsRegular() {
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil {
			w.holds(path, b, words)
		}
		return err
	})
	if err != nil {
		w.Error(err)
	}
}

// holds fails if bytes hold a word, as they are or unpacked.
func (w *world) holds(path string, b []byte, words []string) {
	w.Helper()
	if found := wordsIn(b, words); len(found) > 0 {
		w.Errorf("seed %d, command %d: %s holds the forgotten %s", w.seed, w.commands, path,
			found[0])
	}
}

// wordsIn returns the words that bytes hold, as they are or in a zstd frame.
func wordsIn(b []byte, words []string) (found []string) {
	texts := [][]byte{b}
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for rest := b; ; rest = rest[1:] {
		at := bytes.Index(rest, magic)
		if at < 0 {
			break
		}
		rest = rest[at:]
		texts = append(texts, unpack(rest))
	}
	for _, word := range words {
		if slices.ContainsFunc(texts,
			func(text []byte) bool { return bytes.Contains(text, []byte(word)) }) {
			found = append(found, word)
		}
	}
	return found
}

var decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))

// unpack returns what a zstd frame at the beginning of bytes holds, up to where it ends or
// something else begins.
func unpack(b []byte) []byte {
	if err := decoder.Reset(bytes.NewReader(b)); err != nil {
		return nil
	}
	var out bytes.Buffer
	_, _ = decoder.WriteTo(&out)
	return out.Bytes()
}
