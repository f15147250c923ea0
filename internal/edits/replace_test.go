package edits_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

func whole(ids ...format.ID) []format.Target {
	list := make([]format.Target, len(ids))
	for i, id := range ids {
		list[i] = format.Target{Entry: id, Part: format.WholeEntry}
	}
	return list
}

// refused holds that an answer is refused, with words that name what moved, and that nothing is
// written for it.
func refusedClaim(t testing.TB, s *session.Store, claim, text, says string) {
	t.Helper()
	tip, number := storetest.View(t, s).Get(history.RefName("s", history.MainBranch)),
		storetest.View(t, s).Number
	_, err := storetest.CommitReplace(s, claim, text)
	if !errors.Is(err, history.ErrStale) || !strings.Contains(err.Error(), says) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one that says %q", err, says)
	}
	if storetest.View(t, s).Number != number ||
		storetest.View(t, s).Get(history.RefName("s", history.MainBranch)) != tip {
		t.Error("something was written")
	}
}

// textsShown is the texts that are rendered.
func textsShown(t testing.TB, s *session.Store) (list []string) {
	t.Helper()
	for _, m := range storetest.Tail(t, s) {
		list = append(list, m.Text)
	}
	return list
}

func wantTalk(t testing.TB, s *session.Store, want ...string) {
	t.Helper()
	if got := textsShown(t, s); !slices.Equal(got, want) {
		t.Errorf("rendered is %q, want %q", got, want)
	}
}

// letters appends a message for each letter, users and models in turn.
func letters(t testing.TB, s *session.Store, text string) (ids []format.ID) {
	t.Helper()
	for i, r := range text {
		ids = append(ids, storetest.Say(t, s, "s", []string{"user", "model"}[i%2], string(r)))
	}
	return ids
}

// TestReplaceTwoWorkers: two workers bring texts for different messages, in the other order than
// they took them, while the talk goes on.
func TestReplaceTwoWorkers(t *testing.T) {
	s := storetest.Create(t)
	ids := letters(t, s, "abcdef")
	one, two := storetest.BeginReplace(t, s, whole(ids[1], ids[2])...),
		storetest.BeginReplace(t, s, whole(ids[4])...)
	storetest.Say(t, s, "s", "user", "g")
	r2 := storetest.Replace(t, s, two, "E")
	storetest.Say(t, s, "s", "model", "h")
	r1 := storetest.Replace(t, s, one, "BC")
	wantTalk(t, s, "a", "BC", "d", "E", "f", "g", "h")
	if got := storetest.ExpandedText(t, s, r1); got != "b\nc" {
		t.Errorf("expand gives %q", got)
	}
	m := storetest.MessageAt(t, s, r1)
	if m.Role != "user" || m.Seq != 2 || !slices.Equal(m.StandsFor, whole(ids[1], ids[2])) {
		t.Errorf("rendered as %+v", m)
	}
	for _, p := range []struct {
		id   format.ID
		by   []format.ID
		what []format.Target
	}{{ids[1], []format.ID{r1}, nil}, {ids[4], []format.ID{r2}, nil}, {ids[0], nil, nil},
		{r1, nil, whole(ids[1], ids[2])}} {
		got := storetest.Must[*clusters.Provenance](t)(
			s.Recall.Provenance(storetest.View(t, s), p.id))
		if !slices.Equal(got.ReplacedBy, p.by) || !slices.Equal(got.Targets, p.what) {
			t.Errorf("provenance of %v: %v, %v", p.id, got.ReplacedBy, got.Targets)
		}
	}
	if len(
		storetest.Must[[]*history.Shown](t)(s.Recall.Log(storetest.Tip(t, s).ID,
			recall.LogOptions{}))) != 8 {
		t.Error("the log is not what was said")
	}
	storetest.Check(t, s)
}

