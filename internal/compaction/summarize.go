package compaction

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// summarizeAll summarizes every cluster that needs it now, in the order of arrival, but for so many
// of the newest. Clusters that grow meanwhile wait for the next compaction.
func (r *Compaction) summarizeAll(ctx context.Context, but int) error {
	view, err := r.Refs.Read()
	if err != nil {
		return err
	}
	st, err := r.TakeForest(view, r.Forest)
	if err != nil {
		return err
	}
	var todo []uint64
	for _, c := range clusters.ByArrival(st) {
		if c.Dirty() || r.o.Focus != "" && r.o.Summarizer == nil && but == 0 {
			todo = append(todo, c.Number)
		}
	}
	r.GiveForest(view, r.Forest, st)
	return r.summarize(ctx, todo[:max(0, len(todo)-but)])
}

// summarize asks for the summaries of some clusters.
func (r *Compaction) summarize(ctx context.Context, todo []uint64) error {
	if r.o.Summarizer == nil {
		for len(todo) > 0 {
			rest, err := r.extractSome(ctx, todo)
			if err != nil {
				return err
			}
			todo = rest
		}
		return nil
	}
	for _, number := range todo {
		if err := r.ask(ctx, number); err != nil {
			return err
		}
	}
	return nil
}

// claimBatch is the number of clusters that the built-in summarizer handles at a time, and that one
// operation records. Other summarizers handle one cluster at a time, so that no answer is lost with
// later ones.
const claimBatch = 1024

// batchesOfPack is how many batches put their objects into one pack, which is written before the
// lock is taken. It bounds memory. More packs would have to be merged sooner.
const batchesOfPack = 8

// look reads the refs and the forest as they are now, and notes how much was forgotten before: an
// answer that is made from them is refused if a forget came in between.
func (r *Compaction) look() (view *refs.View, st *forest.State, err error) {
	if r.seen, err = r.ForgetMark(); err != nil {
		return nil, nil, err
	}
	if view, err = r.Refs.Read(); err != nil {
		return nil, nil, err
	}
	st, err = r.TakeForest(view, r.Forest)
	return view, st, err
}

// extractSome has the built-in summarizer summarize the first of some clusters, a few batches, and
// records that. It returns the other clusters. A batch is made as if those before it were recorded
// already. Where it cannot be told what they will change, it waits until they are.
func (r *Compaction) extractSome(ctx context.Context, todo []uint64) (rest []uint64, err error) {
	view, st, err := r.look()
	if err != nil {
		return nil, err
	}
	ahead, err := r.summaries.Ahead(view, st, &r.owners)
	if err != nil {
		return nil, err
	}
	var batches [][]summaries.SealedAnswer
	for more := true; more && len(todo) > 0; {
		n := min(claimBatch, len(todo))
		answers, err := ahead.Extract(ctx, todo[:n])
		if err != nil {
			return nil, err
		}
		batches, todo = append(batches, answers), todo[n:]
		more = len(batches) < batchesOfPack && ahead.Record(answers)
	}
	r.GiveForest(view, r.Forest, st)
	return todo, r.record(ctx, batches...)
}

// ask lets the summarizer summarize one cluster in as many rounds as its length takes, and
// records each round. It ends when a piece fails or when no answer of a round could be used.
func (r *Compaction) ask(ctx context.Context, number uint64) error {
	for range 2 * summaries.MaxGeneration {
		view, st, err := r.look()
		if err != nil {
			return err
		}
		c := st.Cluster(number)
		if c == nil || !c.Dirty() {
			return nil
		}
		limit := max(1, r.o.Summarizer.Limit())
		claims, err := r.summaries.NextClaims(view, st, c, limit)
		if err != nil {
			return err
		}
		focus, err := r.owners.FocusOn(r.Reader.Reader, st, c)
		if err != nil {
			return err
		}
		for i := range claims {
			claims[i].Focus = focus
		}
		before := r.done
		if err := r.askRound(ctx, view, st, claims, limit); err != nil {
			return err
		}
		whole := len(claims) == 1 && summaries.IsWhole(st, &claims[0])
		stuck := r.done.Settled+r.done.Carried == before.Settled+before.Carried
		if whole || stuck || r.done.Failed > before.Failed {
			return nil
		}
	}
	return nil
}

