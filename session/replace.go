package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/wording"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// ReplaceClaim is something that a worker is to write a text for. Nothing is reserved by it.
type ReplaceClaim struct {
	ID      string
	Cluster bool // over a cluster: Tokens is the most that the text may have
	Tokens  int
	Inputs  []ReplaceInput
}

// ReplaceInput is an entry, a part of one, or an earlier replacement, as it is shown; of a cluster a member, as it was said.
type ReplaceInput struct {
	format.Target
	Kind       string // entry, part or replacement
	Role       string
	Author     string
	Time       time.Time
	Call, Tool string // of a part that answers a call
	Text       string
}

// BeginReplace makes claims: one over all entries and parts together, in the order of the branch, and one over each cluster. It writes nothing and
// reserves nothing. ErrNotFound is for what the branch has not, ErrRefused for what cannot be replaced: a call without its result, or
// what another text stands for already.
func (s *Store) BeginReplace(view *refs.View, session, branch string, targets []format.Target, clusters []format.ID) ([]ReplaceClaim, error) {
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

func (s *Store) claimTargets(view *refs.View, session, branch string, targets []format.Target) (out ReplaceClaim, err error) {
	if len(targets) > maxTargets {
		return out, fmt.Errorf("%w: a claim over %d entries: %d is the most", ErrInput, len(targets), maxTargets)
	}
	if err := checkTargets(targets); err != nil {
		return out, err
	}
	value, err := Tip(view, session, branch)
	if err != nil {
		return out, err
	}
	st, err := s.stretchOf(session, branch, value, targets)
	if err != nil {
		return out, err
	}
	claim := &replaceClaim{session: session, branch: branch}
	for _, t := range targets {
		if _, ok := st.at[t.Entry]; ok {
			claim.targets = append(claim.targets, claimedTarget{t, st.mark(t)})
			continue
		}
		if r := st.edits.hides(t.Entry); r != nil {
			return out, fmt.Errorf("%w: %v is replaced by %v: claim that", ErrRefused, t.Entry, r.id)
		}
		return out, fmt.Errorf("%w: entry %v is not in %s/%s, or is no message", ErrNotFound, t.Entry, session, branch)
	}
	slices.SortFunc(claim.targets, func(a, b claimedTarget) int {
		if a.Entry != b.Entry {
			return st.at[a.Entry] - st.at[b.Entry]
		}
		return a.Part - b.Part
	})
	if list, why := st.split(plainTargets(claim.targets)); len(list) > 0 {
		return out, fmt.Errorf("%w: %v %s", ErrRefused, list[0], why[0])
	}
	out.ID = claim.String()
	for _, t := range claim.targets {
		if st.list[st.at[t.Entry]].Gone {
			return out, fmt.Errorf("%w: entry %v: its words were forgotten", ErrGone, t.Entry)
		}
		in, err := st.input(t.Target)
		if err != nil {
			return out, err
		}
		out.Inputs = append(out.Inputs, in)
	}
	return out, nil
}

// ReplaceAnswer is a text that a worker brings for a claim.
type ReplaceAnswer struct {
	Claim string
	summarize.Told
}

// Replaced is what CommitReplace did.
type Replaced struct {
	Entries  []format.ID  // the replace entries, in the order of the answers
	Replaced int          // entries and parts that a text stands for now
	Settled  int          // clusters whose summary is a worker's text now
	Carried  int          // such clusters that have grown since: the text stands for their first members
	Known    int          // answers that were there already
	Lost     []LostTarget // what was claimed and is not as it was; with Partial alone: else they are an error
	Unseen   int          // of Replaced, how many the summaries of clusters stand for: the text does not show

	fresh []freshReplacement
}

// freshReplacement is a text that is about to stand for something, and who wrote it.
type freshReplacement struct {
	*format.Replacement
	author string
}

// LostTarget is something that was claimed and cannot be replaced.
type LostTarget struct {
	What string // an entry, ENTRY.PART, or a cluster
	Why  string
}

func (l LostTarget) String() string { return l.What + " " + l.Why }

// ReplaceOptions are for CommitReplace.
type ReplaceOptions struct {
	Partial bool // leave out what has moved, instead of taking nothing
}

// CommitReplace puts the texts of answers in the place of what they claim, in one operation, if all of that is still there and unchanged. If not, nothing
// changes and the error is ErrStale and names what moved; with Partial the texts stand for what is left. An answer that is there already is
// known and changes nothing. All answers have to be about one branch, or all about clusters: ErrInput otherwise, and for a text that
// says nothing.
func (s *Store) CommitReplace(ctx context.Context, answers []ReplaceAnswer, o ReplaceOptions) (Replaced, error) {
	brought, err := readReplaceAnswers(answers)
	if err != nil || len(brought) == 0 {
		return Replaced{}, err
	}
	first := brought[0].claim
	if first.cluster {
		return s.commitClusters(ctx, brought, o)
	}
	done, err := retry(ctx, s, first.session, first.branch,
		func(value format.Value) (Replaced, error) { return s.judge(value, brought, o) },
		func(t *tx, done *Replaced) error { return t.putReplacements(first.session, first.branch, done) })
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: %s/%s is not there any more", ErrStale, first.session, first.branch)
	}
	return done, err
}

// broughtText is an answer that can be read.
type broughtText struct {
	claim *replaceClaim
	told  summarize.Told
}