// TestReplaceAtOnce: of workers that answer the same claim at the same time one is taken, and the
// others are told.
func TestReplaceAtOnce(t *testing.T) {
	s := storetest.Create(t, "lock.timeout=60s")
	ids := letters(t, s, "abc")
	claim := storetest.BeginReplace(t, s, whole(ids[1])...)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		own := storetest.Reopen(t, s.Dir, nil, "lock.timeout=60s")
		wg.Go(func() { _, errs[i] = storetest.CommitReplace(own, claim, fmt.Sprint("text ", i)) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, history.ErrStale) || !strings.Contains(err.Error(), "was replaced by"):
			t.Error(err)
		}
	}
	if won != 1 || len(textsShown(t, s)) != 3 {
		t.Errorf("%d were taken, rendered is %q", won, textsShown(t, s))
	}
}

// TestReplaceWorkerDies: a claim leaves nothing behind.
func TestReplaceWorkerDies(t *testing.T) {
	s := storetest.Create(t)
	ids := letters(t, s, "abc")
	number := storetest.View(t, s).Number
	storetest.BeginReplace(t, s, whole(ids...)...)
	if storetest.View(t, s).Number != number {
		t.Error("a claim wrote something")
	}
	// Another worker is not kept from the same messages.
	storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(ids...)...), "all")
	wantTalk(t, s, "all")
}

// TestReplaceTwice: the same answer is known, also after it was itself replaced.
func TestReplaceTwice(t *testing.T) {
	s := storetest.Create(t)
	ids := letters(t, s, "abc")
	claim := storetest.BeginReplace(t, s, whole(ids[0], ids[1])...)
	first := storetest.Replace(t, s, claim, "AB")
	number := storetest.View(t, s).Number
	for range 2 {
		done, err := storetest.CommitReplace(s, claim, "\nAB\x07 ") // the same once it is cleaned
		if err != nil || done.Known != 1 || len(done.Entries) != 0 ||
			storetest.View(t, s).Number != number {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	refusedClaim(t, s, claim, "another text", "was replaced by "+first.String())
	second := storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(first, ids[2])...), "ABC")
	wantTalk(t, s, "ABC")
	if done, err := storetest.CommitReplace(s, claim, "AB"); err != nil || done.Known != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	if got := storetest.ExpandedText(t, s, second); got != "a\nb\nc" {
		t.Errorf("expand of the second gives %q", got)
	}
	if _, err := s.Edits.BeginReplace(storetest.View(t, s), "s", history.MainBranch, whole(ids[0]),
		nil); !errors.Is(err, history.ErrRefused) ||
		!strings.Contains(err.Error(), first.String()) {
		t.Errorf("a claim over what is replaced: %v", err)
	}
}

// TestReplaceAfterRewind: an answer after a rewind is refused and names what left; after an undo of
// the rewind it is taken.
func TestReplaceAfterRewind(t *testing.T) {
	s := storetest.Create(t)
	c := context.Background()
	ids := letters(t, s, "abcd")
	claim := storetest.BeginReplace(t, s, whole(ids[1], ids[2])...)
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "s", history.MainBranch,
		ids[2], conversation.RewindOptions{}))
	refusedClaim(t, s, claim, "BC", ids[2].String()+" is not in s/main")
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "s"))
	r := storetest.Replace(t, s, claim, "BC")
	wantTalk(t, s, "a", "BC", "d")
	// The replacement goes with a rewind to before it, and comes back.
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "s", history.MainBranch, r,
		conversation.RewindOptions{}))
	wantTalk(t, s, "a", "b", "c", "d")
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "s"))
	wantTalk(t, s, "a", "BC", "d")
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "s"))
	wantTalk(t, s, "a", "b", "c", "d")
	storetest.Must[conversation.Undone](t)(s.Conversation.Redo(c, "s"))
	wantTalk(t, s, "a", "BC", "d")
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "s", history.MainBranch,
		ids[0], conversation.RewindOptions{}))
	refusedClaim(t, s, claim, "BC", "is not in s/main")
	storetest.Check(t, s)
}

