package eval

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/fixture"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
)

// library is a store with every conversation or transcript of a set in a session of its own.
type library struct {
	*fixture.Store
	sessions []string          // in the order of the set; those of subagents come after them
	of       map[string]string // the session of a conversation or transcript, by its name
	said     []shelved         // every message, by session
	asked    []shelved         // a sample of the prompts
}

// shelved is a message and its session.
type shelved struct {
	session string
	text    string
}

// sampledPrompts is the most prompts of a set that are searched for.
const sampledPrompts = 60

// The lengths of the prompts that are searched for, in characters. A shorter prompt comes up
// several times, and a longer one is found by nearly any of its words.
const (
	shortestPrompt = 21
	longestPrompt  = 159
)

// shelve makes the library of a set, and draws the prompts to search for.
func (u *runner) shelve(ctx context.Context, set sets.Set, seed uint64) (*library, error) {
	s, err := u.Open()
	if err != nil {
		return nil, err
	}
	b := &library{Store: s, of: map[string]string{}}
	if err := b.fill(ctx, set); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	prompts, err := b.read()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) // the golden ratio: any constant would do
	for _, i := range r.Perm(len(prompts)) {
		if len(b.asked) < sampledPrompts {
			b.asked = append(b.asked, prompts[i])
		}
	}
	return b, nil
}

// fill imports the transcripts of a set, and appends its conversations.
func (b *library) fill(ctx context.Context, set sets.Set) error {
	for _, t := range set.Transcripts {
		name, err := b.TakeIn(ctx, t)
		if err != nil {
			return fmt.Errorf("transcript %q: %w", t.Name, err)
		}
		b.of[t.Name] = name
	}
	for i, m := range corpus.Conversations(set.Messages) {
		if m = corpus.Live(m); len(m) == 0 {
			continue
		}
		name := fmt.Sprintf("%s-%d", fixture.Talk, i)
		b.of[m[0].Conversation] = name
		for start := 0; start < len(m); start += fixture.AppendBatch {
			var batch []conversation.Message
			for _, one := range m[start:min(len(m), start+fixture.AppendBatch)] {
				batch = append(batch, fixture.EntryOf(one))
			}
			_, _, err := b.Conversation.Append(
				ctx, name, history.MainBranch, batch, conversation.AppendOptions{Orphan: true,
					NoGraduation: true},
			)
			if err != nil {
				return fmt.Errorf("conversation %q: %w", m[0].Conversation, err)
			}
		}
	}
	return nil
}

// read reads the messages of all sessions. It returns the prompts that may be searched for: those
// of users, not those of subagents, of a suitable length.
func (b *library) read() (prompts []shelved, err error) {
	v, err := b.Refs.Read()
	if err != nil {
		return nil, err
	}
	list, err := b.Recall.Sessions(v)
	if err != nil {
		return nil, err
	}
	for _, one := range list {
		b.sessions = append(b.sessions, one.Name)
		tip, err := history.Tip(v, one.Name, history.MainBranch)
		if err != nil {
			return nil, err
		}
		err = b.Recall.LogEach(tip.ID, recall.LogOptions{}, func(shown *history.Shown) error {
			if shown.Entry.Kind != format.KindMessage || shown.Gone != "" {
				return nil
			}
			m := shelved{one.Name, shown.Text}
			b.said = append(b.said, m)
			if n := utf8.RuneCountInString(m.text); shown.Entry.Role == "user" &&
				one.Parent == nil &&
				n >= shortestPrompt && n <= longestPrompt && !strings.ContainsAny(m.text, "<[") {
				prompts = append(prompts, m)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return prompts, nil
}

// find searches all sessions for a text. It finds nothing if the text has no word to search for.
func (b *library) find(text string, most int) ([]recall.Hit, error) {
	v, err := b.Refs.Read()
	if err != nil {
		return nil, err
	}
	hits, err := b.Recall.Search(v, recall.SearchQuery{Text: text, Limit: most})
	if errors.Is(err, history.ErrInput) {
		return nil, nil
	}
	return hits, err
}
