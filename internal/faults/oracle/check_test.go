package oracle

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// agree fails unless each store has of each other one what that one has. Words that somebody has
// forgotten may be missing.
func (w *world) agree() {
	for _, owner := range w.stores {
		for session, want := range owner.now {
			for _, other := range w.stores {
				name := session + "@" + owner.name
				if other == owner ||
					other.gone[name] && !slices.Contains(other.sessions(true), name) {
					continue // one that was removed comes back when its owner goes on with it
				}
				got := other.log(name)
				if len(got) != len(want) {
					w.Errorf("seed %d: %s has %d messages of %s's %s, which has %d", w.seed,
						other.name, len(got), owner.name, session, len(want))
					continue
				}
				for i := range want {
					if got[i].ID != want[i].ID ||
						!same(got[i].Text, want[i].Text) && !w.forgot[want[i].ID] {
						w.Errorf("seed %d: message %d of %s's %s is %.12s %s, and %.12s %s at %s",
							w.seed, i, owner.name, session, want[i].ID, said(want[i].Text),
							got[i].ID, said(got[i].Text), other.name)
					}
				}
			}
		}
	}
}

// nowhere fails if a word that the one who said it has forgotten is anywhere: in the bytes of a
// file, or of what a zstd frame in it holds.
func (w *world) nowhere() {
	var words []string
	for _, s := range w.secret {
		words = append(words, s.word)
	}
	if len(words) == 0 {
		return
	}
	for _, p := range w.stores {
		w.search(filepath.Join(p.Dir, ".gemini"), words)
	}
	if w.git {
		w.gitSearch(w.place, words)
	} else {
		w.search(strings.TrimPrefix(w.place, "dir:"), words)
	}
}

func (w *world) search(root string, words []string) {
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
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

// gitSearch searches every object that the repository keeps once it has collected its garbage.
func (w *world) gitSearch(root string, words []string) {
	if out, err := exec.Command("git", "-C", root, "-c", "gc.pruneExpire=now", "gc", "-q",
		"--prune=now").CombinedOutput(); err != nil {
		w.Errorf("git gc: %v: %s", err, out)
	}
	b, err := exec.Command("git", "-C", root, "cat-file", "--batch", "--batch-all-objects").Output()
	if err != nil {
		w.Error(err)
	}
	w.holds(root, b, words)
}

// holds fails if bytes hold a word, as they are or unpacked.
func (w *world) holds(path string, b []byte, words []string) {
	texts := [][]byte{b}
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for rest := b; ; rest = rest[1:] {
		at := bytes.Index(rest, magic)
		if at < 0 {
			break
		}
		rest = rest[at:]
		d, err := zstd.NewReader(bytes.NewReader(rest), zstd.WithDecoderConcurrency(1))
		if err == nil {
			text, _ := io.ReadAll(d) // up to where the frame ends, or something else begins
			texts = append(texts, text)
			d.Close()
		}
	}
	for _, text := range texts {
		for _, word := range words {
			if bytes.Contains(text, []byte(word)) {
				w.Errorf("seed %d: %s holds the forgotten %s", w.seed, path, word)
				return
			}
		}
	}
}