// TestReplaceAfterAmend: words that have changed are not covered by a text about the old ones,
// before or after it was taken.
func TestReplaceAfterAmend(t *testing.T) {
	s := storetest.Create(t)
	c := context.Background()
	a := storetest.Say(t, s, "s", "user", "a")
	b := amendable(t, s, "m", "model", "b", "")
	claim := storetest.BeginReplace(t, s, whole(a, b)...)
	newer := amendable(t, s, "m", "model", "b2", "")
	refusedClaim(t, s, claim, "AB", b.String()+" was amended")
	r := storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(a, b)...), "AB2")
	wantTalk(t, s, "AB2")
	over := storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(r)...), "AB2 again")
	wantTalk(t, s, "AB2 again")
	newest := amendable(t, s, "m", "model", "b3", "")
	wantTalk(t, s, "a", "b3") // neither of the two holds
	refusedClaim(t, s, begin0(over), "x", "holds no more")
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "s", history.MainBranch,
		newest, conversation.RewindOptions{}))
	wantTalk(t, s, "AB2 again")
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "s", history.MainBranch, newer,
		conversation.RewindOptions{}))
	wantTalk(t, s, "a", "b")
	storetest.Replace(t, s, claim, "AB")
	wantTalk(t, s, "AB")
}

// begin0 is a claim over an entry that nobody was given.
func begin0(id format.ID) string {
	return (&summaries.Replacement{Session: "s", Branch: history.MainBranch,
		Targets: []summaries.Target{{Target: whole(id)[0], Mark: ""}}}).String()
}

// A replacement of replacements says how many messages it stands for, each counted once, whatever
// they were replaced by before.
func TestReplacementCountsMessages(t *testing.T) {
	s := storetest.Create(t)
	ids := letters(t, s, "abcdef")
	one := storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(ids[0], ids[1])...), "AB")
	two := storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(ids[2], ids[3])...), "CD")
	storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(one, two, ids[4])...), "A to E")
	tail := storetest.Tail(t, s)
	if len(tail) != 2 || tail[0].Replaces != 5 {
		t.Fatalf("shown are %d messages, the first stands for %d: want 2 and 5", len(tail),
			tail[0].Replaces)
	}
	if out := string(storetest.Render(t, s, "s", 0).Bytes); !strings.Contains(out,
		"[5 messages in other words;") {
		t.Errorf("rendered:\n%s", out)
	}
}

// A worker's text is found by a search while it is rendered, when its messages have left the
// window, and when the index is made anew; after a rewind it is found among what was rewound.
func TestReplacementIsFound(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	c := context.Background()
	ids := letters(t, s, "abcd")
	r := storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(ids[0], ids[1])...),
		"the goal is a hippopotamus")
	found := func(when string, rewound bool) {
		t.Helper()
		for range 2 {
			hits := storetest.Must[[]find.Hit](t)(s.Recall.Search(storetest.View(t, s),
				find.SearchQuery{Text: "hippopotamus", Limit: 5, Rewound: rewound}))
			if len(hits) != 1 || hits[0].ID != r ||
				hits[0].Shown.Text != "the goal is a hippopotamus" {
				t.Errorf("%s: found %+v, want the replacement %v", when, hits, r)
			}
			s = storetest.Reopen(t, s.Dir, nil, storetest.Small...)
		}
	}
	found("at once", false)
	letters(t, s, "efghijklmnopqrstuvw")
	storetest.Compact(t, s, "s")
	if out := string(storetest.Render(t, s, "s", 0).Bytes); strings.Contains(out, "hippopotamus") {
		t.Fatalf("it is rendered still:\n%s", out)
	}
	found("when it has left the window", false)
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "s", history.MainBranch,
		ids[0], conversation.RewindOptions{}))
	found("after a rewind", true)
}

