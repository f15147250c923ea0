package summaries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// ExtractClaims returns the claims of some clusters for the built-in summarizer, as far as they
// want a summary, or another one for a focus. Members under a standing summary want none.
func (s *Reader) ExtractClaims(
	view *refs.View, st *forest.State, owners *Owners, numbers []uint64,
) ([]Claim, error) {
	above, err := owners.above(s.Reader, st)
	if err != nil {
		return nil, err
	}
	over := map[uint64]bool{}
	for _, session := range above {
		for _, c := range session.Clusters[:session.Over] {
			over[c.Number] = true
		}
	}
	var list []Claim
	for _, number := range numbers {
		c := st.Cluster(number)
		if c == nil {
			continue
		}
		focus, err := owners.FocusOn(s.Reader, st, c)
		if err != nil {
			return nil, err
		}
		var claims []Claim
		if c.Dirty() {
			claims, err = s.ExtractBetween(view, st, c, 0, c.Count())
		} else if focus != "" {
			claims, err = s.extractAgain(view, st, c)
		}
		if err != nil {
			return nil, err
		}
		for i := range claims {
			claims[i].Focus = focus
			claims[i].evict = over[number] && IsWhole(st, &claims[i])
		}
		list = append(list, claims...)
	}
	return list, nil
}

// extractAgain returns the claim of a cluster whose summaries are all extracts.
func (s *Reader) extractAgain(
	view *refs.View, st *forest.State, c *forest.Cluster,
) ([]Claim, error) {
	written, err := s.WrittenCovers(RealCovers(c.Covers, 0, c.Count()))
	if err != nil || len(written) > 0 {
		return nil, err
	}
	cl, err := s.ClaimToReplace(view, st, c, c.Count())
	return []Claim{cl}, err
}

// ExtractBetween returns the claims of the members from..to of a cluster for the built-in
// summarizer. It reads a run of any length at once: all members of a short run or of one with a
// summary of another summarizer, else the extracts and the members after them.
func (s *Reader) ExtractBetween(
	view *refs.View, st *forest.State, c *forest.Cluster, from, to uint64,
) ([]Claim, error) {
	runs, err := s.uncoveredBeside(c, from, to)
	if err != nil {
		return nil, err
	}
	members, err := st.Members(c)
	if err != nil {
		return nil, err
	}
	var list []Claim
	for _, r := range runs {
		var covers []format.Cover
		if r.to-r.from > WholeCluster {
			if covers, err = s.rankable(RealCovers(c.Covers, r.from, r.to)); err != nil {
				return nil, err
			}
		}
		cl, err := s.newClaim(view, c, members[r.from:r.to], r.from, covers)
		if err != nil {
			return nil, err
		}
		list = append(list, cl)
	}
	return list, nil
}

// rankable returns covers if all of their summaries are extracts that may be summarized again,
// else nil.
func (s *Reader) rankable(covers []format.Cover) ([]format.Cover, error) {
	for _, v := range covers {
		list, generation, err := s.ReadExtract(v.Summary)
		var gone *objects.GoneError
		if errors.As(err, &gone) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if generation >= MaxGeneration || list == nil {
			return nil, nil
		}
	}
	return covers, nil
}

// extracted is an answer of the built-in summarizer.
type extracted struct {
	SealedAnswer
	said []summarize.Source // what the summary has, for a tombstone's line
	read *entries           // what was read for it
}

// entries reads entries, and remembers those that it has read.
type entries struct {
	*history.Reader
	known map[format.ID]*history.Shown
	bytes int64 // of all that sourcesFrom has read
}

// Entry is history.Reader.Entry.
func (r *entries) Entry(id format.ID) (*history.Shown, error) {
	if shown, ok := r.known[id]; ok {
		return shown, nil
	}
	shown, err := r.Reader.Entry(id)
	if err == nil {
		if r.known == nil {
			r.known = map[format.ID]*history.Shown{}
		}
		r.known[id] = shown
	}
	return shown, err
}

// Header is history.Reader.Header.
func (r *entries) Header(id format.ID) (*format.Entry, error) {
	if shown, ok := r.known[id]; ok {
		return shown.Entry, nil
	}
	return r.Reader.Header(id)
}

