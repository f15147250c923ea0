package edits_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
)

// TestC6_4_maskPersists: what was masked is shown so by a store that is opened again, and the
// original is to be had.
func TestC6_4_maskPersists(t *testing.T) {
	s := storetest.Create(t, storetest.LowGate...)
	storetest.Say(t, s, "s", "user", "read them")
	_, first := storetest.CallTool(t, s, 1, storetest.LongOutput(1))
	_, second := storetest.CallTool(t, s, 2, storetest.LongOutput(2))
	storetest.Say(t, s, "s", "model", "done")
	done := storetest.MaskAll(t, s)
	if len(done.Parts) != 2 || done.Entry.IsZero() || done.Saved <= 0 {
		t.Fatalf("got %+v", done)
	}
	s = storetest.Reopen(t, s.Dir, nil, storetest.LowGate...)
	for i, id := range []format.ID{first, second} {
		if !storetest.IsMasked(t, s, id) {
			t.Errorf("output %d is not masked", i)
		}
		if storetest.ExpandedText(t, s, id) != storetest.LongOutput(i+1) ||
			storetest.Must[*history.Shown](t)(s.History.Entry(id)).Text != storetest.LongOutput(i+
				1) {
			t.Errorf("the original of output %d is lost", i)
		}
	}
	for _, masked := range []bool{true, false} {
		n := 0
		for _, shown := range storetest.Must[[]*history.Shown](t)(
			s.Recall.Log(storetest.Tip(t, s).ID, recall.LogOptions{Masked: masked})) {
			n += len(shown.Masked)
			if strings.Contains(shown.Text, "tool_output_masked") != (len(shown.Masked) > 0) {
				t.Errorf("log, masked %v: %+v", masked, shown)
			}
		}
		if want := map[bool]int{true: 2}[masked]; n != want {
			t.Errorf("log, masked %v: %d parts are shortened", masked, n)
		}
	}
	storetest.Check(t, s)
}

