package find

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
)

// Answer is a turn that is about what a prompt names, or asks.
type Answer struct {
	sessions.Turn
	Session string
	// Said are the words of the turn that have most of the prompt, or else its answer: Who said them,
	// and In which message.
	Said  string
	Who   string
	In    format.ID
	score float64
}

// AnswerQuery says what Answers looks for.
type AnswerQuery struct {
	Text    string                  // the prompt
	Session string                  // that asks: what its context still has is no answer
	Given   func(id format.ID) bool // the prompts of turns that the session was told of
	Limit   int
}

// A text answers a prompt if it has names of the prompt that weigh leastNames, other words added at
// wordPart, and namesShare of what all its names do; or if it has fewWords clues or more that weigh
// manyWords, and wordsShare of all. This is as low as it could be on one half of the sessions of
// two projects without giving anything at prompts of the other one. Or it has three in four of the
// clues, mostWords at least that weigh mostWeight: who comes back asks again in the words of then.
// docs/compaction.md says what that is worth.
const (
	leastNames = 0.5
	wordPart   = 0.35
	namesShare = 0.1
	fewWords   = 5
	manyWords  = 1.2
	wordsShare = 0.15
	mostWords  = 4
	mostWeight = 1.0
)

// The most messages, and sessions, that are looked at for a prompt, and the most sentences in a row
// that are one text.
const (
	maxTold     = 32
	maxTellers  = 4
	maxTogether = 3
)

// answers returns how much a text with a sight of the clues answers; 0 if it does not.
func answers(c *search.Clues, s search.Sight) float64 {
	all, sum := c.All(), s.Names+s.Words
	switch byName := s.Names + wordPart*s.Words; {
	case s.Names > 0 && byName >= leastNames && s.Names >= namesShare*all.Names:
		return byName
	case s.N >= fewWords && sum >= manyWords && sum >= wordsShare*(all.Names+all.Words):
		return sum
	case s.N >= mostWords && 4*s.N >= 3*all.N && sum >= mostWeight:
		return sum
	}
	return 0
}

// Answers returns the turns of the project that answer a prompt, at most q.Limit, the best first.
// Most prompts have none. Words of tools, and what subagents of the session said, are no answer.
func (s *Reader) Answers(view *refs.View, q AnswerQuery) ([]Answer, error) {
	clues := search.CluesOf(q.Text)
	if answers(clues, clues.All()) == 0 {
		return nil, nil
	}
	seqs, tellers, err := s.tellers(view, clues, q.Session,
		func(known search.Sight) bool { return answers(clues, known) > 0 })
	if err != nil {
		return nil, err
	}
	var list []Answer
	var known *knowledge
	for _, name := range tellers {
		if len(list) >= q.Limit {
			break // the best messages are in the first sessions
		}
		see := func(t *sessions.Turn, root brief.Root) (err error) {
			a := Answer{Turn: *t, Session: name}
			if a.see(clues, root); a.score == 0 || q.Given(a.Entry) {
				return nil
			}
			if known == nil {
				known, err = s.contextOf(view, q.Session)
			}
			if err == nil && !known.has(name, &a.Facts[0]) &&
				!known.has(name, &a.Facts[len(a.Facts)-1]) {
				list = append(list, a)
			}
			return err
		}
		if err := s.turnsWith(view, name, seqs[name], see); err != nil {
			return nil, err
		}
	}
	best := func(x, y Answer) int {
		return cmp.Or(cmp.Compare(y.score, x.score), y.Time.Compare(x.Time))
	}
	slices.SortStableFunc(list, best)
	for i := range list { // those that are as good as the last of the best
		if i >= q.Limit && list[i].score < list[q.Limit-1].score {
			list = list[:i]
			break
		}
		e, err := s.Header(list[i].Entry)
		if err != nil {
			return nil, err
		}
		list[i].Time = e.Time
	}
	slices.SortStableFunc(list, best)
	return list[:min(len(list), q.Limit)], nil
}