// ExtractAll answers claims with the built-in summarizer, without the lock.
func (s *Reader) ExtractAll(
	ctx context.Context, view *refs.View, st *forest.State, claims []Claim,
) ([]SealedAnswer, error) {
	lines, err := s.evictedLines(st)
	if err != nil {
		return nil, err
	}
	return s.extractAll(ctx, view, claims, lines)
}

// extractAll answers claims. lines are those of the newest tombstones. Each answer is made by
// itself, but the lines of tombstones are compared with those of the first answers. So these are
// made first, and the others with their tombstones, on all processors.
func (s *Reader) extractAll(
	ctx context.Context, view *refs.View, claims []Claim, lines []string,
) ([]SealedAnswer, error) {
	others := &summarize.Others{}
	for _, line := range lines {
		others.AddLine(line)
	}
	answers := make([]SealedAnswer, len(claims))
	compared := make([]extracted, min(len(claims), comparedLines))
	err := InParallel(ctx, len(compared), func(i int) error {
		e, err := s.extract(view, &claims[i])
		compared[i] = e
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, e := range compared {
		others.Add(e.said)
	}
	return answers, InParallel(ctx, len(claims), func(i int) (err error) {
		var e extracted
		if i < len(compared) {
			e, compared[i] = compared[i], extracted{}
		} else if e, err = s.extract(view, &claims[i]); err != nil {
			return err
		}
		if e.evict {
			stone, line, err := s.tombstone(e.SealedAnswer, e.said, others, e.read)
			if err != nil {
				return err
			}
			e.Raws, e.stone, e.line = append(e.Raws, stone), stone.ID(), line
		}
		answers[i] = e.SealedAnswer
		return nil
	})
}

// InParallel calls do for each number below n, on all processors. After an error it begins no more
// calls, and returns the error of the smallest number that has one.
func InParallel(ctx context.Context, n int, do func(i int) error) error {
	var failed atomic.Bool
	errs := make([]error, n)
	lists.OnAll(n, func(i int) {
		if failed.Load() {
			return
		}
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = do(i)
		}
		if errs[i] != nil {
			failed.Store(true)
		}
	})
	return cmp.Or(errs...)
}

// extract makes the summary of a claim.
func (s *Reader) extract(view *refs.View, c *Claim) (extracted, error) {
	e := extracted{SealedAnswer: SealedAnswer{Claim: *c}, read: &entries{Reader: s.Reader}}
	sum := &format.Summary{Generation: 1, Summarizer: Extractive, Version: ExtractiveVersion}
	if c.Focus != "" {
		sum.Version += "+focus"
	}
	var list []summarize.Sentence
	for _, v := range c.Covers {
		sentences, generation, err := s.ReadExtract(v.Summary)
		if err != nil {
			return e, err
		}
		list = append(list, sentences...)
		sum.Generation = max(sum.Generation, generation+1)
	}
	if raw := c.direct(); len(raw) > 0 {
		sources, err := s.sourcesFrom(view, raw, e.read)
		if err != nil {
			return e, err
		}
		fresh := summarize.ExtractOn(sources, ExtractTokens(sources), c.Focus)
		list = MergeExtracts(list, fresh)
		for i := range fresh {
			if fresh[i].IsOnFocus() {
				e.focused++
			}
		}
	}
	raws, err := namesOf(c, sum)
	if err != nil {
		return e, err
	}
	object, err := s.SealSummary(sum, list)
	e.Summary, e.said, e.Raws = object.ID(), sourcesOf(list), append(raws, object)
	e.before = e.read.bytes
	for _, s := range e.said {
		e.after += int64(len(s.Text))
	}
	return e, err
}

// Extractive is the name of the built-in summarizer in summaries and in the setting
// summarize.chain.
const Extractive = "extractive"

const (
	ExtractiveVersion = "4"
)

// ReadExtract returns the sentences of a stored extract and its generation. The list is nil for a
// summary in words.
func (s *Reader) ReadExtract(
	id format.ID,
) (list []summarize.Sentence, generation uint64, err error) {
	sum, text, err := Stored(s.Reader, id)
	if err != nil {
		return nil, 0, err
	}
	if sum.Body.Media != format.MediaExtract {
		return nil, sum.Generation, nil
	}
	list, err = summarize.Decode(text)
	if err != nil {
		return nil, 0, fmt.Errorf("summary %v: %w", id, err)
	}
	return list, sum.Generation, nil
}

// Sources reads entries for the summarizer. What was forgotten says nothing.
func (s *Reader) Sources(view *refs.View, ids []format.ID) ([]summarize.Source, error) {
	return Sources(func(id format.ID) (*history.Shown, error) { return s.Latest(view, id) }, ids)
}

// sourcesFrom is Sources, with read for the first and the last entries: a line about the cluster is
// made of them. It does not remember the others, of which there may be many.
func (s *Reader) sourcesFrom(
	view *refs.View, ids []format.ID, read *entries,
) ([]summarize.Source, error) {
	n := 0
	return Sources(func(id format.ID) (*history.Shown, error) {
		newest, err := s.Newest(view, id)
		if err != nil {
			return nil, err
		}
		entry := s.Entry
		if n++; n <= clusters.OpeningMembers || n == len(ids) {
			entry = read.Entry
		}
		shown, err := entry(newest)
		if err == nil {
			read.bytes += bytesOf(shown.Entry)
		}
		return shown, err
	}, ids)
}

// maxSummary is the largest number of tokens of an extract. It suffices to render half of the
// largest conversation that one cluster of the flat strategy holds in practice. A rendering reads
// a bounded part of it.
const maxSummary = 32000

// beyondHalf is what an extract may have beyond half of its sources, so that small clusters are
// kept nearly whole: a rendering can only choose among what the clusters offer. Without it,
// union-find kept 4 points less than flat at a quarter of the length.
const beyondHalf = 400

// ExtractTokens returns the largest number of tokens of an extract: half of the sources and
// beyondHalf, at most all of them and at most maxSummary.
func ExtractTokens(sources []summarize.Source) int {
	n := 0
	for _, s := range sources {
		n += summarize.Tokens(s.Text)
	}
	whole := n + len(sources) // each was rounded down
	return min(max(1, min(whole, n/2+beyondHalf)), maxSummary)
}

// shorten cuts a merged list to the tokens of one extract.
func shorten(list []summarize.Sentence) []summarize.Sentence {
	used := 0
	for i, sentence := range list {
		if used += summarize.Tokens(sentence.Text) + 1; i > 0 && used > maxSummary {
			return list[:i]
		}
	}
	return list
}

// MergeExtracts merges two ranked lists by weight. A text that both have counts once.
func MergeExtracts(a, b []summarize.Sentence) []summarize.Sentence {
	out := make([]summarize.Sentence, 0, len(a)+len(b))
	seen := map[string]bool{}
	for _, s := range append(slices.Clone(a), b...) {
		if !seen[s.Text] {
			seen[s.Text] = true
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b summarize.Sentence) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Seq, b.Seq),
			a.Entry.Compare(b.Entry), cmp.Compare(a.Pos, b.Pos))
	})
	return out
}

// SealSummary builds the object of an extractive summary.
func (s *Reader) SealSummary(sum *format.Summary, list []summarize.Sentence) (format.Raw, error) {
	return s.seal(summarize.Encode(shorten(list)),
		format.MediaExtract, func(b format.Body) ([]byte, error) {
			sum.Body = b
			return sum.Encode()
		})
}

// sourcesOf returns the sentences of an extract as sources. Sentences of one entry form one
// source.
func sourcesOf(list []summarize.Sentence) []summarize.Source {
	var out []summarize.Source
	for _, s := range summarize.Order(list) {
		if n := len(out); n > 0 && out[n-1].Entry == s.Entry {
			out[n-1].Text += "\n" + s.Text
			continue
		}
		out = append(out, summarize.Source{Entry: s.Entry, Seq: s.Seq, Role: s.Role, Text: s.Text})
	}
	return out
}

// WholeCluster is the number of members up to which the built-in summarizer always reads all
// members: that is cheap, and better than a summary of a summary.
const WholeCluster = 256