// askRound asks about every claim and records the answers together. After an interruption it
// records the answers so far.
func (r *Compaction) askRound(
	ctx context.Context, view *refs.View, st *forest.State, claims []summaries.Claim, limit int,
) error {
	var answers []summaries.SealedAnswer
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
			r.done.CountLost(summaries.LostForgotten)
			continue
		}
		var no *unanswered
		if !errors.As(err, &no) {
			return err
		}
		r.done.CountFailed(no.error)
	}
	if err := r.record(context.WithoutCancel(ctx), answers); err != nil {
		return err
	}
	return stopped
}

// errAnswerForgotten is the error for an answer with forgotten words.
var errAnswerForgotten = errors.New(summaries.LostForgotten)

// unanswered is an error of a summarizer, or of its answer, and none of the store.
type unanswered struct{ error }

func (e *unanswered) Unwrap() error { return e.error }

// askOne gets the answers to a claim. A text of at most FewTokens is its own summary, and no
// summarizer is asked. If the built-in summarizer answers about a whole cluster, its ranked list
// is stored instead of its text, which offers a rendering more sentences. A piece keeps the text,
// because it is read again for the summary over the pieces. If the claim holds summaries in
// words, these stay, and the answers are extracts of the members beside them.
func (r *Compaction) askOne(
	ctx context.Context, view *refs.View, st *forest.State, c *summaries.Claim, limit int,
) ([]summaries.SealedAnswer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	inputs, err := r.summaries.ReadClaim(view, c, limit)
	if err != nil {
		return nil, err
	}
	source := summaries.InputTokens(inputs)
	var told summarize.Response
	if source <= summaries.FewTokens && len(c.Covers) == 0 {
		told = asItIs(inputs)
	} else {
		told, err = r.o.Summarizer.Summarize(ctx,
			summarize.Request{Claim: c.Node, Inputs: inputs, Tokens: c.Tokens, Focus: c.Focus})
		if err == nil && told.Summarizer == summaries.Extractive {
			stand, err := r.summaries.WrittenCovers(
				summaries.RealCovers(st.Cluster(c.Cluster).Covers, c.Offset, c.End()))
			if err != nil {
				return nil, err
			}
			if len(stand) > 0 || summaries.IsWhole(st, c) {
				return r.extractBeside(ctx, view, st, c)
			}
		}
		if err == nil {
			told, err = summaries.CleanAnswer(told, c.Tokens, source)
		}
		if err == nil {
			var forgotten *history.Traces
			if forgotten, err = r.ForgottenWords(); err != nil {
				return nil, err
			}
			if forgotten.InAnswer(told.Text) {
				return nil, errAnswerForgotten
			}
		}
	}
	if err != nil {
		return nil, &unanswered{err}
	}
	sealed, err := r.summaries.SealAnswer(c, told)
	return []summaries.SealedAnswer{sealed}, err
}

// extractBeside answers a claim with the built-in summarizer, as far as no standing summary does.
func (r *Compaction) extractBeside(
	ctx context.Context, view *refs.View, st *forest.State, c *summaries.Claim,
) ([]summaries.SealedAnswer, error) {
	claims, err := r.summaries.ExtractBetween(view, st, st.Cluster(c.Cluster), c.Offset, c.End())
	if err != nil {
		return nil, err
	}
	for i := range claims {
		claims[i].Focus = c.Focus
	}
	return r.summaries.ExtractAll(ctx, view, st, claims)
}

// asItIs returns the inputs as their own summary, because they are too short to leave anything
// out.
func asItIs(inputs []summarize.Input) summarize.Response {
	lines := lists.Map(inputs, func(p summarize.Input) string { return p.Text })
	return summarize.Response{Text: strings.Join(lines, "\n"), Summarizer: summaries.Extractive,
		Version: summaries.ExtractiveVersion}
}

