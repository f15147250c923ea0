package eval

import (
	"context"
	"regexp"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
)

// lastRequests is the number of the last requests of a conversation that a rendering should have in
// full.
const lastRequests = 3

// corrects matches the words of a correction, for conversations in which corrections are not
// marked.
var corrects = regexp.MustCompile(
	`(?i)^(no|nope|wrong|actually|wait|stop)\b|\b(i meant|instead of|not what i|don't|do not|never|always|must not)\b`)

// userWords counts the requests and corrections of users that a rendering has word for word, of
// those that fit into its budget, over conversations with a model.
type userWords struct{ fit, kept int }

func (*userWords) report(*measured) {}

func (u *userWords) add(_ context.Context, b *evalCase) error {
	requests, corrections := b.userWords()
	if len(requests)+len(corrections) == 0 {
		return nil
	}
	for _, ratio := range []int{4, 10} {
		budget := b.Budget(ratio)
		printed, err := b.Text(budget)
		if err != nil {
			return err
		}
		text, left := squeeze(printed), budget
		for _, list := range [][]string{requests, corrections} {
			for _, said := range slices.Backward(list) {
				if cost := summarize.Tokens(said) + wordsOverhead; cost <= left {
					left -= cost
					u.fit++
					u.kept += stats.One(holds(text, said))
				}
			}
		}
	}
	return nil
}

// wordsOverhead is the number of tokens that a rendering may spend on the heading of a message: its
// role, time and id.
const wordsOverhead = 20

// userWords returns the last requests and all corrections of a conversation with a model, oldest
// first.
func (b *evalCase) userWords() (requests, corrections []string) {
	model, marked := false, false
	for i := range b.live {
		model = model || b.live[i].Role == "model"
		marked = marked || b.live[i].Mark != ""
	}
	if !model {
		return nil, nil
	}
	for i, text := range b.Said() {
		m := b.live[i]
		correction := marked && m.Mark == "correction" || !marked && corrects.MatchString(text)
		switch {
		case m.Role != "user" || text == "":
		case correction:
			corrections = append(corrections, text)
		case m.Mark == "request" || !marked:
			requests = append(requests, text)
		}
	}
	return requests[max(0, len(requests)-lastRequests):], corrections
}

func TestUserWords(t *testing.T) {
	b := &evalCase{Store: &Store{}, live: []corpus.Message{
		{Role: "user", Text: "fix the port"}, {Role: "model", Text: "Done."},
		{Role: "user", Text: "no, the other one"},
		{Role: "user", Text: "b"}, {Role: "user", Text: "c"}, {Role: "user", Text: "d"},
		{Role: "user", Text: "use pnpm instead of npm"},
	}}
	fill := func() {
		b.IDs, b.Texts = nil, nil
		for i, m := range b.live {
			id, err := idOf(i)
			if err != nil {
				t.Fatal(err)
			}
			b.IDs, b.Texts = append(b.IDs, id), append(b.Texts, m.Text)
		}
	}
	fill()
	requests, corrections := b.userWords()
	if !slices.Equal(requests, []string{"b", "c", "d"}) ||
		!slices.Equal(corrections, []string{"no, the other one", "use pnpm instead of npm"}) {
		t.Errorf("%q, %q", requests, corrections)
	}
	b.live[0].Mark, b.live[4].Mark = "request", "correction"
	requests, corrections = b.userWords()
	if !slices.Equal(requests, []string{"fix the port"}) ||
		!slices.Equal(corrections, []string{"c"}) {
		t.Errorf("marked: %q, %q", requests, corrections)
	}
	b.live[1].Role = "user"
	if requests, corrections = b.userWords(); len(requests)+len(corrections) > 0 {
		t.Errorf("without a model: %q, %q", requests, corrections)
	}
}
