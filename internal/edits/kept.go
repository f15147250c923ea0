package edits

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// The cache keeps the newest answers that were refused, so that what a model was paid for is not
// lost with the pipe that it came through. They are no truth: an answer is judged whenever it is
// looked at, and every forget removes all of them.
const (
	maxKept      = 64
	maxKeptBytes = 4 << 20 // of their texts together
)

// keptAnswer is an answer in the cache.
type keptAnswer struct {
	Time       time.Time  `json:"time"`
	Claim      string     `json:"claim"`
	Summarizer string     `json:"summarizer"`
	Texts      []keptText `json:"texts"`
}

type keptText struct {
	Text     string   `json:"text"`
	Replaces []string `json:"replaces"`
}

// id returns the id of an answer. Equal answers to one claim have equal ids, whoever wrote them.
func (k *keptAnswer) id() format.ID {
	said := []string{k.Claim}
	for _, p := range k.Texts {
		said = append(said, strings.Join(p.Replaces, " "), fmt.Sprint(len(p.Text)), p.Text)
	}
	return format.Sum([]byte(strings.Join(said, "\n")))
}

// brought returns an answer as it was brought.
func (k *keptAnswer) brought() (broughtText, error) {
	a := summaries.Answer{Claim: k.Claim,
		Response: summarize.Response{Summarizer: k.Summarizer, Version: "0"}}
	for _, p := range k.Texts {
		one := summaries.PartialText{Text: p.Text}
		for _, name := range p.Replaces {
			t, err := summaries.ParseTarget(name)
			if err != nil {
				return broughtText{}, err
			}
			one.Replaces = append(one.Replaces, t)
		}
		a.Texts = append(a.Texts, one)
	}
	list, err := readReplaceAnswers([]summaries.Answer{a})
	if err != nil {
		return broughtText{}, err
	}
	return list[0], nil
}

// kept returns the answers in the cache, oldest first.
func (s *Reader) kept() (list []keptAnswer) {
	s.Cache.Begin()
	if !s.Cache.GetJSON(cache.AnswersName, &list) {
		return nil
	}
	return list
}

// keep remembers those of answers that were refused, unless forgotten words are why, and no longer
// those that were taken. It is best effort: the caller has told what was refused.
func (s *Writer) keep(brought []broughtText) {
	list := s.kept()
	had := len(list)
	add := false
	for i := range brought {
		b := &brought[i]
		one := keptAnswer{Time: s.Now().UTC(), Claim: b.claim.String(),
			Summarizer: b.answer.Summarizer}
		for _, p := range b.texts {
			text := keptText{Text: p.Text}
			for _, t := range p.Replaces {
				text.Replaces = append(text.Replaces, t.String())
			}
			one.Texts = append(one.Texts, text)
		}
		list = slices.DeleteFunc(list, func(k keptAnswer) bool { return k.id() == one.id() })
		if b.refused && !b.forgotten {
			list, add = append(list, one), true
		}
	}
	if !add && len(list) == had {
		return
	}
	size := 0
	for i := len(list) - 1; i >= 0; i-- {
		for _, p := range list[i].Texts {
			size += len(p.Text)
		}
		if len(list)-i > maxKept || size > maxKeptBytes {
			list = list[i+1:]
			break
		}
	}
	_ = s.Cache.PutJSON(cache.AnswersName, cache.Stamp{}, list)
}

// The states of an answer.
const (
	AnswerApplied  = "applied"  // its text stands for messages
	AnswerReplaced = "replaced" // it was applied, and another text stands for its text now
	AnswerVoid     = "void"     // it was applied, and a message was amended since
	AnswerOpen     = "open"     // it was refused, and could be taken now
	AnswerRejected = "rejected" // it was refused, and would be again
)

// ListedAnswer is an answer about a branch.
type ListedAnswer struct {
	ID         format.ID // the replacement, or what Kept takes
	State, Why string
	Time       time.Time
	Summarizer string
	Texts      []string
	Targets    []format.Target // that its texts are for
	Claim      string          // of a kept answer
}

// Answers returns the answers about a branch, by time: those that its own line has, and those that
// the cache keeps, each as it is judged now.
func (s *Reader) Answers(view *refs.View, session, branch string) ([]ListedAnswer, error) {
	value, err := history.Tip(view, session, branch)
	if err != nil {
		return nil, err
	}
	es, err := s.EditsAt(value.ID)
	if err != nil {
		return nil, err
	}
	var list []ListedAnswer
	add := func(r replaced, state, why string) {
		list = append(list, ListedAnswer{ID: r.id, State: state, Why: why, Time: r.e.Time,
			Summarizer: r.e.Author, Texts: []string{r.Text}, Targets: r.Targets})
	}
	for _, r := range es.list {
		if by := es.hides(r.id); by != nil {
			add(r, AnswerReplaced, fmt.Sprintf("was replaced by %v", by.id))
		} else {
			add(r, AnswerApplied, "")
		}
	}
	for _, r := range es.void {
		add(r, AnswerVoid, "what it stood for was amended")
	}
	for _, k := range s.kept() {
		one, err := s.judgeKept(value, &k, session, branch)
		if err != nil {
			return nil, err
		}
		if one != nil {
			list = append(list, *one)
		}
	}
	slices.SortStableFunc(list, func(a, b ListedAnswer) int { return a.Time.Compare(b.Time) })
	return list, nil
}

