package session_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

type ctx = context.Context

// pairNames are the features in the order in which docs/reliability.md has them.
var pairNames = []string{"rewind", "mask", "join", "replace", "epoch", "forget", "import"}

// TestPairs has every two of seven features meet in random histories, and every feature with
// itself. After every step the store is compared with a simple model. The seeds are fixed;
// CTX_HISTORIES sets how many each pair has.
func TestPairs(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("CTX_HISTORIES"))
	every := err == nil || testing.Short()
	n = max(n, 1)
	seen := &tally{count: map[string]int{}}
	t.Cleanup(func() { t.Log(seen) })
	pair := 0
	for i, first := range pairNames {
		for _, second := range pairNames[i:] {
			if pair++; !every && !thirds.Mine(t, pair) {
				continue
			}
			for seed := range n {
				t.Run(fmt.Sprintf("%s x %s/%d", first, second, seed), func(t *testing.T) {
					t.Parallel()
					w := newPairWorld(t, uint64(seed), seen)
					w.meet(pairFeatures[first], pairFeatures[second])
				})
			}
		}
	}
}

// meet runs a history in which two features take turns.
func (w *pairWorld) meet(first, second func(*pairWorld)) {
	w.say()
	w.runTool()
	for range 30 {
		switch w.r.IntN(4) {
		case 0:
			first(w)
		case 1:
			second(w)
		default:
			w.always()
		}
		w.check()
	}
	w.audit()
}

// check compares the store with the model.
func (w *pairWorld) check() {
	v, err := w.s.Refs.Read()
	w.must(err)
	names := v.Names("sessions/" + pairSession + "/")
	if len(names) != len(w.now.lines) {
		w.fatal("the session has %v, want %v", names, w.branches())
	}
	for _, branch := range w.branches() {
		w.checkLog(branch)
		w.checkRender(branch)
	}
	w.checkSearch()
}