// record settles batches of answers, each in an operation of its own, and evicts clusters above the
// limit.
func (r *Compaction) record(ctx context.Context, batches ...[]summaries.SealedAnswer) error {
	batches = slices.DeleteFunc(batches,
		func(b []summaries.SealedAnswer) bool { return len(b) == 0 })
	if len(batches) == 0 {
		return nil
	}
	all := slices.Concat(batches...)
	return r.LockedWith(ctx, summaries.RawsOf(all), func(t *Tx, put func() error) error {
		if r.o.Summarizer == nil { // others take their time between two records
			t.store.BeforeOthers()
		}
		// No forgotten word may be written again.
		fresh, err := t.summaries.NothingForgotten(r.seen, len(all), &r.done)
		if err != nil || !fresh {
			return err
		}
		if err := put(); err != nil {
			return err
		}
		for _, answers := range batches {
			if err := t.summaries.Settle(r.Forest, answers, &r.done); err != nil {
				return err
			}
			if err := t.summaries.Evict(r.Forest, &r.owners, answers, false, &r.done); err != nil {
				return err
			}
			if len(t.store.Decided(r.Forest)) == 0 {
				continue
			}
			if err := t.store.Commit(&format.Operation{Verb: refs.VerbCompact}); err != nil {
				return err
			}
		}
		t.store.KeepForest(r.Forest)
		return nil
	})
}

// Claim asks a worker for a summary.
type Claim struct {
	ID         string // to be said with the answer
	Cluster    uint64
	Tokens     int    // the most that the answer may have
	Generation uint64 // that the answer will have
	Inputs     []summarize.Input
}

// Claims calls each for every claim that needs a summary now, in the order of arrival of the
// clusters. The inputs of a claim have at most limit tokens; limit is 0 for no limit, else at
// least summaries.MinLimit. Claims takes no lock and reserves nothing. It stops at the first
// error of each and returns it.
func (s *Reader) Claims(
	ctx context.Context, view *refs.View, limit int, each func(Claim) error,
) error {
	st, err := s.Forest(view)
	if err != nil {
		return err
	}
	for _, c := range clusters.ByArrival(st) {
		if !c.Dirty() {
			continue
		}
		claims, err := s.summaries.NextClaims(view, st, c, limit)
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
				// Its words are gone: there is nothing to ask, and the next compaction says so
				continue
			}
			if err := each(out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Reader) outClaim(view *refs.View, c *summaries.Claim, limit int) (Claim, error) {
	out := Claim{ID: c.ID(), Cluster: c.Cluster, Tokens: c.Tokens, Generation: 1}
	for _, v := range c.Covers {
		generation, err := s.summaries.Generation(v.Summary)
		if err != nil {
			return out, err
		}
		out.Generation = max(out.Generation, generation+1)
	}
	var err error
	out.Inputs, err = s.summaries.ReadClaim(view, c, limit)
	return out, err
}

// Commit settles the answers of workers and evicts clusters above the limit. Sessions render the
// result once they adopt the forest. An answer whose claim has changed is lost, one that cannot
// be used has failed, one that is there already is known; none of these changes anything. Commit
// returns ErrInput, and takes nothing, if one id is no id of a claim.
func (s *Writer) Commit(
	ctx context.Context, brought []summaries.Answer,
) (summaries.Compaction, error) {
	r := &Compaction{Writer: s, Forest: history.MainForest}
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
	answers, err := s.summaries.SealAll(view, st, brought, &r.done)
	if err != nil {
		return r.done, err
	}
	err = s.Locked(ctx, func(t *Tx) error {
		answers, err := t.summaries.AddAnswers(r.seen, answers, &r.done)
		if err != nil {
			return err
		}
		if err := t.summaries.Settle(r.Forest, answers, &r.done); err != nil {
			return err
		}
		if err := r.AdoptAll(t, nil); err != nil {
			return err
		}
		return r.count(t)
	})
	return r.done, err
}
