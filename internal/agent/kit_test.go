package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Format is one agent's transcripts.
type Format struct {
	Dir  string // of its fixtures
	Read func(io.Reader, func(transcript.Step) error) (transcript.Stats, error)
	// Write is nil for an agent whose transcripts are read only.
	Write func([]transcript.Item, transcript.WriteOptions) ([]byte, transcript.Written, error)
	// Whole says that the transcript is one document, which says nothing before it is whole.
	Whole bool
	// Again says that a conversation, once it was written, keeps its words but not the names of
	// messages.
	Lossy bool
	// Tree says that what a record follows decides where it stands: a beginning need not give the
	// first steps, but the same messages.
	Tree bool
	// List says that the transcript is a JSON list, of which a beginning says what is whole.
	List bool
	// Want is what the reader says of its fixtures, beside the traces; nil for none. Dropped are
	// strings of these that need not come back.
	Want    map[string]Expected
	Dropped []string
	// Others are the changes with which Others are written, and Pieces what is then there at least
	// so often.
	Others map[string]int
	Pieces map[string]int
}

// Write returns the Format.Write of an agent's NewWriter.
func Write(
	open func(io.Writer, transcript.WriteOptions) transcript.Writer,
) func([]transcript.Item, transcript.WriteOptions) ([]byte, transcript.Written, error) {
	return func(items []transcript.Item,
		o transcript.WriteOptions) ([]byte, transcript.Written, error) {
		var b bytes.Buffer
		w := open(&b, o)
		for _, it := range items {
			if err := w.Add(it); err != nil {
				return nil, transcript.Written{}, err
			}
		}
		done, err := w.Close()
		return b.Bytes(), done, err
	}
}

// CheckErrors reads in, in which something is said, with an emit that fails, and from an input that
// breaks: both errors come back.
func (f *Format) CheckErrors(t *testing.T, in string) {
	t.Helper()
	stop := errors.New("stop")
	if _, err := f.Read(strings.NewReader(in),
		func(transcript.Step) error { return stop }); err != stop {
		t.Errorf("emit failed: %v", err)
	}
	broken := io.MultiReader(strings.NewReader(in[:9]), iotest.ErrReader(stop))
	if _, err := f.Read(broken,
		func(transcript.Step) error { return nil }); !errors.Is(err, stop) ||
		err.Error() != "read transcript: stop" {
		t.Errorf("reading failed: %v", err)
	}
}

// Steps reads a transcript and replays it.
func (f *Format) Steps(t testing.TB, data []byte) ([]transcript.Step, *Replay, transcript.Stats) {
	t.Helper()
	var steps []transcript.Step
	replay := NewReplay()
	stats, err := f.Read(bytes.NewReader(data), func(st transcript.Step) error {
		steps = append(steps, st)
		return replay.Step(st)
	})
	if err != nil {
		t.Fatalf("%v\nof\n%s", err, clip(data))
	}
	return steps, replay, stats
}

