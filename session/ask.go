package session

import (
	"context"
	"errors"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/refs"
)

// ask has the summariser summarise one cluster, in as many rounds as its length takes, and records each. It ends where a piece cannot be had, or where
// nothing that was brought could be used.
func (r *compaction) ask(ctx context.Context, number uint64) error {
	for range 2 * MaxGeneration {
		var err error
		if r.seen, err = r.ForgetMark(); err != nil {
			return err
		}
		view, err := r.Refs.Read()
		if err != nil {
			return err
		}
		st, err := r.ForestOf(view, r.forest)
		if err != nil {
			return err
		}
		c := st.Cluster(number)
		if c == nil || !c.Dirty() {
			return nil
		}
		limit := max(1, r.o.Summarizer.Limit())
		claims, err := r.nextClaims(view, st, c, limit)
		if err != nil {
			return err
		}
		before := r.done
		if err := r.askRound(ctx, view, st, claims, limit); err != nil {
			return err
		}
		whole := len(claims) == 1 && isWhole(st, &claims[0])
		stuck := r.done.Settled+r.done.Carried == before.Settled+before.Carried
		if whole || stuck || r.done.Failed > before.Failed {
			return nil
		}
	}
	return nil
}

// askRound asks about every claim and records the answers together. What was answered before an interruption is recorded, too.
func (r *compaction) askRound(ctx context.Context, view *refs.View, st *forest.State, claims []claim, limit int) error {
	var answers []answer
	var stopped error
	for i := range claims {
		list, err := r.askOne(ctx, view, st, &claims[i], limit)
		if err == nil {
			answers = append(answers, list...)
			continue
		}
		if stopped = ctx.Err(); stopped != nil {
			break
		}
		if errors.Is(err, errAnswerForgotten) {
			r.done.lose(lostForgotten)
			continue
		}
		var no *unanswered
		if !errors.As(err, &no) {
			return err
		}
		r.done.fail(no.error)
	}
	if err := r.record(context.WithoutCancel(ctx), answers); err != nil {
		return err
	}
	return stopped
}

// errAnswerForgotten says that an answer holds what was forgotten.
var errAnswerForgotten = errors.New(lostForgotten)

// unanswered is an error of a summariser, or of its answer, and none of the store.
type unanswered struct{ error }

func (e *unanswered) Unwrap() error { return e.error }

// isWhole reports whether a claim is about a whole cluster.
func isWhole(st *forest.State, c *claim) bool {
	now := st.Cluster(c.cluster)
	return now != nil && c.offset == 0 && c.end() == now.Count()
}

// askOne gets the answers to a claim: one, but where the extractive summariser had to answer. What
// is so short that nothing can be left out of it is kept as it is, and nobody is asked. Where the
// extractive summariser answered about a whole cluster, its ranked list is taken in place of its
// words: a rendering has more to choose from. A piece keeps the words, since the pieces are read
// again for the summary over them. Where the claim holds standing summaries, these stay, and the
// answers are extracts of the members beside them.
func (r *compaction) askOne(
	ctx context.Context, view *refs.View, st *forest.State, c *claim, limit int,
) ([]answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	inputs, err := r.readClaim(view, c, limit)
	if err != nil {
		return nil, err
	}
	source := tokensIn(inputs)
	var told summarize.Told
	if source <= fewTokens && len(c.covers) == 0 {
		told = asItIs(inputs)
	} else {
		told, err = r.o.Summarizer.Summarize(ctx, summarize.Ask{Claim: c.node, Inputs: inputs, Tokens: c.tokens})
		if err == nil && told.Summarizer == extractive {
			stand, err := r.standing(realCovers(st.Cluster(c.cluster).Covers, c.offset, c.end()))
			if err != nil {
				return nil, err
			}
			if len(stand) > 0 || isWhole(st, c) {
				return r.extractBeside(ctx, view, st, c)
			}
		}
		if err == nil {
			told, err = takeAnswer(told, c.tokens, source)
		}
		if err == nil {
			var forgotten *traces
			if forgotten, err = r.forgets(); err != nil {
				return nil, err
			}
			if forgotten.inAnswer(told.Text) {
				return nil, errAnswerForgotten
			}
		}
	}
	if err != nil {
		return nil, &unanswered{err}
	}
	raws, err := r.sealAnswer(c, told)
	if err != nil {
		return nil, err
	}
	return []answer{{claim: *c, summary: raws[len(raws)-1].ID(), raws: raws}}, nil
}