// TestC6_5_maskTwiceWritesNothing, and in two stores the same masks have the same bytes.
func TestC6_5_maskTwiceWritesNothing(t *testing.T) {
	var bodies []string
	for range 2 {
		s := storetest.Create(t, storetest.LowGate...)
		storetest.Say(t, s, "s", "user", "read them")
		_, id := storetest.CallTool(t, s, 1, storetest.LongOutput(1))
		storetest.CallTool(t, s, 2, storetest.LongOutput(2))
		storetest.Say(t, s, "s", "model", "done")
		done := storetest.MaskAll(t, s)
		tip, number := storetest.Tip(t, s), storetest.View(t, s).Number
		if again := storetest.MaskAll(t, s); !again.Entry.IsZero() || len(again.Parts) > 0 {
			t.Errorf("masked again: %+v", again)
		}
		if again := storetest.MaskAll(t, s,
			edits.MaskTarget{Entry: id, Part: 0}); !again.Entry.IsZero() || len(again.Known) != 1 {
			t.Errorf("masked again by name: %+v", again)
		}
		if storetest.Tip(t, s) != tip || storetest.View(t, s).Number != number {
			t.Error("the second time wrote something")
		}
		_, body, err := s.History.Text(done.Entry)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	if bodies[0] != bodies[1] {
		t.Errorf("two masks of the same: %s %s", bodies[0], bodies[1])
	}
}

// TestMaskAndRewind: the mask goes with a rewind to before it and with an undo, and comes back with
// a redo.
func TestMaskAndRewind(t *testing.T) {
	s := storetest.Create(t, storetest.LowGate...)
	c := context.Background()
	storetest.Say(t, s, "s", "user", "read it")
	_, id := storetest.CallTool(t, s, 1, storetest.LongOutput(1))
	last := storetest.Say(t, s, "s", "model", "done")
	done := storetest.MaskAll(t, s)
	after := storetest.Say(t, s, "s", "user", "go on")
	steps := []struct {
		what   string
		do     func() error
		masked bool
	}{
		{"rewind of a later message", func() error {
			_, err := s.Conversation.Rewind(c, "s", history.MainBranch, after,
				conversation.RewindOptions{})
			return err
		}, true},
		{"rewind of the mask", func() error {
			_, err := s.Conversation.Rewind(c, "s", history.MainBranch, done.Entry,
				conversation.RewindOptions{})
			return err
		}, false},
		{"undo of that", func() error { _, err := s.Conversation.Undo(c, "s"); return err }, true},
		{"redo of that", func() error { _, err := s.Conversation.Redo(c, "s"); return err }, false},
		{"mask again",
			func() error {
				_, err := s.Edits.ApplyMasks(c, "s", history.MainBranch, nil)
				return err
			}, true},
		{"undo of the mask", func() error { _, err := s.Conversation.Undo(c, "s"); return err },
			false},
		{"redo of the mask", func() error { _, err := s.Conversation.Redo(c, "s"); return err },
			true},
		{"rewind of a message before it", func() error {
			_, err := s.Conversation.Rewind(c, "s", history.MainBranch, last,
				conversation.RewindOptions{})
			return err
		}, false},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if got := storetest.IsMasked(t, s, id); got != step.masked {
			t.Errorf("%s: masked is %v", step.what, got)
		}
		storetest.Check(t, s)
	}
}

// amendable appends a message with a source, or its newer version.
func amendable(t testing.TB, s *session.Store, source, role, text string, parts string) format.ID {
	t.Helper()
	m := conversation.Message{Role: role, Text: text,
		Source: &conversation.Source{Agent: "test", Session: "s", Message: source}}
	if parts != "" {
		m.Parts = json.RawMessage(parts)
	}
	done, _, err := s.Conversation.Append(context.Background(), "s", history.MainBranch,
		[]conversation.Message{m}, conversation.AppendOptions{Orphan: true})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

// TestMaskOfAmended: an amend after the mask shows the new words, and when it is rewound the mask
// holds again; a mask after the amend is of the new words.
func TestMaskOfAmended(t *testing.T) {
	s := storetest.Create(t, storetest.LowGate...)
	c := context.Background()
	storetest.Say(t, s, "s", "user", "read it")
	id := amendable(t, s, "m1", "tool", storetest.LongOutput(1), "")
	storetest.Say(t, s, "s", "model", "done")
	masked := func() string {
		m := storetest.MessageAt(t, s, id)
		if len(m.Masked) == 0 {
			return ""
		}
		return m.Text
	}
	storetest.MaskAll(t, s)
	if !strings.Contains(masked(), "word1") {
		t.Fatal("it is not masked")
	}
	newer := amendable(t, s, "m1", "tool", storetest.LongOutput(2), "")
	if masked() != "" || storetest.MessageAt(t, s, id).Text != storetest.LongOutput(2) {
		t.Error("the mask of the old words still holds")
	}
	if _, err := s.Conversation.Rewind(c, "s", history.MainBranch, newer,
		conversation.RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(masked(), "word1") {
		t.Error("the mask does not hold again")
	}
	if _, err := s.Conversation.Undo(c, "s"); err != nil {
		t.Fatal(err)
	}
	storetest.MaskAll(t, s)
	if !strings.Contains(masked(), "word2") ||
		!strings.Contains(masked(), "ctx expand "+id.String()) {
		t.Errorf("the new words are not masked: %q", masked())
	}
}

// TestMaskChosen masks by name, and refuses what cannot be; nothing is written then.
func TestMaskChosen(t *testing.T) {
	s := storetest.Create(t)
	c := context.Background()
	user := storetest.Say(t, s, "s", "user", storetest.LongOutput(0))
	call, result := storetest.CallTool(t, s, 1, storetest.LongOutput(1))
	_, short := storetest.CallTool(t, s, 2, "short")
	plain := amendable(t, s, "m1", "tool", storetest.LongOutput(3), "")
	tip := storetest.Tip(t, s)
	other := storetest.Say(t, s, "other", "tool", storetest.LongOutput(4))
	for _, bad := range []struct {
		target edits.MaskTarget
		want   error
		says   string
	}{
		{edits.MaskTarget{Entry: result, Part: 1}, history.ErrNotFound, "its parts are 0 to 0"},
		{edits.MaskTarget{Entry: call, Part: 2}, history.ErrNotFound, "its parts are 0 to 1"},
		{edits.MaskTarget{Entry: plain, Part: 1}, history.ErrNotFound, "its parts are 0 to 0"},
		{edits.MaskTarget{Entry: other, Part: 0}, history.ErrNotFound, "not in the branch"},
		{edits.MaskTarget{Entry: user, Part: format.WholeEntry}, history.ErrInput,
			"not what a tool printed"},
		{edits.MaskTarget{Entry: call, Part: 1}, history.ErrInput, "not what a tool printed"},
		{edits.MaskTarget{Entry: call, Part: format.WholeEntry}, history.ErrInput,
			"not what a tool printed"},
	} {
		_, err := s.Edits.ApplyMasks(c, "s", history.MainBranch,
			[]edits.MaskTarget{{Entry: result, Part: 0}, bad.target})
		if !errors.Is(err, bad.want) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%v: %v", bad.target, err)
		}
	}
	if storetest.Tip(t, s) != tip {
		t.Fatal("something was written")
	}
	done := storetest.MaskAll(t, s, edits.MaskTarget{Entry: plain, Part: 0},
		edits.MaskTarget{Entry: short, Part: format.WholeEntry},
		edits.MaskTarget{Entry: result, Part: format.WholeEntry})
	if len(done.Parts) != 2 || done.Parts[0].Entry != result || done.Parts[1].Entry != plain ||
		len(done.Kept) != 1 || done.Kept[0].Entry != short {
		t.Fatalf("got %+v", done)
	}
	if !storetest.IsMasked(t, s, result) || storetest.IsMasked(t, s, short) ||
		len(storetest.MessageAt(t, s, plain).Masked) != 1 {
		t.Error("not those are masked that were named")
	}
}

// TestMaskNamesCall: the mask says which call and which tool, also for plain text whose call is in
// another message.
func TestMaskNamesCall(t *testing.T) {
	s := storetest.Create(t,
		append(slices.Clone(storetest.LowGate), "mask.exempt_tools=ask_user")...)
	c := context.Background()
	_, _, err := s.Conversation.Append(c, "s", history.MainBranch, []conversation.Message{
		{Role: "model", Text: "x",
			Calls: []format.Call{{ID: "a", Tool: "cat"}, {ID: "b", Tool: "ask_user"}}},
		{Role: "tool", Text: storetest.LongOutput(1), Results: []string{"a"}},
		{Role: "tool", Text: storetest.LongOutput(2), Results: []string{"b"}},
		{Role: "user",
			Parts: json.RawMessage(`[{"functionResponse":{"name":"find","response":{"output":"` +
				storetest.LongOutput(3) + `"}}}]`)},
		{Role: "user", Text: "go on"},
	}, conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := storetest.MaskAll(t, s)
	_, body, err := s.History.Text(done.Entry)
	if err != nil {
		t.Fatal(err)
	}
	m := storetest.Must[*format.Mask](t)(format.DecodeMask(body))
	var got []string
	for _, p := range m.Parts {
		got = append(got, p.Call+" "+p.Tool)
	}
	if !slices.Equal(got, []string{"a cat", " find"}) {
		t.Errorf("masked %q", got)
	}
}

// TestMaskAcrossLeave: what has graduated is masked in the log, and the tail after a leave is shown
// as its masks say.
func TestMaskAcrossLeave(t *testing.T) {
	s := storetest.Create(t, append(slices.Clone(storetest.LowGate), storetest.Small...)...)
	storetest.Say(t, s, "s", "user", "read it")
	_, id := storetest.CallTool(t, s, 1, storetest.LongOutput(1))
	storetest.Say(t, s, "s", "model", "done")
	storetest.MaskAll(t, s)
	var last format.ID
	for n := 2; n < 12; n++ {
		storetest.Say(t, s, "s", "user", "and the next")
		_, last = storetest.CallTool(t, s, n, storetest.LongOutput(n))
		storetest.MaskAll(t, s)
	}
	storetest.Say(t, s, "s", "user", "thanks")
	if storetest.Tip(t, s).Through == 0 {
		t.Fatal("nothing has left the tail")
	}
	storetest.MaskAll(t, s)
	if !storetest.IsMasked(t, s, last) {
		t.Error("the tail is not masked")
	}
	for _, shown := range storetest.Must[[]*history.Shown](t)(s.Recall.Log(storetest.Tip(t, s).ID,
		recall.LogOptions{Masked: true})) {
		if shown.ID == id && len(shown.Masked) != 1 {
			t.Error("what has graduated is not masked in the log")
		}
	}
	storetest.Check(t, s)
}

// TestMaskBounds: what does not fit into one entry is left for the next, the newest first, and then
// nothing is left.
func TestMaskBounds(t *testing.T) {
	s := storetest.Create(t, "mask.protected_tokens=0", "mask.gate_tokens=0",
		"mask.preview_chars=2", "window.evict_at=100000", "window.graduate_at=100000")
	parts := make([]string, edits.MaxMaskParts+10)
	for i := range parts {
		parts[i] = `{"functionResponse":{"name":"n","response":{"output":"` +
			strings.Repeat("x", 600) + `"}}}`
	}
	amendable(t, s, "m", "tool", "", "["+strings.Join(parts, ",")+"]")
	storetest.Say(t, s, "s", "user", "go on")
	first := storetest.MaskAll(t, s)
	if len(first.Parts) != edits.MaxMaskParts || first.Left != 10 || first.Parts[0].Index != 10 {
		t.Fatalf("%d parts, left %d", len(first.Parts), first.Left)
	}
	second := storetest.MaskAll(t, s)
	if len(second.Parts) != 10 || second.Left != 0 || second.Parts[0].Index != 0 {
		t.Fatalf("%d parts, left %d", len(second.Parts), second.Left)
	}
	if third := storetest.MaskAll(t, s); !third.Entry.IsZero() {
		t.Error("there is more")
	}
}

// TestRetryLooksAgain: a branch that moves while it is looked at is looked at again, and in the end
// under the lock.
func TestRetryLooksAgain(t *testing.T) {
	s := storetest.Create(t)
	storetest.Say(t, s, "s", "user", "begin")
	for _, moves := range []int{0, 1, 3, 9} {
		looks := 0
		got, err := edits.Retry(context.Background(), s.Edits, "s",
			history.MainBranch, func(v format.Value) (format.ID, error) {
				if looks++; looks <= moves && looks <= edits.MaxTries {
					storetest.Say(t, s, "s", "user", "moved meanwhile")
				}
				return v.ID, nil
			}, func(_ *edits.Tx, seen *format.ID) error {
				if now := storetest.View(t, s).Get(
					history.RefName("s", history.MainBranch)).ID; now != *seen {
					return fmt.Errorf("acts on %v, the tip is %v", *seen, now)
				}
				return nil
			})
		if want := min(moves, edits.MaxTries) + 1; err != nil || got != storetest.Tip(t, s).ID ||
			looks != want {
			t.Errorf("%d moves: looked %d times, want %d; %v", moves, looks, want, err)
		}
	}
}

// TestOffloadIsKept: the whole output is an entry like any other, once for a call; a short one is
// nobody's business.
func TestOffloadIsKept(t *testing.T) {
	s := storetest.Create(t, "offload.threshold_chars=1000")
	c := context.Background()
	text := storetest.LongOutput(1) + "password=hunter2xyz99\n\x07" + storetest.LongOutput(2)
	done, found, err := s.Conversation.Offload(c, "s", history.MainBranch,
		conversation.Output{Tool: "cat", Call: "c1", Text: text})
	if err != nil || done.Entry.IsZero() || len(found) != 2 || done.Chars != len(text) {
		t.Fatalf("%+v, %v, %v", done, found, err)
	}
	if strings.Contains(done.Text, "hunter2") ||
		!strings.Contains(done.Text, "ctx expand "+done.Entry.String()) || len(done.Text) > 1300 {
		t.Errorf("short form: %s", done.Text)
	}
	kept := strings.ReplaceAll(strings.ReplaceAll(text, "hunter2xyz99", "[REDACTED:password]"),
		"\x07", "")
	if got := storetest.ExpandedText(t, s, done.Entry); got != kept {
		t.Errorf("kept is %.80q", got)
	}
	e := storetest.Must[*history.Shown](t)(s.History.Entry(done.Entry)).Entry
	if e.Kind != format.KindNote || e.Role != "tool" || e.Author != "cat" || e.Source == nil ||
		e.Source.Message != "c1" {
		t.Errorf("the entry is %+v", e)
	}
	again, _, err := s.Conversation.Offload(c, "s", history.MainBranch,
		conversation.Output{Tool: "cat", Call: "c1", Text: text})
	if err != nil || !again.Known || again.Entry != done.Entry || again.Text != done.Text {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	number := storetest.View(t, s).Number
	short, _, err := s.Conversation.Offload(c, "s", history.MainBranch,
		conversation.Output{Text: "short\x07"})
	if err != nil || !short.Entry.IsZero() || short.Text != "short\x07" ||
		storetest.View(t, s).Number != number {
		t.Errorf("a short one: %+v, %v", short, err)
	}
	if len(storetest.Tail(t, s)) != 0 {
		t.Error("a note is rendered")
	}
	if _, err := s.Conversation.Undo(c, "s"); err != nil {
		t.Errorf("undo: %v", err)
	}
	storetest.Check(t, s)
}

// messageIn appends a message to a branch of the session s.
func messageIn(t testing.TB, s *session.Store, branch string, m conversation.Message) format.ID {
	t.Helper()
	done, _, err := s.Conversation.Append(context.Background(), "s", branch,
		[]conversation.Message{m}, conversation.AppendOptions{Orphan: true})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

// TestEditsAndBranches: a child shows what its parent masked and replaced before the fork. What a
// child masks is its own; what it brings with a join can be masked and replaced by the parent.
func TestEditsAndBranches(t *testing.T) {
	s := storetest.Create(t)
	c := context.Background()
	first := storetest.Say(t, s, "s", "user", "go")
	output := messageIn(t, s, history.MainBranch,
		conversation.Message{Role: "tool", Text: storetest.LongOutput(1)})
	storetest.MaskAll(t, s, edits.MaskTarget{Entry: output, Part: 0})
	storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(first)...), "started")
	if _, err := s.Conversation.Fork(c, "s", history.MainBranch, []string{"one", "two"},
		conversation.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	of := map[string]format.ID{}
	for _, branch := range []string{"one", "two"} {
		of[branch] = messageIn(t, s, branch,
			conversation.Message{Role: "tool", Text: storetest.LongOutput(2) + branch})
		messageIn(t, s, branch, conversation.Message{Role: "model", Text: "done " + branch})
	}
	storetest.Must[edits.MaskResult](t)(s.Edits.ApplyMasks(c, "s", "one",
		[]edits.MaskTarget{{Entry: of["one"], Part: 0}}))
	shown := func(branch string) string {
		var said []string
		for _, m := range storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s),
			"s", branch, view.Options{})).Tail {
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
		history.MainBranch: "started, masked", "one": "started, masked, masked, done one",
		"two": "started, masked, long, done two",
	} {
		if got := shown(branch); got != want {
			t.Errorf("%s: %s, want %s", branch, got, want)
		}
	}
	claim := storetest.Must[[]edits.ReplaceClaim](t)(s.Edits.BeginReplace(storetest.View(t, s), "s",
		"two", whole(of["two"]), nil))[0].ID
	if _, err := s.Conversation.Join(c, "s", history.MainBranch, []string{"one", "two"},
		conversation.JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(history.MainBranch),
		"started, masked, long, done one, long, done two"; got != want {
		t.Errorf("joined: %s, want %s", got, want)
	}
	// The branch that was claimed from is gone.
	if _, err := storetest.CommitReplace(s, claim, "x"); !errors.Is(err, history.ErrStale) {
		t.Errorf("an answer for a branch that was joined: %v", err)
	}
	storetest.MaskAll(t, s, edits.MaskTarget{Entry: of["one"], Part: 0})
	storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(of["two"])...), "read")
	if got, want := shown(history.MainBranch),
		"started, masked, masked, done one, read, done two"; got != want {
		t.Errorf("masked after the join: %s, want %s", got, want)
	}
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "s"))
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "s"))
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "s"))
	if got, want := shown(history.MainBranch), "started, masked"; got != want {
		t.Errorf("the join taken back: %s, want %s", got, want)
	}
	if _, err := storetest.CommitReplace(s, claim, "x"); err != nil {
		t.Errorf("an answer for a branch that is back: %v", err)
	}
	storetest.Check(t, s)
}
