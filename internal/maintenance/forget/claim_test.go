package forget_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	view2 "github.com/gemini-ctx/ctx/internal/view"
)

// A text that was made with words that are forgotten since is refused, in other words and with
// partial too: whether the target still stands in the branch, was rewound from it, or is a
// replacement of what was forgotten.
func TestAnswerOfForgottenWords(t *testing.T) {
	const answer = "the secret is told in other words"
	bg := context.Background()
	wholeOf := func(id format.ID) format.Target {
		return format.Target{Entry: id, Part: format.WholeEntry}
	}
	claimOf := func(t *testing.T, s *session.Store, ids ...format.ID) string {
		t.Helper()
		var targets []format.Target
		for _, id := range ids {
			targets = append(targets, wholeOf(id))
		}
		list := storetest.Must[[]edits.ReplaceClaim](t)(
			s.Edits.BeginReplace(storetest.View(t, s), "talk", history.MainBranch, targets, nil))
		return list[0].ID
	}
	bring := func(s *session.Store, claim, text string, partial bool) (edits.Replaced, error) {
		told := summarize.Response{Text: text, Summarizer: "worker", Version: "1"}
		return s.Edits.CommitReplace(bg, []summaries.Answer{{Claim: claim, Response: told}},
			edits.ReplaceOptions{Partial: partial})
	}
	type prepared func(
		t *testing.T, s *session.Store, a, b format.ID,
	) (claim string, forget format.ID)
	for name, prepare := range map[string]prepared{
		"in the branch": func(t *testing.T, s *session.Store, a, b format.ID) (string, format.ID) {
			return claimOf(t, s, a, b), a
		},
		"rewound": func(t *testing.T, s *session.Store, a, b format.ID) (string, format.ID) {
			claim := claimOf(t, s, a, b)
			storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(bg, "talk",
				history.MainBranch, b, conversation.RewindOptions{}))
			return claim, b
		},
		"a replacement": func(t *testing.T, s *session.Store, a, b format.ID) (string, format.ID) {
			done := storetest.Must[edits.Replaced](t)(
				bring(s, claimOf(t, s, a), "something was said", false))
			return claimOf(t, s, done.Entries[0], b), a
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := kit.Create(t)
			kit.Say(t, s, "talk", "my cat is called Wolfram", "understood, that is the name")
			log := storetest.Must[[]*history.Shown](t)(
				s.Recall.Log(storetest.View(t, s).Get("sessions/talk/main").ID,
					recall.LogOptions{}))
			claim, gone := prepare(t, s, log[0].ID, log[1].ID)
			storetest.Must[forget.Report](t)(
				forget.Run(bg, s.Opened, forget.Options{IDs: []format.ID{gone}}))
			for _, partial := range []bool{false, true} {
				if _, err := bring(s, claim, answer, partial); !errors.Is(err, history.ErrStale) ||
					!strings.Contains(err.Error(), "forgotten") {
					t.Errorf("partial %t: %v, want a refusal that says what was forgotten", partial,
						err)
				}
			}
			in := storetest.Must[view2.Input](t)(s.Recall.RenderInput(storetest.View(t, s), "talk",
				history.MainBranch, view2.Options{}))
			if out := storetest.Must[view2.Output](t)(
				view2.Render(in, view2.Options{})); strings.Contains(string(out.Bytes), answer) {
				t.Errorf("rendered:\n%s", out.Bytes)
			}
		})
	}
}