// checkLog holds that a branch has its messages, in order, each with its words.
func (w *pairWorld) checkLog(branch string) {
	line := w.now.lines[branch]
	d := w.display(line)
	list, err := w.s.Recall.Log(w.tip(branch).ID, recall.LogOptions{})
	w.must(err)
	var got, want []string
	for _, shown := range list {
		text := "[gone]"
		if shown.Gone == "" {
			text = w.wordIn(shown.Text)
		}
		got = append(got, shown.ID.Short(8)+" "+text)
	}
	for _, u := range line.said {
		text := d.word[u]
		if w.goneUtterance(u) {
			text = "[gone]"
		}
		want = append(want, u.id.Short(8)+" "+text)
	}
	if !slices.Equal(got, want) {
		w.fatal("the log of %s is\n%s\nwant\n%s", branch, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// wordIn is the word of a message.
func (w *pairWorld) wordIn(text string) string {
	i := strings.Index(text, "word")
	if i < 0 || len(text) < i+9 {
		w.fatal("no word in %q", text)
	}
	return text[i : i+9]
}

// checkRender holds what a branch renders against its line: each message after the pin is shown as
// the line shows it, each before it is behind a cluster, and nothing is said that was rewound or
// forgotten.
func (w *pairWorld) checkRender(branch string) {
	v, err := w.s.Refs.Read()
	w.must(err)
	line := w.now.lines[branch]
	d := w.display(line)
	in, err := w.s.Recall.RenderInput(v, pairSession, branch, view.Options{})
	w.must(err)
	through := w.tip(branch).Through
	if through > uint64(len(line.said)) {
		w.fatal("%s: through %d of %d", branch, through, len(line.said))
	}
	var want, got []string
	said := map[*replacement]bool{}
	for _, u := range line.said[through:] {
		r := d.shows(u)
		if r != nil && said[r] {
			continue
		}
		if r != nil {
			said[r] = true
		}
		want = append(want, w.form(d, u))
	}
	for _, m := range tailOf(in) {
		switch {
		case m.Update:
		case m.Gone:
			got = append(got, "forgotten")
		case len(m.StandsFor) > 0:
			got = append(got, "replaced by "+strings.TrimPrefix(m.Text, "in short: "))
		case len(m.Masked) > 0:
			got = append(got, "masked "+w.wordIn(m.Text))
		default:
			got = append(got, w.wordIn(m.Text))
		}
	}
	if !slices.Equal(got, want) {
		w.fatal("%s shows after %d\n%s\nwant\n%s", branch, through, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	w.tally.add("messages shown", len(got))
	w.checkClusters(branch, v, in)
	for i, o := range []view.Options{{}, {Format: view.JSON}, {Format: view.Anthropic},
		{Budget: 400}} {
		if i > 0 {
			in, err = w.s.Recall.RenderInput(v, pairSession, branch, o)
			w.must(err)
		}
		out, err := view.Render(in, o)
		w.must(err)
		w.checkSays(branch, string(out.Bytes))
		if o.Format == view.Text && o.Budget == 0 {
			w.checkTold(branch, string(out.Bytes))
		}
	}
}

// checkClusters holds that every message before the pin is behind a cluster or a tombstone of it,
// and that these stand for messages that a branch has.
func (w *pairWorld) checkClusters(branch string, v *refs.View, in view.Input) {
	tip := v.Get(history.RefName(pairSession, branch))
	if tip.Pin.IsZero() {
		return
	}
	members := map[format.ID]bool{}
	add := func(id format.ID) {
		n := 0
		w.must(w.s.Recall.Expand(v, id, recall.ExpandOptions{}, func(shown *history.Shown) error {
			members[shown.ID] = true
			n++
			return nil
		}))
		if n == 0 {
			w.fatal("nothing is behind %v", id)
		}
	}
	for _, c := range in.Clusters {
		if in.Work == nil {
			add(c.ID)
		}
	}
	for _, s := range in.Tombstones {
		add(s.ID)
	}
	if in.Work != nil && tip.Through > 0 {
		add(tip.Pin)
	}
	for i, u := range w.now.lines[branch].said {
		if uint64(i) < tip.Through && !members[u.id] && in.OlderTombstones == 0 && in.Work == nil {
			w.fatal("%s: %s is before the pin, and behind no cluster", branch, u.word)
		}
	}
	w.tally.add("messages behind clusters", len(members))
}

// checkSays holds that a rendering says no word that was forgotten, that no branch has, or that is
// not in force.
func (w *pairWorld) checkSays(branch, text string) {
	for word := range w.gone {
		if strings.Contains(text, word) {
			w.fatal("%s says %s, which was forgotten:\n%s", branch, word, text)
		}
	}
	for _, u := range w.all {
		has := false
		for _, line := range w.now.lines {
			has = has || line.has(u)
		}
		if !has && strings.Contains(text, u.word) {
			w.fatal("%s says %s, which was rewound:\n%s", branch, u.word, text)
		}
	}
	line := w.now.lines[branch]
	d := w.display(line)
	force := w.inForce(d)
	for r := range w.replaces {
		if strings.Contains(text, r.word) && !slices.Contains(force, r) {
			w.fatal("%s says %s, which stands for nothing:\n%s", branch, r.word, text)
		}
	}
	for _, word := range w.told {
		has := slices.ContainsFunc(line.marks, func(m pairMark) bool { return m.word == word })
		if !has && strings.Contains(text, word) {
			w.fatal("%s says %s, which it was not told:\n%s", branch, word, text)
		}
	}
}

// checkTold holds that a rendering says what the model of the branch was told last.
func (w *pairWorld) checkTold(branch, text string) {
	newest := ""
	for _, m := range w.now.lines[branch].marks {
		if m.kind == "told" {
			newest = m.word
		}
	}
	if newest != "" && !w.gone[newest] && !strings.Contains(text, newest) {
		w.fatal("%s was told %s, and does not say it:\n%s", branch, newest, text)
	}
}

// checkSearch looks for the words of some messages.
func (w *pairWorld) checkSearch() {
	v, err := w.s.Refs.Read()
	w.must(err)
	if len(w.all) == 0 {
		return
	}
	for range 2 {
		u := w.all[w.r.IntN(len(w.all))]
		has := map[string]bool{}
		for _, line := range w.now.lines {
			if line.has(u) {
				has[w.display(line).word[u]] = !w.goneUtterance(u)
			}
		}
		for _, word := range w.versions[u] {
			hits, err := w.s.Recall.Search(v,
				find.SearchQuery{Text: `"` + word + `"`, Phrases: true, Limit: 3})
			w.must(err)
			found := slices.ContainsFunc(hits,
				func(h find.Hit) bool { return h.Shown != nil && strings.Contains(h.Text, word) })
			if len(has) < 2 && found != has[word] {
				w.fatal("search finds %s: %v, want %v", word, found, has[word])
			}
		}
	}
}

// audit holds that nothing is lost and nothing is left: every word that was said and not forgotten
// can be read, no byte of the store has what was forgotten, and fsck finds no fault.
func (w *pairWorld) audit() {
	report, err := fsck.Run(bg, w.s.Opened, fsck.Options{})
	w.must(err)
	if len(report.Faults) > 0 {
		w.fatal("fsck: %v", report.Faults)
	}
	v, err := w.s.Refs.Read()
	w.must(err)
	for _, u := range w.all {
		if u.id.IsZero() || w.goneUtterance(u) {
			continue
		}
		shown, err := w.s.History.Version(u.id, u.id)
		w.must(err)
		if !slices.Contains(w.versions[u], w.wordIn(shown.Text)) {
			w.fatal("%s is lost: %q", u.word, shown.Text)
		}
		w.must(w.s.Recall.Expand(v, u.id, recall.ExpandOptions{},
			func(*history.Shown) error { return nil }))
	}
	if _, ok := w.now.lines[history.MainBranch]; ok {
		w.checkExports()
	}
	for word := range w.gone {
		if at := bytesWith(w.T, w.s.Dir, word); at != "" {
			w.fatal("%s was forgotten, and is in %s", word, at)
		}
	}
}

// checkExports holds that main comes to another store as it is, but for what was forgotten.
func (w *pairWorld) checkExports() {
	var want []string
	line := w.now.lines[history.MainBranch]
	d := w.display(line)
	for _, u := range line.said {
		if !w.goneUtterance(u) {
			want = append(want, d.word[u])
		}
	}
	forms := map[string]struct {
		write func(io.Writer, transcript.WriteOptions) transcript.Writer
		read  func(io.Reader, func(transcript.Step) error) (transcript.Stats, error)
	}{
		"claude-code": {
			func(to io.Writer, o transcript.WriteOptions) transcript.Writer {
				return claudecode.NewWriter(to, o)
			},
			func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
				return claudecode.ReadAs("", r, emit)
			},
		},
		"jsonl": {
			func(to io.Writer, o transcript.WriteOptions) transcript.Writer {
				return shape.NewJSONLWriter(to, o)
			},
			shape.ReadJSONL,
		},
	}
	for name, form := range forms {
		var b bytes.Buffer
		out := form.write(&b,
			transcript.WriteOptions{Session: pairSession,
				Home: w.s.Exporter.TranscriptHome(pairSession), Dir: "/"})
		_, err := w.s.Exporter.Transcript(bg, w.view(), pairSession, history.MainBranch, 0,
			false, transcript.Origin{}, out, nil)
		w.must(err)
		other := newPairWorld(w.T, 0, w.tally)
		read := func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return form.read(&b, emit)
		}
		_, err = other.s.Importer.ImportTranscript(bg, read, pairSession)
		w.must(err)
		var got []string
		if tip := other.tip(history.MainBranch); tip.Exists() {
			list, err := other.s.Recall.Log(tip.ID, recall.LogOptions{})
			w.must(err)
			for _, shown := range list {
				got = append(got, w.wordIn(shown.Text))
			}
		}
		if !slices.Equal(got, want) {
			w.fatal("%s brings\n%v\nwant\n%v", name, got, want)
		}
	}
}

// bytesWith is a file of a store in which a word stands, packed or not; "" for none.
func bytesWith(t *testing.T, dir, word string) (at string) {
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(b, []byte(word)) {
			at = path
		}
		if filepath.Ext(path) != ".pack" {
			return nil
		}
		_, err = pack.Walk(bufio.NewReader(bytes.NewReader(b)),
			int64(len(b)), func(_ pack.Key, _ pack.Block, frame []byte) error {
				raw, err := d.DecodeAll(frame, nil)
				if bytes.Contains(raw, []byte(word)) {
					at = path
				}
				return err
			})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}
