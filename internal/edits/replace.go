package edits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/wording"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// ReplaceClaim is something for which a worker may write a text. It reserves nothing.
type ReplaceClaim struct {
	ID      string
	Cluster bool // over a cluster: Tokens is the most that the text may have
	Tokens  int
	Inputs  []ReplaceInput
}

// ReplaceInput is an entry, a part of one, or an earlier replacement, as it is shown; for a
// cluster, a member as it was said.
type ReplaceInput struct {
	format.Target
	Kind       string // entry, part or replacement
	Role       string
	Author     string
	Time       time.Time
	Call, Tool string // of a part that answers a call
	Text       string
}

// BeginReplace makes claims: one over all entries and parts together, in the order of the branch,
// and one over each cluster. It writes and reserves nothing. ErrNotFound is for a target that the
// branch does not have; ErrRefused for one that cannot be replaced: a call without its result, or a
// target that another text stands for.
func (s *Reader) BeginReplace(
	view *refs.View, session, branch string, targets []format.Target, clusters []format.ID,
) ([]ReplaceClaim, error) {
	var list []ReplaceClaim
	if len(targets) > 0 {
		c, err := s.claimTargets(view, session, branch, targets)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	for _, id := range clusters {
		c, err := s.claimCluster(view, id)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func (s *Reader) claimTargets(
	view *refs.View, session, branch string, targets []format.Target,
) (out ReplaceClaim, err error) {
	if len(targets) > summaries.MaxTargets {
		return out, fmt.Errorf("%w: a claim over %d entries: %d is the most", history.ErrInput,
			len(targets), summaries.MaxTargets)
	}
	if err := summaries.CheckTargets(targets); err != nil {
		return out, err
	}
	value, err := history.Tip(view, session, branch)
	if err != nil {
		return out, err
	}
	st, err := s.rangeOf(session, branch, value, targets)
	if err != nil {
		return out, err
	}
	claim := &summaries.Replacement{Session: session, Branch: branch}
	for _, t := range targets {
		if _, ok := st.at[t.Entry]; ok {
			claim.Targets = append(claim.Targets, summaries.Target{Target: t, Mark: st.mark(t)})
			continue
		}
		if r := st.edits.hides(t.Entry); r != nil {
			return out,
				fmt.Errorf("%w: %v is replaced by %v: claim that", history.ErrRefused,
					t.Entry, r.id)
		}
		return out,
			fmt.Errorf("%w: entry %v is not in %s/%s, or is no message", history.NoID,
				t.Entry, session, branch)
	}
	slices.SortFunc(claim.Targets, func(a, b summaries.Target) int {
		if a.Entry != b.Entry {
			return st.at[a.Entry] - st.at[b.Entry]
		}
		return a.Part - b.Part
	})
	if list, why := st.split(claim.Plain()); len(list) > 0 {
		return out, fmt.Errorf("%w: %v %s", history.ErrRefused, list[0], why[0])
	}
	out.ID = claim.String()
	for _, t := range claim.Targets {
		if st.list[st.at[t.Entry]].Gone {
			return out,
				fmt.Errorf("%w: entry %v: its words were forgotten", history.ErrGone, t.Entry)
		}
		in, err := st.input(t.Target)
		if err != nil {
			return out, err
		}
		out.Inputs = append(out.Inputs, in)
	}
	return out, nil
}

// Replaced is the result of CommitReplace.
type Replaced struct {
	Entries  []format.ID // the replace entries, in the order of the answers
	Replaced int         // entries and parts that a text stands for now
	Settled  int         // clusters whose summary is a worker's text now
	// Such clusters that have grown since: the text stands for their first members
	Carried int
	Known   int // answers that were there already
	// What was claimed and is not as it was; with Partial alone: else they are an error
	Lost []LostTarget
	// Of Replaced, how many are in clusters: the text takes their place when the branch adopts
	Unseen int

	fresh []freshReplacement
}

// freshReplacement is a new replacement and who wrote it.
type freshReplacement struct {
	*format.Replacement
	author string
}

// LostTarget is a claimed target that cannot be replaced.
type LostTarget struct {
	What string `json:"id"` // an entry, ENTRY.PART, or a cluster
	Why  string `json:"why"`
}

func (l LostTarget) String() string { return l.What + " " + l.Why }

// ReplaceOptions are the options of CommitReplace.
type ReplaceOptions struct {
	Partial bool // leave out what has moved, instead of taking nothing
}

// CommitReplace puts the texts of answers in the place of what they claim, in one operation, if all
// of that is unchanged. Otherwise nothing changes, and the error is ErrStale and names what has
// changed; with Partial the texts stand for the rest. An answer that is stored already is known and
// changes nothing. All answers must be about one branch, or all about clusters: ErrInput otherwise,
// and for a text that says nothing.
func (s *Writer) CommitReplace(
	ctx context.Context, answers []summaries.Answer, o ReplaceOptions,
) (Replaced, error) {
	brought, err := readReplaceAnswers(answers)
	if err != nil || len(brought) == 0 {
		return Replaced{}, err
	}
	first := brought[0].claim
	if first.Run != nil {
		return s.commitClusters(ctx, brought, o)
	}
	done, err := Retry(ctx, s, first.Session, first.Branch,
		func(value format.Value) (Replaced, error) { return s.judge(value, brought, o) },
		func(t *Tx, done *Replaced) error {
			return t.putReplacements(first.Session, first.Branch, done)
		})
	if stale := errors.Is(err, history.ErrStale); stale || err == nil {
		for i := range brought {
			brought[i].refused = stale || brought[i].refused
		}
		s.keep(brought)
	}
	if errors.Is(err, history.ErrNotFound) {
		err = fmt.Errorf("%w: %s/%s is not there any more", history.ErrStale,
			first.Session, first.Branch)
	}
	return done, err
}

// broughtText is an answer with its claim parsed. What the claim has and no text replaces was only
// read.
type broughtText struct {
	claim  *summaries.Replacement
	answer summarize.Response      // without a text, if texts is not nil
	texts  []summaries.PartialText // targets in the order of the claim

	refused   bool // nothing of it can be taken
	forgotten bool // because words were forgotten
}

// replaces reports whether a text is for a target.
func (b *broughtText) replaces(t format.Target) bool {
	return slices.ContainsFunc(b.texts,
		func(p summaries.PartialText) bool { return slices.Contains(p.Replaces, t) })
}

// readTexts takes the texts of an answer: of each, what it replaces must be claimed, and no two
// replace the same.
func (b *broughtText) readTexts(a *summaries.Answer) error {
	claimed := b.claim.Plain()
	if a.Texts == nil {
		b.texts = []summaries.PartialText{{Text: a.Text, Replaces: claimed}}
	}
	if a.Texts != nil && b.claim.Run != nil {
		return errors.New("a cluster has one text")
	}
	seen := map[format.Target]bool{}
	for _, p := range a.Texts {
		for _, t := range p.Replaces {
			if seen[t] || !slices.Contains(claimed, t) {
				return fmt.Errorf("a text is for %v, which is not in the claim, or in two texts", t)
			}
			seen[t] = true
		}
		if len(p.Replaces) == 0 {
			return errors.New("a text is for nothing")
		}
		p.Replaces = slices.DeleteFunc(slices.Clone(claimed),
			func(t format.Target) bool { return !slices.Contains(p.Replaces, t) })
		b.texts = append(b.texts, p)
	}
	for i := range b.texts {
		if len(b.texts[i].Text) > history.MaxMessage {
			return fmt.Errorf("a text of %d bytes: %d is the most", len(b.texts[i].Text),
				history.MaxMessage)
		}
		text, fault := wording.Clean(b.texts[i].Text)
		if fault != nil {
			return fault
		}
		b.texts[i].Text = text
	}
	b.answer.Text = b.texts[0].Text // the only one of a cluster
	return nil
}

// readReplaceAnswers parses the claims of answers and sanitizes the texts.
func readReplaceAnswers(answers []summaries.Answer) ([]broughtText, error) {
	list := make([]broughtText, len(answers))
	for i, a := range answers {
		c, err := summaries.ParseReplacement(a.Claim)
		if err != nil {
			return nil, err
		}
		if first := list[0].claim; i > 0 &&
			((c.Run == nil) != (first.Run == nil) || c.Session != first.Session ||
				c.Branch != first.Branch) {
			return nil,
				fmt.Errorf(
					"%w: answer %d is about something else than the first one: one commit is "+
						"about one branch, or about clusters", history.ErrInput, i+1)
		}
		b := broughtText{claim: c, answer: a.Response}
		if err = b.readTexts(&a); err == nil {
			if fault := summaries.CleanMaker(&b.answer); fault != nil {
				err = fault
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%w: answer %d is not stored: %w", history.ErrInput, i+1, err)
		}
		list[i] = b
	}
	return list, nil
}

// judge compares answers with a branch as it is.
func (s *Reader) judge(
	value format.Value, brought []broughtText, o ReplaceOptions,
) (Replaced, error) {
	var all []format.Target
	for _, b := range brought {
		all = append(all, b.claim.Plain()...)
	}
	forgotten, err := s.ForgottenWords()
	if err != nil {
		return Replaced{}, err
	}
	first := brought[0].claim
	st, err := s.rangeOf(first.Session, first.Branch, value, all)
	if err != nil {
		return Replaced{}, err
	}
	done := Replaced{}
	taken := &Edits{} // by the answers before
	for i := range brought {
		b := &brought[i]
		b.refused, b.forgotten = false, false
		if all := slices.Concat(st.edits.list, taken.list); !slices.ContainsFunc(b.texts,
			func(p summaries.PartialText) bool { return !isThere(all, p, o.Partial) }) {
			done.Known++
			continue
		}
		if slices.ContainsFunc(b.texts,
			func(p summaries.PartialText) bool { return forgotten.InAnswer(p.Text) }) {
			b.refused, b.forgotten = true, true
			for _, c := range b.claim.Targets {
				done.Lost = append(done.Lost,
					LostTarget{c.String(), "the answer holds what was forgotten"})
			}
			continue
		}
		if lost, err := s.forgottenOf(b.claim); err != nil {
			return Replaced{}, err
		} else if len(lost) > 0 {
			b.refused, b.forgotten = true, true
			done.Lost = append(done.Lost, lost...)
			continue
		}
		left, lost := st.fit(b, taken)
		b.refused = len(left) == 0
		done.Lost = append(done.Lost, lost...)
		for _, p := range b.texts {
			list := slices.DeleteFunc(slices.Clone(p.Replaces),
				func(t format.Target) bool { return !slices.Contains(left, t) })
			if len(list) == 0 {
				continue
			}
			r := freshReplacement{&format.Replacement{Targets: list, Text: p.Text},
				b.answer.Summarizer}
			taken.list = append(taken.list, replaced{Replacement: r.Replacement})
			done.fresh = append(done.fresh, r)
		}
	}
	for _, r := range done.fresh {
		done.Replaced += len(r.Targets)
		for _, t := range r.Targets {
			if st.list[st.at[t.Entry]].Seq <= st.through {
				done.Unseen++
			}
		}
	}
	if len(done.Lost) > 0 && (!o.Partial || len(done.fresh)+done.Known == 0) {
		return done, lostError(done.Lost)
	}
	return done, nil
}

// forgottenOf returns all targets of a claim if the words of one of them were forgotten: the whole
// answer was made with these words. That includes targets that have left the branch, and what a
// target that is a replacement stands for.
func (s *Reader) forgottenOf(c *summaries.Replacement) (lost []LostTarget, err error) {
	forgotten := false
	for _, t := range c.Targets {
		why := "was claimed with words that were forgotten since"
		gone, err := s.wordsGone(t.Entry)
		if err != nil {
			return nil, err
		}
		if gone {
			forgotten, why = true, "was forgotten"
		}
		lost = append(lost, LostTarget{t.String(), why})
	}
	if !forgotten {
		return nil, nil
	}
	return lost, nil
}

// wordsGone reports whether the words of an entry were forgotten, or for a replacement the words of
// a message behind it.
func (s *Reader) wordsGone(id format.ID) (gone bool, err error) {
	if ids, err := s.Objects.Gone([]format.ID{id}); err != nil || len(ids) > 0 {
		return len(ids) > 0, err
	}
	e, err := s.Header(id)
	if errors.Is(err, objects.ErrNotFound) {
		// gc took it away after it had left the branch: the target is lost, and the words were not
		// forgotten
		return false, nil
	}
	if err != nil || e.Kind != format.KindReplace {
		return false, err
	}
	var behind []format.ID
	err = s.ReplacedBy(id,
		func(message format.ID) error { behind = append(behind, message); return nil })
	if err != nil {
		return false, err
	}
	ids, err := s.Objects.Gone(behind)
	return len(ids) > 0, err
}

// isThere reports whether a replacement of a list is what a text would make, or with partial, a
// part of that.
func isThere(list []replaced, p summaries.PartialText, partial bool) bool {
	return slices.ContainsFunc(list, func(r replaced) bool {
		return r.Text == p.Text &&
			(slices.Equal(r.Targets, p.Replaces) ||
				partial && !slices.ContainsFunc(r.Targets, func(t format.Target) bool {
					return !slices.Contains(p.Replaces, t)
				}))
	})
}

// fit returns which targets of an answer can be replaced, and why the others cannot. What was only
// read must be as it was, too.
func (st *replacedRange) fit(
	b *broughtText, taken *Edits,
) (left []format.Target, lost []LostTarget) {
	for _, c := range b.claim.Targets {
		why := st.missing(c)
		if why == "" && taken.by(c.Target) != nil {
			why = "is in another answer, too"
		}
		if why != "" {
			lost = append(lost, LostTarget{c.String(), why})
			continue
		}
		if b.replaces(c.Target) {
			left = append(left, c.Target)
		}
	}
	// What is left out may have been the other half of what is left.
	for {
		split, why := st.split(left)
		if len(split) == 0 {
			return left, lost
		}
		for i, t := range split {
			lost = append(lost, LostTarget{t.String(), why[i]})
		}
		left = slices.DeleteFunc(left,
			func(t format.Target) bool { return slices.Contains(split, t) })
	}
}

// lostError names the lost targets in one line.
func lostError(lost []LostTarget) error {
	const most = 8
	names := lists.Map(lost[:min(len(lost), most)], func(l LostTarget) string { return l.String() })
	if len(lost) > most {
		names = append(names, fmt.Sprintf("and %d more", len(lost)-most))
	}
	return fmt.Errorf("%w: %s", history.ErrStale, strings.Join(names, "; "))
}

// putReplacements records the judged replacements, an entry for each, in one operation.
func (t *Tx) putReplacements(session, branch string, done *Replaced) error {
	var c *store.Controlled
	for _, r := range done.fresh {
		body, err := r.Encode()
		if err != nil {
			return err
		}
		e := &format.Entry{Kind: format.KindReplace, Author: r.author}
		if c == nil {
			c, err = t.store.Control(session, branch, e, body, format.MediaReplace)
		} else {
			err = t.store.OnTop(c, e, body, format.MediaReplace)
		}
		if err != nil {
			return err
		}
		done.Entries = append(done.Entries, c.ID)
	}
	if c == nil {
		return nil
	}
	return t.store.CommitControl(refs.VerbReplace, c)
}
