package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session/view"
)

// lowGate masks what three short outputs are.
var lowGate = []string{"mask.protected_tokens=100", "mask.gate_tokens=100"}

// calls appends a call and its result, and returns both.
func calls(t testing.TB, s *Store, n int, output string) (call, result format.ID) {
	t.Helper()
	id := fmt.Sprint("c", n)
	b := must[[]byte](t)(json.Marshal(output))
	done, _, err := s.Append(context.Background(), "s", MainBranch, []Message{
		{Role: "model", Parts: json.RawMessage(`[{"text":"look"},{"functionCall":{"id":"` + id + `","name":"read_file","args":{}}}]`)},
		{Role: "tool", Parts: json.RawMessage(`[{"functionResponse":{"id":"` + id + `","name":"read_file","response":{"output":` + string(b) + `}}}]`)},
	}, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID, done[1].ID
}

func long(n int) string { return strings.Repeat(fmt.Sprint("word", n, " "), 300) }

func tipOfS(t testing.TB, s *Store) format.Value {
	t.Helper()
	return must[format.Value](t)(Tip(s.mustView(t), "s", MainBranch))
}

// shownTail is the tail of the session s as it is rendered.
func shownTail(t testing.TB, s *Store) []view.Message {
	t.Helper()
	return must[view.Input](t)(s.RenderInput(s.mustView(t), "s", MainBranch, view.Options{})).Tail
}

func messageAt(t testing.TB, s *Store, id format.ID) view.Message {
	t.Helper()
	for _, m := range shownTail(t, s) {
		if m.ID == id {
			return m
		}
	}
	t.Fatalf("%v is not rendered", id)
	return view.Message{}
}

func applyAll(t testing.TB, s *Store, named ...MaskTarget) MaskResult {
	t.Helper()
	return must[MaskResult](t)(s.ApplyMasks(context.Background(), "s", MainBranch, named))
}

func isMasked(t testing.TB, s *Store, id format.ID) bool {
	t.Helper()
	m := messageAt(t, s, id)
	if short := strings.Contains(m.Text, "<tool_output_masked>"); short != (len(m.Masked) > 0) || short != strings.Contains(string(m.Parts), "ctx expand "+id.String()) {
		t.Fatalf("half masked: %+v", m)
	}
	return len(m.Masked) > 0
}

// expanded is what expand gives of an id.
func expandedText(t testing.TB, s *Store, id format.ID) string {
	t.Helper()
	var texts []string
	err := s.Expand(s.mustView(t), id, ExpandOptions{}, func(shown *Shown) error { texts = append(texts, shown.Text); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(texts, "\n")
}

// TestC6_4_maskPersists: what was masked is shown so by a store that is opened again, and the original is to be had.
func TestC6_4_maskPersists(t *testing.T) {
	s := create(t, lowGate...)
	say(t, s, "s", "user", "read them")
	_, first := calls(t, s, 1, long(1))
	_, second := calls(t, s, 2, long(2))
	say(t, s, "s", "model", "done")
	done := applyAll(t, s)
	if len(done.Parts) != 2 || done.Entry.IsZero() || done.Saved <= 0 {
		t.Fatalf("got %+v", done)
	}
	s = reopen(t, s.Dir, nil, lowGate...)
	for i, id := range []format.ID{first, second} {
		if !isMasked(t, s, id) {
			t.Errorf("output %d is not masked", i)
		}
		if expandedText(t, s, id) != long(i+1) || must[*Shown](t)(s.Entry(id)).Text != long(i+1) {
			t.Errorf("the original of output %d is lost", i)
		}
	}
	for _, masked := range []bool{true, false} {
		n := 0
		for _, shown := range must[[]*Shown](t)(s.Log(tipOfS(t, s).ID, LogOptions{Masked: masked})) {
			n += len(shown.Masked)
			if strings.Contains(shown.Text, "tool_output_masked") != (len(shown.Masked) > 0) {
				t.Errorf("log, masked %v: %+v", masked, shown)
			}
		}
		if want := map[bool]int{true: 2}[masked]; n != want {
			t.Errorf("log, masked %v: %d parts are shortened", masked, n)
		}
	}
	check(t, s)
}

// TestC6_5_maskTwiceWritesNothing, and in two stores the same masks have the same bytes.
func TestC6_5_maskTwiceWritesNothing(t *testing.T) {
	var bodies []string
	for range 2 {
		s := create(t, lowGate...)
		say(t, s, "s", "user", "read them")
		_, id := calls(t, s, 1, long(1))
		calls(t, s, 2, long(2))
		say(t, s, "s", "model", "done")
		done := applyAll(t, s)
		tip, number := tipOfS(t, s), s.mustView(t).Number
		if again := applyAll(t, s); !again.Entry.IsZero() || len(again.Parts) > 0 {
			t.Errorf("masked again: %+v", again)
		}
		if again := applyAll(t, s, MaskTarget{Entry: id, Part: 0}); !again.Entry.IsZero() || len(again.Known) != 1 {
			t.Errorf("masked again by name: %+v", again)
		}
		if tipOfS(t, s) != tip || s.mustView(t).Number != number {
			t.Error("the second time wrote something")
		}
		_, body, err := s.text(done.Entry)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	if bodies[0] != bodies[1] {
		t.Errorf("two masks of the same: %s %s", bodies[0], bodies[1])
	}
}

// TestMaskAndRewind: the mask goes with a rewind to before it and with an undo, and comes back with a redo.
func TestMaskAndRewind(t *testing.T) {
	s := create(t, lowGate...)
	c := context.Background()
	say(t, s, "s", "user", "read it")
	_, id := calls(t, s, 1, long(1))
	last := say(t, s, "s", "model", "done")
	done := applyAll(t, s)
	after := say(t, s, "s", "user", "go on")
	steps := []struct {
		what   string
		do     func() error
		masked bool
	}{
		{"rewind of a later message", func() error { _, err := s.Rewind(c, "s", MainBranch, after, RewindOptions{}); return err }, true},
		{"rewind of the mask", func() error { _, err := s.Rewind(c, "s", MainBranch, done.Entry, RewindOptions{}); return err }, false},
		{"undo of that", func() error { _, err := s.Undo(c, "s"); return err }, true},
		{"redo of that", func() error { _, err := s.Redo(c, "s"); return err }, false},
		{"mask again", func() error { _, err := s.ApplyMasks(c, "s", MainBranch, nil); return err }, true},
		{"undo of the mask", func() error { _, err := s.Undo(c, "s"); return err }, false},
		{"redo of the mask", func() error { _, err := s.Redo(c, "s"); return err }, true},
		{"rewind of a message before it", func() error { _, err := s.Rewind(c, "s", MainBranch, last, RewindOptions{}); return err }, false},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if got := isMasked(t, s, id); got != step.masked {
			t.Errorf("%s: masked is %v", step.what, got)
		}
		check(t, s)
	}
}

// amendable appends a message with a source, or its newer version.
func amendable(t testing.TB, s *Store, source, role, text string, parts string) format.ID {
	t.Helper()
	m := Message{Role: role, Text: text, Source: &Source{Agent: "test", Session: "s", Message: source}}
	if parts != "" {
		m.Parts = json.RawMessage(parts)
	}
	done, _, err := s.Append(context.Background(), "s", MainBranch, []Message{m}, AppendOptions{Orphan: true})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

// TestMaskOfAmended: an amend after the mask shows the new words, and when it is rewound the mask holds again; a mask after the amend is of the
// new words.
func TestMaskOfAmended(t *testing.T) {
	s := create(t, lowGate...)
	c := context.Background()
	say(t, s, "s", "user", "read it")
	id := amendable(t, s, "m1", "tool", long(1), "")
	say(t, s, "s", "model", "done")
	masked := func() string {
		m := messageAt(t, s, id)
		if len(m.Masked) == 0 {
			return ""
		}
		return m.Text
	}
	applyAll(t, s)
	if !strings.Contains(masked(), "word1") {
		t.Fatal("it is not masked")
	}
	newer := amendable(t, s, "m1", "tool", long(2), "")
	if masked() != "" || messageAt(t, s, id).Text != long(2) {
		t.Error("the mask of the old words still holds")
	}
	if _, err := s.Rewind(c, "s", MainBranch, newer, RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(masked(), "word1") {
		t.Error("the mask does not hold again")
	}
	if _, err := s.Undo(c, "s"); err != nil {
		t.Fatal(err)
	}
	applyAll(t, s)
	if !strings.Contains(masked(), "word2") || !strings.Contains(masked(), "ctx expand "+id.String()) {
		t.Errorf("the new words are not masked: %q", masked())
	}
}

// TestMaskChosen masks by name, and refuses what cannot be; nothing is written then.
func TestMaskChosen(t *testing.T) {
	s := create(t)
	c := context.Background()
	user := say(t, s, "s", "user", long(0))
	call, result := calls(t, s, 1, long(1))
	_, short := calls(t, s, 2, "short")
	plain := amendable(t, s, "m1", "tool", long(3), "")
	tip := tipOfS(t, s)
	other := say(t, s, "other", "tool", long(4))
	for _, bad := range []struct {
		target MaskTarget
		want   error
		says   string
	}{
		{MaskTarget{Entry: result, Part: 1}, ErrNotFound, "its parts are 0 to 0"},
		{MaskTarget{Entry: call, Part: 2}, ErrNotFound, "its parts are 0 to 1"},
		{MaskTarget{Entry: plain, Part: 1}, ErrNotFound, "its parts are 0 to 0"},
		{MaskTarget{Entry: other, Part: 0}, ErrNotFound, "not in the branch"},
		{MaskTarget{Entry: user, Part: format.WholeEntry}, ErrInput, "not what a tool printed"},
		{MaskTarget{Entry: call, Part: 1}, ErrInput, "not what a tool printed"},
		{MaskTarget{Entry: call, Part: format.WholeEntry}, ErrInput, "not what a tool printed"},
	} {
		_, err := s.ApplyMasks(c, "s", MainBranch, []MaskTarget{{Entry: result, Part: 0}, bad.target})
		if !errors.Is(err, bad.want) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%v: %v", bad.target, err)
		}
	}
	if tipOfS(t, s) != tip {
		t.Fatal("something was written")
	}
	done := applyAll(t, s, MaskTarget{Entry: plain, Part: 0}, MaskTarget{Entry: short, Part: format.WholeEntry}, MaskTarget{Entry: result, Part: format.WholeEntry})
	if len(done.Parts) != 2 || done.Parts[0].Entry != result || done.Parts[1].Entry != plain || len(done.Kept) != 1 || done.Kept[0].Entry != short {
		t.Fatalf("got %+v", done)
	}
	if !isMasked(t, s, result) || isMasked(t, s, short) || len(messageAt(t, s, plain).Masked) != 1 {
		t.Error("not those are masked that were named")
	}
}

// TestMaskNamesCall: the mask says which call and which tool, also for plain text whose call is in another message.
func TestMaskNamesCall(t *testing.T) {
	s := create(t, append(slices.Clone(lowGate), "mask.exempt_tools=ask_user")...)
	c := context.Background()
	_, _, err := s.Append(c, "s", MainBranch, []Message{
		{Role: "model", Text: "x", Calls: []format.Call{{ID: "a", Tool: "cat"}, {ID: "b", Tool: "ask_user"}}},
		{Role: "tool", Text: long(1), Results: []string{"a"}},
		{Role: "tool", Text: long(2), Results: []string{"b"}},
		{Role: "user", Parts: json.RawMessage(`[{"functionResponse":{"name":"find","response":{"output":"` + long(3) + `"}}}]`)},
		{Role: "user", Text: "go on"},
	}, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := applyAll(t, s)
	_, body, err := s.text(done.Entry)
	if err != nil {
		t.Fatal(err)
	}
	m := must[*format.Mask](t)(format.DecodeMask(body))
	var got []string
	for _, p := range m.Parts {
		got = append(got, p.Call+" "+p.Tool)
	}
	if !slices.Equal(got, []string{"a cat", " find"}) {
		t.Errorf("masked %q", got)
	}
}

// TestMaskAcrossLeave: what has graduated is masked in the log, and the tail after a leave is shown as its masks say.
func TestMaskAcrossLeave(t *testing.T) {
	s := create(t, append(slices.Clone(lowGate), small...)...)
	say(t, s, "s", "user", "read it")
	_, id := calls(t, s, 1, long(1))
	say(t, s, "s", "model", "done")
	applyAll(t, s)
	var last format.ID
	for n := 2; n < 12; n++ {
		say(t, s, "s", "user", "and the next")
		_, last = calls(t, s, n, long(n))
		applyAll(t, s)
	}
	say(t, s, "s", "user", "thanks")
	if tipOfS(t, s).Through == 0 {
		t.Fatal("nothing has left the tail")
	}
	applyAll(t, s)
	if !isMasked(t, s, last) {
		t.Error("the tail is not masked")
	}
	for _, shown := range must[[]*Shown](t)(s.Log(tipOfS(t, s).ID, LogOptions{Masked: true})) {
		if shown.ID == id && len(shown.Masked) != 1 {
			t.Error("what has graduated is not masked in the log")
		}
	}
	check(t, s)
}

// TestMaskBounds: what does not fit into one entry is left for the next, the newest first, and then nothing is left.
func TestMaskBounds(t *testing.T) {
	s := create(t, "mask.protected_tokens=0", "mask.gate_tokens=0", "mask.preview_chars=2", "window.evict_at=100000", "window.graduate_at=100000")
	parts := make([]string, maxMaskParts+10)
	for i := range parts {
		parts[i] = `{"functionResponse":{"name":"n","response":{"output":"` + strings.Repeat("x", 600) + `"}}}`
	}
	amendable(t, s, "m", "tool", "", "["+strings.Join(parts, ",")+"]")
	say(t, s, "s", "user", "go on")
	first := applyAll(t, s)
	if len(first.Parts) != maxMaskParts || first.Left != 10 || first.Parts[0].Index != 10 {
		t.Fatalf("%d parts, left %d", len(first.Parts), first.Left)
	}
	second := applyAll(t, s)
	if len(second.Parts) != 10 || second.Left != 0 || second.Parts[0].Index != 0 {
		t.Fatalf("%d parts, left %d", len(second.Parts), second.Left)
	}
	if third := applyAll(t, s); !third.Entry.IsZero() {
		t.Error("there is more")
	}
}

// TestRetryLooksAgain: a branch that moves while it is looked at is looked at again, and in the end under the lock.
func TestRetryLooksAgain(t *testing.T) {
	s := create(t)
	say(t, s, "s", "user", "begin")
	for _, moves := range []int{0, 1, 3, 9} {
		looks := 0
		got, err := retry(context.Background(), s, "s", MainBranch, func(v format.Value) (format.ID, error) {
			if looks++; looks <= moves && looks <= maxTries {
				say(t, s, "s", "user", "moved meanwhile")
			}
			return v.ID, nil
		}, func(t *tx, seen *format.ID) error {
			if now := t.view.Get(RefName("s", MainBranch)).ID; now != *seen {
				return fmt.Errorf("acts on %v, the tip is %v", *seen, now)
			}
			return nil
		})
		if want := min(moves, maxTries) + 1; err != nil || got != tipOfS(t, s).ID || looks != want {
			t.Errorf("%d moves: looked %d times, want %d; %v", moves, looks, want, err)
		}
	}
}

// TestOffloadIsKept: the whole output is an entry like any other, once for a call; a short one is nobody's business.
func TestOffloadIsKept(t *testing.T) {
	s := create(t, "offload.threshold_chars=1000")
	c := context.Background()
	text := long(1) + "password=hunter2xyz99\n\x07" + long(2)
	done, found, err := s.Offload(c, "s", MainBranch, Output{Tool: "cat", Call: "c1", Text: text})
	if err != nil || done.Entry.IsZero() || len(found) != 2 || done.Chars != len(text) {
		t.Fatalf("%+v, %v, %v", done, found, err)
	}
	if strings.Contains(done.Text, "hunter2") || !strings.Contains(done.Text, "ctx expand "+done.Entry.String()) || len(done.Text) > 1300 {
		t.Errorf("short form: %s", done.Text)
	}
	kept := strings.ReplaceAll(strings.ReplaceAll(text, "hunter2xyz99", "[REDACTED:password]"), "\x07", "")
	if got := expandedText(t, s, done.Entry); got != kept {
		t.Errorf("kept is %.80q", got)
	}
	e := must[*Shown](t)(s.Entry(done.Entry)).Entry
	if e.Kind != format.KindNote || e.Role != "tool" || e.Author != "cat" || e.Source == nil || e.Source.Message != "c1" {
		t.Errorf("the entry is %+v", e)
	}
	again, _, err := s.Offload(c, "s", MainBranch, Output{Tool: "cat", Call: "c1", Text: text})
	if err != nil || !again.Known || again.Entry != done.Entry || again.Text != done.Text {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	number := s.mustView(t).Number
	short, _, err := s.Offload(c, "s", MainBranch, Output{Text: "short\x07"})
	if err != nil || !short.Entry.IsZero() || short.Text != "short\x07" || s.mustView(t).Number != number {
		t.Errorf("a short one: %+v, %v", short, err)
	}
	if len(shownTail(t, s)) != 0 {
		t.Error("a note is rendered")
	}
	if _, err := s.Undo(c, "s"); err != nil {
		t.Errorf("undo: %v", err)
	}
	check(t, s)
}

// messageIn appends a message to a branch of the session s.
func messageIn(t testing.TB, s *Store, branch string, m Message) format.ID {
	t.Helper()
	done, _, err := s.Append(context.Background(), "s", branch, []Message{m}, AppendOptions{Orphan: true})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

// TestEditsAndBranches: a child shows what its parent masked and replaced before the fork. What a child masks is its own; what it brings with a join
// can be masked and replaced by the parent.
func TestEditsAndBranches(t *testing.T) {
	s := create(t)
	c := context.Background()
	first := say(t, s, "s", "user", "go")
	output := messageIn(t, s, MainBranch, Message{Role: "tool", Text: long(1)})
	applyAll(t, s, MaskTarget{Entry: output, Part: 0})
	mustCommit(t, s, begin(t, s, whole(first)...), "started")
	if _, err := s.Fork(c, "s", MainBranch, []string{"one", "two"}, ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	of := map[string]format.ID{}
	for _, branch := range []string{"one", "two"} {
		of[branch] = messageIn(t, s, branch, Message{Role: "tool", Text: long(2) + branch})
		messageIn(t, s, branch, Message{Role: "model", Text: "done " + branch})
	}
	must[MaskResult](t)(s.ApplyMasks(c, "s", "one", []MaskTarget{{Entry: of["one"], Part: 0}}))
	shown := func(branch string) string {
		var said []string
		for _, m := range must[view.Input](t)(s.RenderInput(s.mustView(t), "s", branch, view.Options{})).Tail {
			switch {
			case len(m.Masked) > 0:
				said = append(said, "masked")
			case strings.HasPrefix(m.Text, "word"):
				said = append(said, "long")
			default:
				said = append(said, m.Text)
			}
		}
		return strings.Join(said, ", ")
	}
	for branch, want := range map[string]string{
		MainBranch: "started, masked", "one": "started, masked, masked, done one", "two": "started, masked, long, done two",
	} {
		if got := shown(branch); got != want {
			t.Errorf("%s: %s, want %s", branch, got, want)
		}
	}
	claim := must[[]ReplaceClaim](t)(s.BeginReplace(s.mustView(t), "s", "two", whole(of["two"]), nil))[0].ID
	if _, err := s.Join(c, "s", MainBranch, []string{"one", "two"}, JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(MainBranch), "started, masked, long, done one, long, done two"; got != want {
		t.Errorf("joined: %s, want %s", got, want)
	}
	// The branch that was claimed from is gone.
	if _, err := commit(s, claim, "x"); !errors.Is(err, ErrStale) {
		t.Errorf("an answer for a branch that was joined: %v", err)
	}
	applyAll(t, s, MaskTarget{Entry: of["one"], Part: 0})
	mustCommit(t, s, begin(t, s, whole(of["two"])...), "read")
	if got, want := shown(MainBranch), "started, masked, masked, done one, read, done two"; got != want {
		t.Errorf("masked after the join: %s, want %s", got, want)
	}
	must[Undone](t)(s.Undo(c, "s"))
	must[Undone](t)(s.Undo(c, "s"))
	must[Undone](t)(s.Undo(c, "s"))
	if got, want := shown(MainBranch), "started, masked"; got != want {
		t.Errorf("the join taken back: %s, want %s", got, want)
	}
	if _, err := commit(s, claim, "x"); err != nil {
		t.Errorf("an answer for a branch that is back: %v", err)
	}
	check(t, s)
}