// tellers returns the sessions with the best messages for some clues, and the seqs of these, if the
// clues that the index knows are enough. A subagent of the session that asks is none of them.
func (s *Reader) tellers(
	view *refs.View, clues *search.Clues, session string, enough func(known search.Sight) bool,
) (seqs map[string][]uint64, tellers []string, err error) {
	var hits []search.Hit
	err = s.withNearIndex(view, func(sources []search.Source) error {
		if err := clues.Weigh(sources); err != nil || !enough(clues.Known()) {
			return err
		}
		query, err := clues.Query()
		if err == nil {
			hits, err = search.Rank(sources, query, search.Options{Limit: maxTold})
		}
		return err
	})
	if errors.Is(err, search.ErrNoTerms) {
		err = nil
	}
	seqs = map[string][]uint64{}
	for _, h := range hits {
		if strings.HasPrefix(h.Session, session+".") {
			continue
		}
		if seqs[h.Session] == nil {
			tellers = append(tellers, h.Session)
		}
		seqs[h.Session] = append(seqs[h.Session], h.Seq)
	}
	return seqs, tellers[:min(len(tellers), maxTellers)], err
}

// turnsWith calls see for the turns of a session that have one of some messages.
func (s *Reader) turnsWith(
	view *refs.View, session string, seqs []uint64,
	see func(t *sessions.Turn, root brief.Root) error,
) error {
	name, tip, err := mainOf(view, session)
	if err != nil {
		return err
	}
	// The last turn of what a digest has may go on after it.
	facts, root := s.FactsBefore(name, tip.ID)
	turns := sessions.TurnsOf(facts, root)
	if len(turns) == 0 || slices.Max(seqs) >= turns[len(turns)-1].Seq {
		if facts, root, _, err = s.AllFacts(name, tip); err != nil {
			return err
		}
		s.NoteTip(name, tip.ID)
		turns = sessions.TurnsOf(facts, root)
	}
	for i := range turns {
		t := &turns[i]
		if slices.ContainsFunc(seqs, func(n uint64) bool { return n >= t.Seq && n <= t.Last() }) {
			if err := see(t, root); err != nil {
				return err
			}
		}
	}
	return nil
}

// knowledge is what the model of a session knows.
type knowledge struct {
	session string
	// since is the seq of the newest summary of its client, which took the place of the rest.
	since uint64
	said  map[string]bool // by people since then: another session may have copies
}

func (s *Reader) contextOf(view *refs.View, session string) (*knowledge, error) {
	c := &knowledge{session: session, said: map[string]bool{}}
	if !view.Get(history.RefName(session, history.MainBranch)).Exists() {
		return c, nil
	}
	acts, _, err := s.actsOf(view, session)
	for _, f := range acts.Facts {
		if f.Kind == digest.Recap {
			c.since = f.Seq
		}
	}
	for _, f := range acts.Facts {
		if f.Seq >= c.since && f.Kind == digest.Prompt {
			c.said[f.Text] = true
		}
	}
	return c, err
}

// has reports whether a model knows a fact of a session. It does not know the notes of a person,
// who writes them elsewhere.
func (c *knowledge) has(session string, f *digest.Fact) bool {
	return session == c.session && f.Seq >= c.since && f.Kind != digest.Told || c.said[f.Text]
}

// see looks for the words of the turn that have most of the clues.
func (a *Answer) see(clues *search.Clues, root brief.Root) {
	for i := range a.Facts {
		f, who, text := &a.Facts[i], "the agent said", a.Facts[i].Text
		switch f.Kind {
		case digest.Prompt:
			who = ""
		case digest.Edit:
			who, text = "", f.Path
		case digest.Decision, digest.Told:
			who = "the user said"
		case digest.Answer, digest.Said, digest.Noted:
		default:
			continue
		}
		for _, next := range a.Facts[i+1 : min(i+maxTogether, len(a.Facts))] {
			if next.Seq == f.Seq && next.Kind == f.Kind && f.Kind != digest.Edit {
				text += " " + next.Text
			}
		}
		if score := answers(clues, clues.In(text)); score > a.score {
			a.score, a.Said, a.Who, a.In = score, "", who, f.Entry
			if who != "" {
				a.Said = harmless(root.Shorten(text))
			}
		}
	}
	if a.score == 0 {
		return
	}
	matched := a.Said != ""
	for i := range a.Facts {
		if f := &a.Facts[i]; f.Kind == digest.Answer && !f.Slight && !matched &&
			(a.Said == "" || prose.IsBare(a.Said)) {
			a.Said, a.Who, a.In = harmless(root.Shorten(f.Text)), "the agent said", f.Entry
		}
	}
	if a.Said == "" && len(a.Edited)+len(a.Checked)+len(a.Commits) == 0 {
		a.score = 0 // nothing came of it
	}
	a.Wanted = harmless(a.Wanted)
	for _, list := range [][]string{a.Edited, a.Checked, a.Commits} {
		for i := range list {
			list[i] = harmless(list[i])
		}
	}
}