// Trace says what steps are, a line each.
func Trace(steps []transcript.Step) string {
	var b strings.Builder
	for _, st := range steps {
		thread := ""
		if st.Thread != "" {
			thread = "[" + st.Thread + "] "
		}
		m := &st.Message
		switch st.Kind {
		case transcript.KindRewind:
			fmt.Fprintf(&b, "%srewind to %s\n", thread, st.RewindTo.Message)
		default:
			kind := "message"
			if m.Note {
				kind = "note"
			}
			fmt.Fprintf(&b, "%s%s %s %s", thread, kind, m.Role, m.Origin.Message)
			for _, p := range transcript.PartsOf(m) {
				switch p.Kind {
				case transcript.PartText:
					fmt.Fprintf(&b, " %q", p.Text)
				case transcript.PartHidden:
					if p.Text != "" {
						fmt.Fprintf(&b, " thought %q", p.Text)
					}
				case transcript.PartCall:
					fmt.Fprintf(&b, " call %s %s %s", p.ID, p.Tool, p.Args)
				case transcript.PartResult:
					said, failed := p.Said()
					fmt.Fprintf(&b, " result %s %s %q", p.ID, p.Tool, said)
					if failed {
						b.WriteString(" failed")
					}
				case transcript.PartMedia:
					fmt.Fprintf(&b, " media %s %s%s", p.Mime, p.Data, p.URI)
				default:
					fmt.Fprintf(&b, " part %s", p.Raw)
				}
			}
			if m.Tokens > 0 {
				fmt.Fprintf(&b, " tokens=%d", m.Tokens)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// whoSaid lists what a person or a model reads of steps, in order: who said it, and what.
func whoSaid(steps []transcript.Step) (list []string) {
	for _, st := range steps {
		who := st.Message.Role
		if st.Message.Note {
			who = "note"
		}
		for _, p := range transcript.PartsOf(&st.Message) {
			switch {
			case p.Kind == transcript.PartText:
				list = append(list, who+": "+p.Text)
			case p.Kind == transcript.PartHidden && p.Text != "":
				list = append(list, who+": thought: "+p.Text)
			case p.Kind == transcript.PartCall:
				list = append(list, who+": call: "+p.ID)
			case p.Kind == transcript.PartResult:
				list = append(list, who+": result: "+p.ID)
			}
		}
	}
	return list
}

// Items are the messages of a conversation as a writer takes them.
func Items(list []transcript.Message) []transcript.Item {
	made := map[string]int{}
	answered := map[string]bool{}
	for i, m := range list {
		for _, c := range m.Calls {
			made[c.ID] = i + 1
		}
		for _, r := range m.Results {
			answered[r] = true
		}
	}
	items := make([]transcript.Item, len(list))
	for i, m := range list {
		items[i].Message = m
		if m.Note {
			continue
		}
		for _, c := range m.Calls {
			if !answered[c.ID] {
				items[i].Open = append(items[i].Open, c.ID)
			}
		}
		for _, r := range m.Results {
			items[i].Orphan = items[i].Orphan || made[r] == 0 || made[r] > i+1
		}
	}
	return items
}

// Check holds a reader to its promises for one input: the same twice, a beginning gives the first
// steps, a conversation that is written comes back as it was.
func (f *Format) Check(t testing.TB, data []byte, cut int) {
	t.Helper()
	steps, replay, stats := f.Steps(t, data)
	if stats.Bytes > int64(len(data)) {
		t.Errorf("%d of %d bytes", stats.Bytes, len(data))
	}
	again, _, _ := f.Steps(t, bytes.Clone(data))
	if a, b := Trace(steps), Trace(again); a != b {
		t.Fatalf("a second reading gives other steps:\n%s\nthan\n%s", b, a)
	}
	if len(data) > 0 && !f.Whole {
		short, _, _ := f.Steps(t, data[:cut%len(data)])
		n := min(len(short), len(steps))
		if f.Tree {
			checkSaid(t, short, steps)
		} else if len(short) > len(steps) || Trace(short) != Trace(steps[:n]) {
			t.Fatalf("of %d bytes:\n%s\nof all:\n%s", cut%len(data), Trace(short), Trace(steps))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(replay.Threads)) {
		if f.Write != nil {
			f.CheckWritten(t, replay.Threads[name])
		}
	}
}

// checkSaid has every message of some steps among those of others.
func checkSaid(t testing.TB, short, steps []transcript.Step) {
	t.Helper()
	said := map[transcript.Origin]bool{}
	for _, st := range steps {
		said[st.Message.Origin] = true
	}
	for _, st := range short {
		if st.Kind == transcript.KindMessage && !said[st.Message.Origin] {
			t.Fatalf("message %v of the beginning is not in the whole", st.Message.Origin)
		}
	}
}

// CheckWritten writes a conversation and reads it back.
func (f *Format) CheckWritten(t testing.TB, list []transcript.Message) {
	t.Helper()
	o := transcript.WriteOptions{
		Session: "00000000-0000-8000-8000-000000000001",
		Home:    &transcript.Home{Store: "st", Session: "se"}, Dir: "/p",
	}
	out, _, err := f.Write(Items(list), o)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := f.Write(Items(list), o)
	if err != nil || !bytes.Equal(out, second) {
		t.Fatalf("written twice, the bytes differ: %v", err)
	}
	steps, replay, stats := f.Steps(t, out)
	if replay.Rewinds > 0 || len(stats.Skipped) > 0 {
		t.Fatalf("%d rewinds, skipped %v in\n%s\n%s", replay.Rewinds, stats.Skipped,
			clip(out), Trace(steps))
	}
	var back []transcript.Message
	for _, name := range slices.Sorted(maps.Keys(replay.Threads)) {
		back = append(back, replay.Threads[name]...)
	}
	list = slices.DeleteFunc(slices.Clone(list),
		func(m transcript.Message) bool { return m.Gone != "" })
	if len(back) != len(list) {
		t.Fatalf("%d messages came back as %d:\n%s\n%s", len(list), len(back),
			clip(out), Trace(steps))
	}
	for i := range list {
		if h := transcript.Diff(&list[i], &back[i]); !h.Empty() {
			t.Fatalf("message %d came back as another one: %s\nwas  %+v %s\ngot  %+v %s\nin\n%s", i,
				jsonvalue.Encode(h), list[i], list[i].Parts, back[i],
				back[i].Parts, clip(out))
		}
	}
	if len(list) > 0 && (stats.Home == nil || *stats.Home != *o.Home) {
		t.Fatalf("home is %v", stats.Home)
	}
}

func clip(b []byte) []byte {
	if len(b) > 6000 {
		return b[:6000]
	}
	return b
}
