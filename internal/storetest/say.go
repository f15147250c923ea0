package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/view"
)

// SayMany appends n messages without a graduation.
func SayMany(t *testing.T, s *session.Store, session string, n int) {
	t.Helper()
	var batch []conversation.Message
	for i := range n {
		batch = append(batch,
			conversation.Message{Role: "user",
				Text: fmt.Sprintf(
					"the one subject, message number %d of those that were said about it", i)})
	}
	add(t, s, session, history.MainBranch, conversation.AppendOptions{NoGraduation: true}, batch...)
}

// add appends messages to a branch.
func add(
	t testing.TB, s *session.Store, session, branch string, o conversation.AppendOptions,
	batch ...conversation.Message,
) []conversation.Appended {
	t.Helper()
	done, _, err := s.Conversation.Append(context.Background(), session, branch, batch, o)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// Value returns an observation of a value, as a JSON line. Each of its texts is different.
func Value(key, value string) string {
	name := key[strings.IndexByte(key, '/')+1:]
	return fmt.Sprintf(`{"key":%q,"value":%s,"first":%q,"changed":%q,"removed_text":%q}`,
		key, value, name+" is "+value, name+" became "+value, name+" has gone")
}

// SayOn appends one message to a branch of session "talk", and returns its id.
func SayOn(t testing.TB, s *session.Store, branch, role, text string) format.ID {
	t.Helper()
	return add(t, s, "talk", branch, conversation.AppendOptions{},
		conversation.Message{Role: role, Text: text})[0].ID
}

// RandomStep changes session "talk": mostly it appends a message; sometimes it compacts, rewinds,
// undoes or graduates.
func RandomStep(t *testing.T, s *session.Store, r *rand.Rand) {
	t.Helper()
	c := context.Background()
	switch n := r.IntN(20); {
	case n < 14:
		Say(t, s, "talk", []string{"user", "model"}[r.IntN(2)], Chatter(r))
	case n < 16:
		if _, err := s.Compaction.Compact(c,
			compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
				Branch: history.MainBranch}}}); err != nil && !clusters.IsMissing(err) {
			t.Fatal(err)
		}
	case n < 17:
		tip, err := history.Tip(View(t, s), "talk", history.MainBranch)
		if err != nil {
			return
		}
		log := Must[[]*history.Shown](t)(s.Recall.Log(tip.ID, recall.LogOptions{Limit: 12}))
		if len(log) > 0 {
			Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "talk", history.MainBranch,
				log[r.IntN(len(log))].ID, conversation.RewindOptions{}))
		}
	case n < 18:
		if _, err := s.Conversation.Undo(c, "talk"); err != nil &&
			!errors.Is(err, history.ErrNotFound) && !errors.Is(err, history.ErrStale) {
			t.Fatal(err)
		}
	default:
		if _, err := s.Conversation.Graduate(c, "talk", history.MainBranch); err != nil &&
			!clusters.IsMissing(err) {
			t.Fatal(err)
		}
	}
}

// Say appends one message to the main branch of a session, and returns its id.
func Say(t testing.TB, s *session.Store, session, role, text string) format.ID {
	t.Helper()
	return AppendOne(t, s, session, conversation.Message{Role: role, Text: text}).ID
}

// Topics are subjects that have no words in common.
var Topics = []string{
	"postgres migration schema port %d table index",
	"parser lexer token line %d nil pointer panic",
	"deploy rollback release server %d traffic canary",
	"rate limit header bucket %d requests minute",
	"flaky timeout retry runner %d shard",
}

// Chatter returns a sentence about one of a few subjects.
func Chatter(r *rand.Rand) string { return fmt.Sprintf(Topics[r.IntN(len(Topics))], r.IntN(10000)) }

// Tip returns the value of the main branch of session "s".
func Tip(t testing.TB, s *session.Store) format.Value {
	t.Helper()
	return Must[format.Value](t)(history.Tip(View(t, s), "s", history.MainBranch))
}

// Sourced returns a message that an agent's transcript has as number id.
func Sourced(role, text, id string) conversation.Message {
	return conversation.Message{Role: role, Text: text,
		Source: &conversation.Source{Agent: "x", Session: "s", Message: id}}
}

// AppendOne appends one message to the main branch of a session.
func AppendOne(
	t testing.TB, s *session.Store, session string, m conversation.Message,
) conversation.Appended {
	t.Helper()
	return add(t, s, session, history.MainBranch, conversation.AppendOptions{}, m)[0]
}

// Render renders the main branch of a session in a budget of tokens.
func Render(t testing.TB, s *session.Store, session string, budget int) view.Output {
	t.Helper()
	in := Must[view.Input](t)(s.Recall.RenderInput(View(t, s), session, history.MainBranch,
		view.Options{}))
	return Must[view.Output](t)(view.Render(in, view.Options{Budget: budget}))
}

// Talk appends n messages of Chatter to the main branch of a session, one by one, and returns their
// ids.
func Talk(t testing.TB, s *session.Store, session string, n int, seed uint64) []format.ID {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	var ids []format.ID
	for i := range n {
		ids = append(ids, Say(t, s, session, []string{"user", "model"}[i%2], Chatter(r)))
	}
	return ids
}
