package edits_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// TestInbox plays the rules of Gemini CLI's inbox, in which background workers leave proposals. A
// proposal names the nodes that it consumed. The vectors are those of its tests and design notes,
// in packages/core/src/context: the processors stateSnapshotProcessor (sync) and
// stateSnapshotAsyncProcessor (async), and "Async Context Mutations" (notes). A letter is a
// message, and its text; amending A gives it the text a.
//
//	say AB             A and B are said
//	claim p AB         a worker reads A and B
//	commit p           its text, p, stands for what it read
//	split p x=AB y=C   it brings the text x for A and B, and y for C
//	refuse p WHY       its text p is refused, for a reason that says so
//	known p            its text p is there already
//	same p q           two claims have one id
//	draft q C on p     a worker goes on from the text p, which was not taken, and reads C
//	listed open open   so the answers are, by time
//	gc 1               so many answers go
//	amend A, rewind B, undo
//	shown p C          so the branch is rendered
func TestInbox(t *testing.T) {
	for _, v := range []struct{ from, says, steps string }{
		{"sync", "a proposal whose nodes all stand is applied, and what came later stays",
			"say ABC; claim p AB; commit p; shown p C"},
		{"sync", "it is applied though more was said meanwhile",
			"say AB; claim p AB; say CD; commit p; shown p C D"},
		{"sync", "it is refused if one of its nodes is gone",
			"say ABC; claim p AB; rewind B; refuse p is_not_in_s/main; shown A"},
		{"sync", "it is refused if one of its nodes is another one now",
			"say ABC; claim p AB; amend B; refuse p was_amended; shown A b C"},
		{"sync", "a refused one is applied when its nodes are there again",
			"say ABC; claim p AB; rewind B; refuse p is_not_in_s/main; undo; commit p; shown p C"},
		{"sync", "of two over the same nodes one is applied",
			"say ABC; claim p AB; claim q ABC; commit q; refuse p was_replaced_by; shown q"},
		{"sync", "the newest that still fits is applied, an older one after it does not fit",
			"say ABC; claim p AB; claim q BC; commit q; refuse p was_replaced_by; shown A q"},
		{"sync", "an applied one is consumed: the second time changes nothing",
			"say AB; claim p AB; commit p; known p; shown p"},
		{"async", "a proposal names all that it consumed, whatever order it was given in",
			"say ABC; claim p CA; claim q AC; same p q; commit p; known q; shown p B"},
		{"async", "a draft that was not applied is taken off the shelf, and its nodes carried",
			"say ABC; claim p AB; draft q C on p; claim r ABC; same q r; commit q; shown q"},
		{"async", "so is a draft of a draft",
			"say ABCD; claim p A; draft q B on p; draft r D on q; commit r; shown r C"},
		{"async", "a draft that could not be applied is nothing to go on from",
			"say ABC; claim p AB; amend B; draft! q C on p; rewind B; draft! q C on p"},
		{"sync", "what is refused stays in the inbox, and goes when it is taken",
			"say ABC; claim p AB; rewind B; refuse p is_not_in_s/main; listed rejected; undo; " +
				"listed open; commit p; listed applied"},
		{"sync", "what is refused stays until it is collected",
			"say AB; claim p AB; amend A; refuse p was_amended; listed rejected; gc 1; listed"},
		{"sync", "an open one is not collected",
			"say AB; claim p AB; rewind B; refuse p is_not_in_s/main; undo; gc 0; listed open"},
		{"notes", "several nodes, each with what it replaces",
			"say ABCD; claim p ABCD; split p x=AB y=D; shown x C y"},
		{"notes", "what was read and is not replaced is a part of the proof",
			"say ABC; claim p ABC; rewind C; refuse p is_not_in_s/main; split! p x=A; shown A B"},
		{"notes", "a proof of more than is replaced holds while all of it stands",
			"say ABC; claim p ABC; say D; split p x=A; shown x B C D"},
		{"notes", "a node that stands for others can be consumed itself",
			"say ABC; claim p AB; commit p; claim q pC; commit q; shown q"},
		{"notes", "a change behind a node takes every node over it away",
			"say AB; claim p A; commit p; claim q pB; commit q; shown q; amend A; shown a B"},
	} {
		t.Run(v.from+": "+v.says, func(t *testing.T) {
			b := &inbox{T: t, s: storetest.Create(t), id: map[string]format.ID{},
				claims: map[string]string{}}
			for step := range strings.SplitSeq(v.steps, "; ") {
				b.play(strings.Fields(step))
			}
		})
	}
}

// inbox is a branch on which a vector is played.
type inbox struct {
	*testing.T
	s      *session.Store
	id     map[string]format.ID // of messages and replacements
	claims map[string]string
}

func (b *inbox) targets(letters string) (list []format.Target) {
	for _, r := range letters {
		list = append(list, whole(b.id[string(r)])...)
	}
	return list
}