// TestReplaceOverlap: of two claims that overlap the second comes too late; with partial it stands
// for the rest.
func TestReplaceOverlap(t *testing.T) {
	s := storetest.Create(t)
	ids := letters(t, s, "abcd")
	one, two := storetest.BeginReplace(t, s, whole(ids[:3]...)...),
		storetest.BeginReplace(t, s, whole(ids[2], ids[3])...)
	first := storetest.Replace(t, s, one, "ABC")
	refusedClaim(t, s, two, "CD", ids[2].String()+" was replaced by "+first.String())
	done, err := s.Edits.CommitReplace(context.Background(), storetest.AnswerOf(two, "D"),
		edits.ReplaceOptions{Partial: true})
	if err != nil || done.Replaced != 1 || len(done.Lost) != 1 ||
		done.Lost[0].What != ids[2].String() {
		t.Fatalf("%+v, %v", done, err)
	}
	wantTalk(t, s, "ABC", "D")
	again, err := s.Edits.CommitReplace(context.Background(), storetest.AnswerOf(two, "D"),
		edits.ReplaceOptions{Partial: true})
	if err != nil || again.Known != 1 {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	if _, err := s.Edits.CommitReplace(context.Background(), storetest.AnswerOf(one, "other"),
		edits.ReplaceOptions{Partial: true}); !errors.Is(err, history.ErrStale) {
		t.Errorf("nothing is left of it: %v", err)
	}
}

// TestReplaceInOneGo: answers that come together are taken together or not at all, in one
// operation.
func TestReplaceInOneGo(t *testing.T) {
	s := storetest.Create(t)
	c := context.Background()
	ids := letters(t, s, "abcde")
	answers := slices.Concat(storetest.AnswerOf(storetest.BeginReplace(t, s, whole(ids[0])...),
		"A"), storetest.AnswerOf(storetest.BeginReplace(t, s, whole(ids[2], ids[3])...), "CD"))
	both := slices.Concat(answers,
		storetest.AnswerOf(storetest.BeginReplace(t, s, whole(ids[3])...), "D"))
	if _, err := s.Edits.CommitReplace(c, both,
		edits.ReplaceOptions{}); !errors.Is(err, history.ErrStale) ||
		!strings.Contains(err.Error(), "in another answer") {
		t.Errorf("two for one message: %v", err)
	}
	wantTalk(t, s, "a", "b", "c", "d", "e")
	number := storetest.View(t, s).Number
	done, err := s.Edits.CommitReplace(c, append(answers, answers[0]), edits.ReplaceOptions{})
	if err != nil || len(done.Entries) != 2 || done.Known != 1 ||
		storetest.View(t, s).Number != number+1 {
		t.Errorf("%+v, %v", done, err)
	}
	wantTalk(t, s, "A", "b", "CD", "e")
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "s"))
	wantTalk(t, s, "a", "b", "c", "d", "e")
	other := storetest.Say(t, s, "other", "user", "x")
	list := storetest.Must[[]edits.ReplaceClaim](t)(s.Edits.BeginReplace(storetest.View(t, s),
		"other", history.MainBranch, whole(other), nil))
	if _, err := s.Edits.CommitReplace(c, append(answers, storetest.AnswerOf(list[0].ID, "x")...),
		edits.ReplaceOptions{}); !errors.Is(err, history.ErrInput) {
		t.Errorf("answers about two branches: %v", err)
	}
}