// extractBeside answers a claim with the built-in summariser, as far as no standing summary does.
func (r *compaction) extractBeside(
	ctx context.Context, view *refs.View, st *forest.State, c *claim,
) ([]answer, error) {
	claims, err := r.extractBetween(view, st, st.Cluster(c.cluster), c.offset, c.end())
	if err != nil {
		return nil, err
	}
	return r.extractAll(ctx, view, st, claims)
}

// asItIs is the summary of what is too short to leave anything out.
func asItIs(inputs []summarize.Piece) summarize.Told {
	lines := make([]string, len(inputs))
	for i, p := range inputs {
		lines[i] = p.Text
	}
	return summarize.Told{Text: strings.Join(lines, "\n"), Summarizer: extractive, Version: extractiveVersion}
}

// Claim is what a worker is asked to summarise.
type Claim struct {
	ID         string // to be said with the answer
	Cluster    uint64
	Tokens     int    // the most that the answer may have
	Generation uint64 // that the answer will have
	Inputs     []summarize.Piece
}

// Claims calls each for everything that wants a summary now, those clusters first that arrived longest ago, with no more than limit tokens of inputs
// each (0: however many there are; else LeastLimit or more). It takes no lock and reserves nothing. It stops when each returns an error, and returns that.
func (s *Store) Claims(ctx context.Context, view *refs.View, limit int, each func(Claim) error) error {
	st, err := s.Forest(view)
	if err != nil {
		return err
	}
	for _, c := range byArrival(st) {
		if !c.Dirty() {
			continue
		}
		claims, err := s.nextClaims(view, st, c, limit)
		if err != nil {
			return err
		}
		for i := range claims {
			if err := ctx.Err(); err != nil {
				return err
			}
			out, err := s.outClaim(view, &claims[i], limit)
			if err != nil {
				return err
			}
			if len(out.Inputs) == 0 {
				continue // its words are gone: there is nothing to ask, and the next compaction says so
			}
			if err := each(out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) outClaim(view *refs.View, c *claim, limit int) (Claim, error) {
	out := Claim{ID: c.id(), Cluster: c.cluster, Tokens: c.tokens, Generation: 1}
	for _, v := range c.covers {
		generation, err := s.generation(v.Summary)
		if err != nil {
			return out, err
		}
		out.Generation = max(out.Generation, generation+1)
	}
	var err error
	out.Inputs, err = s.readClaim(view, c, limit)
	return out, err
}

// Commit takes answers to claims, from workers, and evicts above the limit; what sessions render changes when they leave. An answer for a claim that
// the forest does not have as it was is lost, one that cannot be used has failed, one that is there is known: none of these changes
// anything. ErrInput is for what is no id of a claim, and then nothing is taken.
func (s *Store) Commit(ctx context.Context, brought []Answer) (Compaction, error) {
	r := &compaction{Store: s, forest: MainForest}
	var err error
	if r.seen, err = s.ForgetMark(); err != nil {
		return r.done, err
	}
	view, err := s.Refs.Read()
	if err != nil {
		return r.done, err
	}
	st, err := s.Forest(view)
	if err != nil {
		return r.done, err
	}
	answers, err := s.sealAll(view, st, brought, &r.done)
	if err != nil {
		return r.done, err
	}
	err = s.locked(ctx, func(t *tx) error {
		answers, err := t.takeAnswers(r.seen, answers, &r.done)
		if err != nil {
			return err
		}
		if err := t.settle(r.forest, answers, &r.done); err != nil {
			return err
		}
		if err := r.leaveAll(t, nil); err != nil {
			return err
		}
		return r.count(t)
	})
	return r.done, err
}
