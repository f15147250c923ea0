package find_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/refs"
)

// asked returns the prompts of the turns that answer, with what was said in them.
func asked(t *testing.T, s *session.Store, q find.AnswerQuery) (list []string) {
	t.Helper()
	q.Limit = 3
	if q.Given == nil {
		q.Given = func(format.ID) bool { return false }
	}
	view := storetest.Must[*refs.View](t)(s.Refs.Read())
	for _, a := range storetest.Must[[]find.Answer](t)(s.Recall.Answers(view, q)) {
		list = append(list, a.Session+": "+a.Wanted+" "+a.Who+": "+a.Said)
	}
	return list
}

// A long session answers the same from the cache as without it, as it grows, and after a rewind.
func TestAnswersAreOfTheBranch(t *testing.T) {
	s := storetest.Init(t, storetest.Env(durabletest.TempDir(t), nil))
	say := func(i int, role, text string) format.ID {
		return storetest.Say(t, s, "before", role, fmt.Sprintf(text, i, i))
	}
	var at format.ID
	for i := range 60 {
		id := say(i, "user", "Why does trimWick%dX drop lamp number %d?")
		if i == 10 {
			at = id
		}
		say(i, "model", "It counts from the %dth wick in trimWick%dX.")
	}
	query := find.AnswerQuery{Text: "trimWick3X drops it again", Session: "now"}
	const want = "before: Why does trimWick3X drop lamp number 3? the agent said: It counts from the " +
		"3th wick in trimWick3X."
	for i := range 3 {
		if got := asked(t, s, query); len(got) != 1 || got[0] != want {
			t.Fatalf("%d: %q", i, got)
		}
	}
	say(60, "user", "And trimWick%dX, %d?")
	say(60, "model", "Likewise: trimWick%dX, %d.")
	if got := asked(t, s, query); len(got) != 1 || got[0] != want {
		t.Errorf("grown: %q", got)
	}
	query.Text = "trimWick60X drops it"
	if got := asked(t, s, query); len(got) != 1 {
		t.Errorf("the newest turn: %q", got)
	}
	query.Session = "before"
	if got := asked(t, s, query); got != nil {
		t.Errorf("the context has it: %q", got)
	}
	query.Session = "now"
	if _, err := s.Conversation.Rewind(context.Background(), "before", history.MainBranch,
		at, conversation.RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	for text, n := range map[string]int{"trimWick30X drops it": 0, "trimWick3X drops it": 1} {
		query.Text = text
		if got := asked(t, s, query); len(got) != n {
			t.Errorf("rewound: %q: %q", text, got)
		}
	}
}

// Who comes back asks in the words of then. Some of them, among words of something else, are no
// sign of that.
func TestAnswersToTheSameWords(t *testing.T) {
	s := storetest.Init(t, storetest.Env(durabletest.TempDir(t), nil))
	say := func(role, text string) { storetest.Say(t, s, "before", role, text) }
	say("user", "the large batch gets an internal server error, the small one works again")
	say("model", "I made the small batch the default.")
	for i := range 40 {
		say("user", fmt.Sprintf("Now the wick number %d.", i))
		say("model", fmt.Sprintf("Trimmed, %d.", i))
	}
	for text, n := range map[string]int{
		"which batch was it that gets the internal server error?":                   1,
		"internal error of the compiler in the parser of templates with generators": 0,
		"trim the wick of the small lamp":                                           0,
	} {
		if got := asked(t, s, find.AnswerQuery{Text: text, Session: "now"}); len(got) != n {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// An index that is not there comes in steps while models wait, and as a whole with CatchUpAll.
func TestAnswersWithoutAnIndex(t *testing.T) {
	env := storetest.Env(durabletest.TempDir(t), nil)
	s := storetest.Init(t, env)
	for i := range 3 {
		storetest.SayMany(t, s, fmt.Sprintf("talk-%d", i), 600)
	}
	storetest.Say(t, s, "talk-2", "user", "Why does trimWick drop a lamp?")
	storetest.Say(t, s, "talk-2", "model", "It counts from one.")
	query := find.AnswerQuery{Text: "trimWick drops it again", Session: "now"}
	var got []string
	n := 0
	for ; n < 4 && len(got) == 0; n++ {
		got = asked(t, s, query)
	}
	if n != 3 || len(got) != 1 {
		t.Errorf("after %d: %q", n, got)
	}
	storetest.SayMany(t, s, "talk-3", 1100)
	storetest.Say(t, s, "talk-3", "user", "Who knows douseWick?")
	storetest.Say(t, s, "talk-3", "model", "Nobody does.")
	query.Text = "douseWick fails"
	if got := asked(t, s, query); got != nil {
		t.Errorf("more than it may read: %q", got)
	}
	view := storetest.Must[*refs.View](t)(s.Refs.Read())
	if err := s.Recall.CatchUpAll(view, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	if got := asked(t, s, query); len(got) != 1 {
		t.Errorf("after the whole: %q", got)
	}
}