// TestReplaceText: a text is cleaned before anything is stored, and one that says nothing or too
// much is refused.
func TestReplaceText(t *testing.T) {
	s := storetest.Create(t)
	ids := letters(t, s, "ab")
	claim := storetest.BeginReplace(t, s, whole(ids[0])...)
	number := storetest.View(t, s).Number
	for name, text := range map[string]string{"empty": "", "blank": " \n\t", "no words": "…—!",
		"controls alone": "\x00\x07", "oversized": strings.Repeat("a ", history.MaxMessage/2+1)} {
		if _, err := storetest.CommitReplace(s, claim, text); !errors.Is(err, history.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if storetest.View(t, s).Number != number {
		t.Error("something was written")
	}
	r := storetest.Replace(t, s, claim, "\x1b[31mpassword=hunter2xyz99\x00 is <it>\xff")
	if got, want := storetest.MessageAt(t, s, r).Text,
		"password=[REDACTED:password] is <it>\uFFFD"; got != want {
		t.Errorf("rendered is %q, want %q", got, want)
	}
}

// TestReplaceKeepsPairs: a call is not parted from its result, by a claim or by what is left of
// one.
func TestReplaceKeepsPairs(t *testing.T) {
	s := storetest.Create(t)
	c := context.Background()
	storetest.Say(t, s, "s", "user", "go")
	call, result := storetest.CallTool(t, s, 1, "out")
	open, _, err := s.Conversation.Append(c, "s", history.MainBranch,
		[]conversation.Message{{Role: "model", Text: "x",
			Calls: []format.Call{{ID: "later", Tool: "t"}}}}, conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]format.Target{
		"a call": whole(call), "a result": whole(result), "a call that waits": whole(open[0].ID),
		"the call's part": {{Entry: call, Part: 1}},
	} {
		if _, err := s.Edits.BeginReplace(storetest.View(t, s), "s", history.MainBranch, list,
			nil); !errors.Is(err, history.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Claims that nobody was given are held against the same.
	for part, why := range map[int]string{1: "is a call", 7: "its parts are 0 to 1"} {
		made := &summaries.Replacement{Session: "s", Branch: history.MainBranch,
			Targets: []summaries.Target{{Target: format.Target{Entry: call, Part: part}, Mark: ""}}}
		refusedClaim(t, s, made.String(), "x", why)
	}
	refusedClaim(t, s, begin0(result), "x", "the other half stays")
	storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(call, result)...), "looked")
	for _, f := range []view.Format{view.Gemini, view.OpenAI, view.Anthropic} {
		out := storetest.Must[view.Output](t)(
			view.Render(
				storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), "s",
					history.MainBranch, view.Options{})), view.Options{Format: f}))
		if !strings.Contains(string(out.Bytes), "2 messages in other words") ||
			strings.Contains(string(out.Bytes), `"c1"`) {
			t.Errorf("%s: %s", f, out.Bytes)
		}
	}
}

// TestReplacePartialKeepsPairs: where the result has moved, its call is left out, too.
func TestReplacePartialKeepsPairs(t *testing.T) {
	s := storetest.Create(t)
	first := storetest.Say(t, s, "s", "user", "go")
	call, result := storetest.CallTool(t, s, 1, storetest.LongOutput(1))
	claim := storetest.BeginReplace(t, s, whole(first, call, result)...)
	storetest.MaskAll(t, s, edits.MaskTarget{Entry: result, Part: 0})
	refusedClaim(t, s, claim, "all", result.String()+" is shown otherwise")
	done, err := s.Edits.CommitReplace(context.Background(), storetest.AnswerOf(claim, "went"),
		edits.ReplaceOptions{Partial: true})
	if err != nil || done.Replaced != 1 || len(done.Lost) != 2 ||
		done.Lost[1].What != call.String() {
		t.Fatalf("%+v, %v", done, err)
	}
	if got := textsShown(t, s); len(got) != 3 || got[0] != "went" {
		t.Errorf("rendered is %q", got)
	}
}

