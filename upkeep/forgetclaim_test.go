package upkeep

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
	view2 "github.com/gemini-ctx/ctx/session/view"
)

// A text that was made with words that are forgotten since is refused, in other words and with partial too: whether the target still stands in the
// branch, was rewound from it, or is a replacement of what was forgotten.
func TestAnswerOfForgottenWords(t *testing.T) {
	const answer = "the secret is told in other words"
	bg := context.Background()
	wholeOf := func(id format.ID) format.Target { return format.Target{Entry: id, Part: format.WholeEntry} }
	claimOf := func(t *testing.T, s *session.Store, ids ...format.ID) string {
		t.Helper()
		var targets []format.Target
		for _, id := range ids {
			targets = append(targets, wholeOf(id))
		}
		list := must[[]session.ReplaceClaim](t)(
			s.BeginReplace(must[*viewOf](t)(read(s)), "talk", session.MainBranch, targets, nil))
		return list[0].ID
	}
	bring := func(s *session.Store, claim, text string, partial bool) (session.Replaced, error) {
		told := summarize.Told{Text: text, Summarizer: "worker", Version: "1"}
		return s.CommitReplace(bg, []session.ReplaceAnswer{{Claim: claim, Told: told}}, session.ReplaceOptions{Partial: partial})
	}
	for name, prepare := range map[string]func(t *testing.T, s *session.Store, a, b format.ID) (claim string, forget format.ID){
		"in the branch": func(t *testing.T, s *session.Store, a, b format.ID) (string, format.ID) {
			return claimOf(t, s, a, b), a
		},
		"rewound": func(t *testing.T, s *session.Store, a, b format.ID) (string, format.ID) {
			claim := claimOf(t, s, a, b)
			must[session.Rewound](t)(s.Rewind(bg, "talk", session.MainBranch, b, session.RewindOptions{}))
			return claim, b
		},
		"a replacement": func(t *testing.T, s *session.Store, a, b format.ID) (string, format.ID) {
			done := must[session.Replaced](t)(bring(s, claimOf(t, s, a), "something was said", false))
			return claimOf(t, s, done.Entries[0], b), a
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(t)
			say(t, s, "talk", "my cat is called Wolfram", "understood, that is the name")
			log := must[[]*session.Shown](t)(s.Log(must[*viewOf](t)(read(s)).Get("sessions/talk/main").ID, session.LogOptions{}))
			claim, forget := prepare(t, s, log[0].ID, log[1].ID)
			must[ForgetReport](t)(Forget(bg, s, ForgetOptions{IDs: []format.ID{forget}}))
			for _, partial := range []bool{false, true} {
				if _, err := bring(s, claim, answer, partial); !errors.Is(err, session.ErrStale) || !strings.Contains(err.Error(), "forgotten") {
					t.Errorf("partial %t: %v, want a refusal that says what was forgotten", partial, err)
				}
			}
			in := must[view2.Input](t)(s.RenderInput(must[*viewOf](t)(read(s)), "talk", session.MainBranch, view2.Options{}))
			if out := must[view2.Output](t)(view2.Render(in, view2.Options{})); strings.Contains(string(out.Bytes), answer) {
				t.Errorf("rendered:\n%s", out.Bytes)
			}
		})
	}
}