// judgeKept judges a kept answer. It returns nil for one about another branch, and for one that was
// applied since.
func (s *Reader) judgeKept(
	value format.Value, k *keptAnswer, session, branch string,
) (*ListedAnswer, error) {
	b, err := k.brought()
	if err != nil || b.claim.Session != session || b.claim.Branch != branch {
		return nil, nil // what cannot be read is as good as lost
	}
	one := &ListedAnswer{ID: k.id(), State: AnswerOpen, Time: k.Time, Summarizer: k.Summarizer,
		Claim: k.Claim}
	for _, p := range b.texts {
		one.Texts = append(one.Texts, p.Text)
		one.Targets = append(one.Targets, p.Replaces...)
	}
	done, err := s.judge(value, []broughtText{b}, ReplaceOptions{})
	switch {
	case errors.Is(err, history.ErrStale):
		why := lists.Map(done.Lost, func(l LostTarget) string { return l.String() })
		one.State, one.Why = AnswerRejected, strings.Join(why, "; ")
	case err != nil:
		return nil, err
	case done.Known > 0:
		return nil, nil
	}
	return one, nil
}

// Kept returns the kept answer whose id begins with some digits, of at least four; false for none,
// or for several.
func (s *Reader) Kept(digits string) (summaries.Answer, bool) {
	var found []broughtText
	for _, k := range s.kept() {
		if b, err := k.brought(); err == nil && len(digits) >= 4 &&
			strings.HasPrefix(k.id().String(), digits) {
			found = append(found, b)
		}
	}
	if len(found) != 1 {
		return summaries.Answer{}, false
	}
	return summaries.Answer{Claim: found[0].claim.String(), Response: found[0].answer,
		Texts: found[0].texts}, true
}

// BeginReplaceOn makes a claim over what an answer that was not taken is over, its draft, and over
// more targets. The text of the draft is the input in the place of what it is for. Errors are those
// of BeginReplace, and ErrStale if the draft could not be taken itself: it may hold words that the
// branch does not show any more.
func (s *Reader) BeginReplaceOn(
	view *refs.View, draft summaries.Answer, targets []format.Target,
) (out ReplaceClaim, err error) {
	brought, err := readReplaceAnswers([]summaries.Answer{draft})
	if err != nil {
		return out, err
	}
	claim := brought[0].claim
	if claim.Run != nil {
		return out, fmt.Errorf("%w: the draft is about a cluster", history.ErrInput)
	}
	value, err := history.Tip(view, claim.Session, claim.Branch)
	if err != nil {
		return out, err
	}
	done, err := s.judge(value, brought, ReplaceOptions{})
	if err != nil {
		return out, err
	}
	if done.Known > 0 {
		return out, fmt.Errorf("%w: the draft was applied: claim the replacement", history.ErrRefused)
	}
	all := claim.Plain()
	for _, t := range targets {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	if out, err = s.claimTargets(view, claim.Session, claim.Branch, all); err != nil {
		return out, err
	}
	var inputs []ReplaceInput
	said := map[int]bool{}
	for _, in := range out.Inputs {
		i := slices.IndexFunc(brought[0].texts,
			func(p summaries.PartialText) bool { return slices.Contains(p.Replaces, in.Target) })
		if i >= 0 && said[i] {
			continue
		}
		if i >= 0 {
			said[i] = true
			in.Kind, in.Role, in.Text = "draft", "user", brought[0].texts[i].Text
			in.Author, in.Call, in.Tool = brought[0].answer.Summarizer, "", ""
		}
		inputs = append(inputs, in)
	}
	out.Inputs = inputs
	return out, nil
}

// DropAnswers removes the kept answers from before a time that would be refused again or were
// applied, and returns how many; with dry none is removed.
func (s *Writer) DropAnswers(view *refs.View, before time.Time, dry bool) (n int, err error) {
	var left []keptAnswer
	for _, k := range s.kept() {
		stays := !k.Time.Before(before)
		if b, err := k.brought(); err == nil && !stays {
			value, err := history.Tip(view, b.claim.Session, b.claim.Branch)
			if err == nil {
				one, err := s.judgeKept(value, &k, b.claim.Session, b.claim.Branch)
				if err != nil {
					return 0, err
				}
				stays = one != nil && one.State == AnswerOpen
			} else if !errors.Is(err, history.ErrNotFound) {
				return 0, err
			}
		}
		if stays {
			left = append(left, k)
		} else {
			n++
		}
	}
	if n > 0 && !dry {
		_ = s.Cache.PutJSON(cache.AnswersName, cache.Stamp{}, left)
	}
	return n, nil
}