func (b *inbox) play(step []string) {
	b.Helper()
	c := context.Background()
	switch verb, args := step[0], step[1:]; verb {
	case "say":
		for _, r := range args[0] {
			b.id[string(r)] = amendable(b, b.s, string(r), "user", string(r), "")
		}
	case "amend":
		amendable(b, b.s, args[0], "user", strings.ToLower(args[0]), "")
	case "rewind":
		storetest.Must[conversation.Rewound](b)(b.s.Conversation.Rewind(c, "s", history.MainBranch,
			b.id[args[0]], conversation.RewindOptions{}))
	case "undo":
		storetest.Must[conversation.Undone](b)(b.s.Conversation.Undo(c, "s"))
	case "claim":
		b.claims[args[0]] = storetest.BeginReplace(b, b.s, b.targets(args[1])...)
	case "commit":
		b.id[args[0]] = storetest.Replace(b, b.s, b.claims[args[0]], args[0])
	case "known":
		// The text is that of the replacement that is there.
		done, err := storetest.CommitReplace(b.s, b.claims[args[0]], b.knownText())
		if err != nil || done.Known != 1 || len(done.Entries) > 0 {
			b.Errorf("%v: %+v, %v", step, done, err)
		}
	case "split", "split!":
		answer := storetest.AnswerOf(b.claims[args[0]], "")[0]
		for _, of := range args[1:] {
			text, letters, _ := strings.Cut(of, "=")
			answer.Texts = append(answer.Texts,
				summaries.PartialText{Text: text, Replaces: b.targets(letters)})
		}
		done, err := b.s.Edits.CommitReplace(c, []summaries.Answer{answer}, edits.ReplaceOptions{})
		if verb == "split!" {
			if !errors.Is(err, history.ErrStale) {
				b.Errorf("%v: %+v, %v", step, done, err)
			}
		} else if err != nil || len(done.Entries) != len(answer.Texts) {
			b.Errorf("%v: %+v, %v", step, done, err)
		}
	case "refuse":
		refusedClaim(b, b.s, b.claims[args[0]], args[0], strings.ReplaceAll(args[1], "_", " "))
	case "draft", "draft!":
		claim, err := b.s.Edits.BeginReplaceOn(storetest.View(b, b.s),
			storetest.AnswerOf(b.claims[args[3]], args[3])[0], b.targets(args[1]))
		if verb == "draft!" {
			if !errors.Is(err, history.ErrStale) {
				b.Errorf("%v: %+v, %v", step, claim, err)
			}
			return
		}
		if err != nil || claim.Inputs[0].Kind != "draft" || claim.Inputs[0].Text != args[3] {
			b.Fatalf("%v: %+v, %v", step, claim, err)
		}
		b.claims[args[0]] = claim.ID
	case "listed":
		list := storetest.Must[[]edits.ListedAnswer](b)(b.s.Edits.Answers(storetest.View(b, b.s),
			"s", history.MainBranch))
		var states []string
		for _, l := range list {
			states = append(states, l.State)
		}
		if !slices.Equal(states, args) {
			b.Errorf("%v: %v", step, states)
		}
	case "gc":
		n, err := b.s.Edits.DropAnswers(storetest.View(b, b.s), b.s.Now().Add(time.Hour), false)
		if err != nil || strconv.Itoa(n) != args[0] {
			b.Errorf("%v: %d, %v", step, n, err)
		}
	case "same":
		if b.claims[args[0]] != b.claims[args[1]] {
			b.Errorf("%v: %s and %s", step, b.claims[args[0]], b.claims[args[1]])
		}
	case "shown":
		if got := textsShown(b, b.s); !slices.Equal(got, args) {
			b.Errorf("rendered is %q, want %q", got, args)
		}
	default:
		b.Fatalf("no step: %v", step)
	}
}

// knownText returns the text of the replacement that is shown first.
func (b *inbox) knownText() string {
	for _, m := range storetest.Tail(b, b.s) {
		if len(m.StandsFor) > 0 {
			return m.Text
		}
	}
	b.Fatal("nothing is replaced")
	return ""
}

// TestReplaceTexts: several texts are for parts of one claim, each for its own, or none is taken.
func TestReplaceTexts(t *testing.T) {
	s := storetest.Create(t)
	ids := letters(t, s, "abc")
	other := storetest.Say(t, s, "s", "user", "d")
	claim := storetest.BeginReplace(t, s, whole(ids...)...)
	commit := func(o edits.ReplaceOptions, texts ...summaries.PartialText) (edits.Replaced, error) {
		answer := storetest.AnswerOf(claim, "")
		answer[0].Texts = texts
		return s.Edits.CommitReplace(context.Background(), answer, o)
	}
	of := func(text string, ids ...format.ID) summaries.PartialText {
		return summaries.PartialText{Text: text, Replaces: whole(ids...)}
	}
	for name, texts := range map[string][]summaries.PartialText{
		"not claimed":  {of("x", other)},
		"twice":        {of("x", ids[0]), of("y", ids[0], ids[1])},
		"for nothing":  {of("x")},
		"no words":     {of("x", ids[0]), of("—", ids[1])},
		"a part of it": {{Text: "x", Replaces: []format.Target{{Entry: ids[0]}}}},
	} {
		if _, err := commit(edits.ReplaceOptions{}, texts...); !errors.Is(err, history.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	storetest.Replace(t, s, storetest.BeginReplace(t, s, whole(ids[1])...), "B")
	none := edits.ReplaceOptions{}
	if _, err := commit(none, of("A", ids[0])); !errors.Is(err, history.ErrStale) {
		t.Errorf("what was read is replaced: %v", err)
	}
	partial := edits.ReplaceOptions{Partial: true}
	done, err := commit(partial, of("A", ids[0]), of("BC", ids[2], ids[1]))
	if err != nil || len(done.Entries) != 2 || len(done.Lost) != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	wantTalk(t, s, "A", "B", "BC", "d")
	again, err := commit(partial, of("A", ids[0]), of("BC", ids[1], ids[2]))
	if err != nil || again.Known != 1 || len(again.Entries) > 0 {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	storetest.Check(t, s)
}