// readReplaceAnswers reads the claims of answers, and cleans the texts, before anything is looked at.
func readReplaceAnswers(answers []ReplaceAnswer) ([]broughtText, error) {
	list := make([]broughtText, len(answers))
	for i, a := range answers {
		c, err := parseReplaceClaim(a.Claim)
		if err != nil {
			return nil, err
		}
		if first := list[0].claim; i > 0 && (c.cluster != first.cluster || c.session != first.session || c.branch != first.branch) {
			return nil, fmt.Errorf("%w: answer %d is about something else than the first one: one commit is about one branch, or about clusters", ErrInput, i+1)
		}
		if len(a.Text) > MaxMessage {
			return nil, fmt.Errorf("%w: answer %d has a text of %d bytes: %d is the most", ErrInput, i+1, len(a.Text), MaxMessage)
		}
		text, fault := wording.Clean(a.Text)
		if fault == nil {
			a.Text = text
			fault = nameMaker(&a.Told)
		}
		if fault != nil {
			return nil, fmt.Errorf("%w: answer %d is not stored: %w", ErrInput, i+1, fault)
		}
		list[i] = broughtText{c, a.Told}
	}
	return list, nil
}

// judge holds answers against a branch as it is.
func (s *Store) judge(value format.Value, brought []broughtText, o ReplaceOptions) (Replaced, error) {
	var all []format.Target
	for _, b := range brought {
		all = append(all, plainTargets(b.claim.targets)...)
	}
	forgotten, err := s.forgets()
	if err != nil {
		return Replaced{}, err
	}
	first := brought[0].claim
	st, err := s.stretchOf(first.session, first.branch, value, all)
	if err != nil {
		return Replaced{}, err
	}
	done := Replaced{}
	taken := &edits{} // by the answers before
	for _, b := range brought {
		known := func(r replaced) bool { return r.answers(b, o.Partial) }
		if slices.ContainsFunc(st.edits.list, known) || slices.ContainsFunc(taken.list, known) {
			done.Known++
			continue
		}
		if forgotten.inAnswer(b.told.Text) {
			for _, c := range b.claim.targets {
				done.Lost = append(done.Lost, LostTarget{c.String(), "the answer holds what was forgotten"})
			}
			continue
		}
		if lost, err := s.forgottenOf(b.claim); err != nil {
			return Replaced{}, err
		} else if len(lost) > 0 {
			done.Lost = append(done.Lost, lost...)
			continue
		}
		left, lost := st.fit(b.claim.targets, taken)
		done.Lost = append(done.Lost, lost...)
		if len(left) > 0 {
			r := freshReplacement{&format.Replacement{Targets: left, Text: b.told.Text}, b.told.Summarizer}
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

// forgottenOf returns all targets of a claim if the words of one of them were forgotten: the whole answer was made with these words, in whichever
// words it says them. That holds for a target that is in the branch no more, and for what a target that is a replacement stands for.
func (s *Store) forgottenOf(c *replaceClaim) (lost []LostTarget, err error) {
	forgotten := false
	for _, t := range c.targets {
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

// wordsGone reports whether the words of an entry were forgotten, or of a replacement the words of a message behind it.
func (s *Store) wordsGone(id format.ID) (gone bool, err error) {
	if ids, err := s.Objects.Gone([]format.ID{id}); err != nil || len(ids) > 0 {
		return len(ids) > 0, err
	}
	e, err := s.entry(id)
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil // gc took it away after it had left the branch: the target is lost, and the words were not forgotten
	}
	if err != nil || e.Kind != format.KindReplace {
		return false, err
	}
	var behind []format.ID
	err = s.replacedBy(id, func(message format.ID) error { behind = append(behind, message); return nil })
	if err != nil {
		return false, err
	}
	ids, err := s.Objects.Gone(behind)
	return len(ids) > 0, err
}

// answers reports whether a replacement is what an answer would make; of a partial one, what is left of it.
func (r *replaced) answers(b broughtText, partial bool) bool {
	claimed := plainTargets(b.claim.targets)
	return r.Text == b.told.Text && (slices.Equal(r.Targets, claimed) || partial && !slices.ContainsFunc(r.Targets, func(t format.Target) bool {
		return !slices.Contains(claimed, t)
	}))
}

// fit returns which targets can be replaced, and why the others cannot.
func (st *stretch) fit(claimed []claimedTarget, taken *edits) (left []format.Target, lost []LostTarget) {
	for _, c := range claimed {
		why := st.missing(c)
		if why == "" && taken.by(c.Target) != nil {
			why = "is in another answer, too"
		}
		if why != "" {
			lost = append(lost, LostTarget{c.String(), why})
			continue
		}
		left = append(left, c.Target)
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
		left = slices.DeleteFunc(left, func(t format.Target) bool { return slices.Contains(split, t) })
	}
}

// lostError names what moved, in one line.
func lostError(lost []LostTarget) error {
	const most = 8
	var names []string
	for _, l := range lost[:min(len(lost), most)] {
		names = append(names, l.String())
	}
	if len(lost) > most {
		names = append(names, fmt.Sprintf("and %d more", len(lost)-most))
	}
	return fmt.Errorf("%w: %s", ErrStale, strings.Join(names, "; "))
}

// putReplacements records what was judged, an entry for each answer, in one operation.
func (t *tx) putReplacements(session, branch string, done *Replaced) error {
	var c *controlled
	for _, r := range done.fresh {
		body, err := r.Encode()
		if err != nil {
			return err
		}
		e := &format.Entry{Kind: format.KindReplace, Author: r.author}
		if c == nil {
			c, err = t.control(session, branch, e, body, format.MediaReplace)
		} else {
			err = t.onTop(c, e, body, format.MediaReplace)
		}
		if err != nil {
			return err
		}
		done.Entries = append(done.Entries, c.id)
	}
	if c == nil {
		return nil
	}
	return t.commitControl(refs.VerbReplace, c)
}
