package session_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/view"
)

// told is what a model believes, by key.
type told map[string]string

// moment is a state of a session in the model: its messages, and what the model was told before
// each of them and at the end. nil is never told anything.
type moment struct {
	texts  []string
	before []told
	now    told
}

// Random histories of observing, saying, rewinding, undoing, redoing, compacting and starting anew,
// against a model that knows nothing of blocks, folds and refs. After every step who reads what is
// rendered, from its first line to its last, believes what the model says.
func TestEpochHistories(t *testing.T) {
	seen := &tally{count: map[string]int{}}
	t.Cleanup(func() { t.Log(seen) })
	for _, seed := range histories(t, 20, 8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &teller{world: newWorld(t, uint64(seed)), keys: strings.Fields("k/a k/b k/c")}
			w.tally = seen
			for range 40 {
				w.step()
				w.check()
			}
			report, err := fsck.Run(bg, w.s.Opened, fsck.Options{})
			w.must(err)
			if len(report.Faults) > 0 {
				w.fatal("fsck: %v", report.Faults)
			}
		})
	}
}

type teller struct {
	*world
	keys        []string
	m           moment
	past, ahead []moment
}

func (w *teller) did(m moment) {
	w.past, w.ahead, w.m = append(w.past, w.m), nil, m
}

func (w *teller) step() {
	switch n := w.r.IntN(20); {
	case n < 7:
		w.say(1 + w.r.IntN(3))
	case n < 13:
		w.observe()
	case n < 15 && len(w.m.texts) > 0:
		w.rewind()
	case n == 15:
		w.turn("undo", &w.past, &w.ahead)
	case n == 16:
		w.turn("redo", &w.ahead, &w.past)
	case n == 17 && len(w.m.texts) > 0:
		w.note("compact")
		_, err := w.s.Compaction.Compact(bg,
			compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
				Branch: history.MainBranch}}})
		w.must(err)
	default:
		w.note("reopen")
		w.must(os.RemoveAll(filepath.Join(w.s.Dir, "cache")))
		w.s = w.open(w.s.Dir)
	}
}

func (w *teller) say(n int) {
	w.note("say %d", n)
	m := moment{slices.Clone(w.m.texts), slices.Clone(w.m.before), w.m.now}
	var batch []conversation.Message
	for range n {
		batch = append(batch, conversation.Message{Role: "user", Text: w.text()})
		m.texts, m.before = append(m.texts, batch[len(batch)-1].Text), append(m.before, w.m.now)
	}
	_, _, err := w.s.Conversation.Append(bg, "talk", history.MainBranch, batch,
		conversation.AppendOptions{})
	w.must(err)
	w.did(m)
}

func (w *teller) observe() {
	now, blocked := told{}, false
	maps.Copy(now, w.m.now)
	var lines []string
	for _, k := range w.keys {
		switch n := w.r.IntN(9); {
		case n == 0:
			lines = append(lines, fmt.Sprintf(`{"key":%q,"unavailable":true}`, k))
			blocked = blocked || w.m.now == nil
		case n == 1:
			lines = append(lines, fmt.Sprintf(`{"key":%q,"removed":true}`, k))
			delete(now, k)
		case n > 2:
			v := fmt.Sprint(w.r.IntN(3))
			lines = append(lines,
				fmt.Sprintf(
					`{"key":%q,"value":%s,"first":"%s=%s","changed":"%s=%s","removed_text":"%s="}`,
					k, v, k, v, k, v, k))
			now[k] = v
		}
	}
	if len(lines) == 0 {
		return
	}
	w.note("observe %s", strings.Join(lines, " "))
	set, err := epoch.Read([]byte(strings.Join(lines, "\n")))
	w.must(err)
	before := w.view().Number
	done, err := w.s.Epochs.Observe(bg, "talk", history.MainBranch, set, epochs.ObserveOptions{})
	if blocked != (err != nil) {
		w.fatal("blocked %v, error %v", blocked, err)
	}
	changed := !blocked && (w.m.now == nil || !maps.Equal(now, w.m.now))
	if wrote := w.view().Number != before; wrote != changed ||
		!blocked && changed == (done.Result == epoch.Unchanged) {
		w.fatal("changed %v, wrote %v: %+v", changed, wrote, done)
	}
	if changed {
		w.tally.add(done.Result, 1)
		w.did(moment{w.m.texts, w.m.before, now})
	}
}

func (w *teller) rewind() {
	at := max(0, len(w.m.texts)-1-w.r.IntN(9))
	w.note("rewind to %d", at)
	list, err := w.s.Recall.Log(w.view().Get(history.RefName("talk", history.MainBranch)).ID,
		recall.LogOptions{})
	w.must(err)
	_, err = w.s.Conversation.Rewind(bg, "talk", history.MainBranch, list[at].ID,
		conversation.RewindOptions{})
	w.must(err)
	w.did(moment{w.m.texts[:at:at], w.m.before[:at:at], w.m.before[at]})
}

func (w *teller) turn(verb string, from, to *[]moment) {
	w.note("%s", verb)
	do := w.s.Conversation.Undo
	if verb == "redo" {
		do = w.s.Conversation.Redo
	}
	_, err := do(bg, "talk")
	n := len(*from)
	if (err == nil) != (n > 0) {
		w.fatal("%d to %s, error %v", n, verb, err)
	}
	if n > 0 {
		*to, w.m, *from = append(*to, w.m), (*from)[n-1], (*from)[:n-1]
	}
}

func (w *teller) check() {
	v := w.view()
	if !v.Get(history.RefName("talk", history.MainBranch)).Exists() {
		if len(w.m.texts) > 0 || w.m.now != nil {
			w.fatal("no branch")
		}
		return
	}
	in, err := w.s.Recall.RenderInput(v, "talk", history.MainBranch, view.Options{})
	w.must(err)
	out, err := view.Render(in, view.Options{})
	w.must(err)
	got := told{}
	for line := range strings.Lines(string(out.Bytes)) {
		if k, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok &&
			slices.Contains(w.keys, k) {
			got[k] = value
			if value == "" {
				delete(got, k)
			}
		}
	}
	if !maps.Equal(got, w.m.now) {
		w.fatal("was told %v, believes %v\n%s", w.m.now, got, out.Bytes)
	}
	if has := v.Get(epochs.EpochRef("talk", history.MainBranch)).Exists(); has != (w.m.now != nil) {
		w.fatal("an epoch: %v, was told %v", has, w.m.now)
	}
	shown, err := w.s.Recall.EpochAt(v.Get(history.RefName("talk", history.MainBranch)).ID)
	w.must(err)
	believed := told{}
	for _, k := range shown.Current {
		if !k.Blob.IsZero() {
			believed[k.Key] = string(k.Value)
		}
	}
	if !maps.Equal(believed, w.m.now) ||
		len(shown.Updates) != strings.Count(string(out.Bytes), "<system-update>") {
		w.fatal("was told %v, the epoch says %v, with %d updates\n%s", w.m.now, believed,
			len(shown.Updates), out.Bytes)
	}
	w.tally.add("updates rendered", len(shown.Updates))
	if shown.Step == "fold" {
		w.tally.add("rendered after a fold", 1)
	}
}