// TestReplaceParts: a text in the place of a part leaves the rest of its message, and the call
// keeps its result.
func TestReplaceParts(t *testing.T) {
	s := storetest.Create(t)
	storetest.Say(t, s, "s", "user", "go")
	id := amendable(t, s, "m", "tool", "",
		`[{"functionResponse":{"id":"a","name":"cat","response":{"output":"long"}}},{"text":"said"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]`)
	plain := storetest.Say(t, s, "s", "model", "plain")
	part := func(id format.ID, n int) format.Target { return format.Target{Entry: id, Part: n} }
	for name, list := range map[string][]format.Target{
		"past the end": {part(id, 3)}, "of plain text": {part(plain, 1)},
		"not in the branch": whole(format.Sum([]byte("x"))),
	} {
		if _, err := s.Edits.BeginReplace(storetest.View(t, s), "s", history.MainBranch, list,
			nil); !errors.Is(err, history.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, list := range map[string][]format.Target{"twice": {part(id, 1), part(id, 1)},
		"a part and all": {part(id, 1), whole(id)[0]}} {
		if _, err := s.Edits.BeginReplace(storetest.View(t, s), "s", history.MainBranch, list,
			nil); !errors.Is(err, history.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	claim := storetest.BeginReplace(t, s, part(id, 0))
	r := storetest.Replace(t, s, claim, "short")
	m := storetest.MessageAt(t, s, id)
	lead := "[1 part in other words; `ctx expand " + r.Short(12) + "` gives the exact ones]\\nshort"
	if want := `{"functionResponse":{"id":"a","name":"cat","response":{"output":"` + lead +
		`"}}}`; !strings.Contains(string(m.Parts), want) || len(m.Replaced) != 1 {
		t.Errorf("rendered is %s, %v", m.Parts, m.Replaced)
	}
	refusedClaim(t, s, claim, "shorter", "is shown otherwise")
	both := storetest.Replace(t, s,
		storetest.BeginReplace(t, s, part(id, 0), part(id, 2), part(plain, 0)), "shorter")
	m = storetest.MessageAt(t, s, id)
	var raws []struct {
		Text             string
		FunctionResponse *struct{ Response struct{ Output string } }
	}
	if err := json.Unmarshal(m.Parts, &raws); err != nil {
		t.Fatal(err)
	}
	pointer := "[replaced: `ctx expand " + both.String() + "` gives the exact words]"
	if !strings.HasSuffix(raws[0].FunctionResponse.Response.Output, "\nshorter") ||
		raws[1].Text != "said" || raws[2].Text != pointer ||
		storetest.MessageAt(t, s, plain).Text != pointer {
		t.Errorf("rendered is %s and %q", m.Parts, storetest.MessageAt(t, s, plain).Text)
	}
	if len(m.Replaced) != 2 || m.Replaced[0].By != both || m.Replaced[1].By != both {
		t.Errorf("marked %v", m.Replaced)
	}
	if got := storetest.ExpandedText(t, s, both); !strings.HasPrefix(got, "long\nsaid") ||
		!strings.HasSuffix(got, "plain") {
		t.Errorf("expand gives %q", got)
	}
	// What a text stands for is not masked any more, and cannot be claimed by its old words.
	if _, err := s.Edits.ApplyMasks(context.Background(), "s", history.MainBranch,
		[]edits.MaskTarget{part(id, 0)}); !errors.Is(err, history.ErrRefused) {
		t.Errorf("a mask over it: %v", err)
	}
}

// TestReplaceGraduated: what went into clusters meanwhile is still there. The text comes before the
// tail, and goes into the prefix when the branch adopts.
func TestReplaceGraduated(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	ids := letters(t, s, "abcd")
	claim := storetest.BeginReplace(t, s, whole(ids[1], ids[2])...)
	letters(t, s, "efghij")
	if through := storetest.Tip(t, s).Through; through < 3 {
		t.Fatalf("through is %d", through)
	}
	before := textsShown(t, s)
	done, err := storetest.CommitReplace(s, claim, "BC")
	if err != nil || done.Unseen != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	wantTalk(t, s, append([]string{"BC"}, before...)...)
	prefix := func() string {
		in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), "s",
			history.MainBranch, view.Options{}))
		in.Tail = nil
		return string(storetest.Must[view.Output](t)(view.Render(in, view.Options{})).Bytes)
	}
	if p := prefix(); strings.Contains(p, "BC") || !strings.Contains(p, "\nb\n") {
		t.Errorf("before the branch adopts, the prefix is %s", p)
	}
	letters(t, s, "klmnop")
	if p := prefix(); !strings.Contains(p, "[2 messages in other words") ||
		!strings.Contains(p, "\nBC\n") || strings.Contains(p, "\nb\n") {
		t.Errorf("the prefix is %s", p)
	}
	if got := textsShown(t, s); slices.Contains(got, "BC") {
		t.Errorf("the prefix and the tail have it: %q", got)
	}
	storetest.Check(t, s)
}

// TestReplaceCluster: a text for a cluster becomes its summary, for as many members as were
// claimed; it is known, too late, or reverted like one.
func TestReplaceCluster(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=4", "window.evict_at=6",
		"forest.merge_threshold=0")
	c := context.Background()
	for n := range 8 {
		storetest.Say(t, s, "s", "user",
			fmt.Sprintf("the postgres migration of table %d failed on port %d again", n, n))
	}
	storetest.Must[summaries.Compaction](t)(
		s.Compaction.Compact(c,
			compaction.CompactOptions{Branches: []history.BranchName{{Session: "s",
				Branch: history.MainBranch}}}))
	before := storetest.Must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(storetest.View(t, s)))
	if len(before) != 1 || len(before[0].Covers) != 1 {
		t.Fatalf("got %+v", before)
	}
	old := before[0].Covers[0].Summary
	offered := storetest.Must[[]edits.ReplaceClaim](t)(s.Edits.BeginReplace(storetest.View(t, s),
		"s", history.MainBranch, nil, []format.ID{before[0].ID}))
	if !offered[0].Cluster || offered[0].Tokens == 0 ||
		len(offered[0].Inputs) != int(before[0].Count) {
		t.Fatalf("got %+v", offered)
	}
	claim := offered[0].ID
	for n := range 4 {
		storetest.Say(t, s, "s", "user", fmt.Sprintf("and table %d", n)) // it grows meanwhile
	}
	if _, err := storetest.CommitReplace(s, claim,
		strings.Repeat("much too long ", 400)); !errors.Is(err, history.ErrInput) {
		t.Errorf("a text that is too long: %v", err)
	}
	done, err := storetest.CommitReplace(s, claim, "Migrations fail.")
	if err != nil || done.Carried+done.Settled != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if done, err := storetest.CommitReplace(s, claim, "Migrations fail."); err != nil ||
		done.Known != 1 {
		t.Errorf("the second time: %+v, %v", done, err)
	}
	if _, err := storetest.CommitReplace(s, claim,
		"Other words."); !errors.Is(err, history.ErrStale) ||
		!strings.Contains(err.Error(), "answered meanwhile") {
		t.Errorf("another answer: %v", err)
	}
	storetest.Must[summaries.Compaction](t)(
		s.Compaction.Compact(c,
			compaction.CompactOptions{Branches: []history.BranchName{{Session: "s",
				Branch: history.MainBranch}}}))
	text := string(
		storetest.Must[view.Output](t)(
			view.Render(
				storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), "s",
					history.MainBranch, view.Options{})), view.Options{})).Bytes)
	if !strings.Contains(text, "Migrations fail.") && done.Settled == 1 {
		t.Errorf("rendered is %s", text)
	}
	storetest.Check(t, s)
	after := storetest.Must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(storetest.View(t, s)))
	if storetest.ExpandedText(t, s, after[0].ID) == "" || old == after[0].Covers[0].Summary {
		t.Error("the summary is the old one")
	}
	missing :=
		(&summaries.Replacement{Run: &summaries.Run{Replaces: true,
			Node: format.Sum([]byte("x"))}}).String()
	if _, err := storetest.CommitReplace(s, missing, "x y"); !errors.Is(err, history.ErrStale) ||
		!strings.Contains(err.Error(), "no cluster has these members") {
		t.Errorf("a claim over nothing: %v", err)
	}
	mixed := append(storetest.AnswerOf(claim, "x"), storetest.AnswerOf(begin0(old), "y")...)
	if _, err := s.Edits.CommitReplace(c, mixed, edits.ReplaceOptions{}); !errors.Is(err,
		history.ErrInput) {
		t.Errorf("clusters and entries in one commit: %v", err)
	}
}

// FuzzReplaceClaim: a name that is taken is the one that is written.
func FuzzReplaceClaim(f *testing.F) {
	id := format.Sum([]byte("x"))
	for _, c := range []summaries.Replacement{
		{Session: "s", Branch: "main",
			Targets: []summaries.Target{{Target: whole(id)[0], Mark: ""},
				{Target: format.Target{Entry: format.Sum(nil), Part: 12},
					Mark: "0123456789abcdef"}}},
		{Session: "a.b ü", Branch: "x.y",
			Targets: []summaries.Target{{Target: whole(id)[0], Mark: ""}}},
		{Run: &summaries.Run{Replaces: true, Node: id}},
		{Run: &summaries.Run{Replaces: true, Node: id, Mark: "0123456789abcdef"}},
	} {
		f.Add(c.String())
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := summaries.ParseReplacement(s)
		if err != nil {
			if !errors.Is(err, history.ErrInput) {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		if c.String() != s {
			t.Errorf("%q prints as %q", s, c)
		}
	})
}
