package e2e

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// places are the files of the store that hold a text, as it is or in a frame of zstd.
func (w *world) places(text string) (list []string) {
	w.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		w.Fatal(err)
	}
	defer d.Close()
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	err = filepath.WalkDir(w.store(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found := bytes.Contains(b, []byte(text))
		for rest := b; !found; {
			at := bytes.Index(rest, magic)
			if at < 0 {
				break
			}
			end := len(rest)
			if next := bytes.Index(rest[at+1:], magic); next >= 0 {
				end = at + 1 + next
			}
			// What comes behind a frame is no frame: what it says is there before the error.
			raw, _ := d.DecodeAll(rest[at:end], nil)
			found = bytes.Contains(raw, []byte(text))
			rest = rest[at+1:]
		}
		if found {
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return list
}

// A prompt, an answer and a result that are forgotten leave no byte in the store, in its caches or
// in an export, though the newest clients write copies of them, and the transcript is read again.
// The command says which files of the client stay.
func TestForgottenIsGone(t *testing.T) {
	for _, c := range liveClients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.client)
			w.run("ctx", "install", c.name)
			w.write("../project/"+noteFile, "The pump hides behind the third bulkhead.\n")
			w.run(c.prompt(saidTag + "confidential: where is the pump? " + runTool)...)
			session := w.only()
			said := w.server.recorded(0)
			answer, _, _ := strings.Cut(said[len(said)-1].text, ":")
			texts := []string{saidTag + "confidential", answer + ":", "behind the third bulkhead"}
			w.run(c.again(session, saidTag+"second: and the valve?")...)
			w.run("ctx", "search", "bulkhead")
			args := []string{"ctx", "forget", "--force"}
			for line := range strings.Lines(w.run("ctx", "log", session, "--json")) {
				var m struct{ ID, Kind, Text string }
				if err := json.Unmarshal([]byte(line), &m); err != nil {
					t.Fatal(err)
				}
				if m.Kind == "message" && slices.ContainsFunc(texts,
					func(text string) bool { return strings.Contains(m.Text, text) }) {
					args = append(args, m.ID)
				}
			}
			if len(args) != 6 {
				t.Errorf("%d messages have the texts, not 3", len(args)-3)
			}
			for _, text := range texts {
				if len(w.places(text)) == 0 {
					t.Errorf("%q is nowhere in the store before it is forgotten", text)
				}
			}
			w.run(args...)
			if c.export == nil {
				w.run("ctx", "import", "--all")
			}
			w.run(c.again(session, saidTag+"third: and the seal?")...)
			w.run("ctx", "gc")
			export := w.run("ctx", "export", "-s", session, "--format", c.name)
			for _, text := range texts {
				if list := w.places(text); len(list) > 0 {
					t.Errorf("%q is still in %q", text, list)
				}
				if _, after, found := strings.Cut(export, text); found {
					t.Errorf("%q is in the export, before:\n%s", text, cut(after))
				}
			}
			w.run("ctx", "fsck")
		})
	}
}
