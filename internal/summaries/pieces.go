package summaries

import (
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/wording"
	"github.com/gemini-ctx/ctx/refs"
)

// The inputs of a summarizer are bounded, and a cluster is not. A cluster that is too long is
// summarized in pieces: first runs of its members, each under its own cover, then the summaries
// of these runs. Every entry is read once.

// maxAnswer is the largest number of tokens of a summary in words: a page, of which a context has
// room for ten.
const maxAnswer = 800

// FewTokens is the number of tokens up to which no summarizer is asked: the text is its own
// summary.
const FewTokens = wording.Few

// MinLimit is the smallest limit with which the pieces of a cluster come to an end, because two
// messages that cannot be shortened fit into one piece. With less, a short message might be in no
// piece, and the same pieces would be claimed again and again.
const MinLimit = 2 * FewTokens

// Reading is a member of a cluster that is read, or a summary that is read in place of its
// members.
type Reading struct {
	Cover      *format.Cover
	From, To   uint64 // of the cluster's members
	Generation uint64 // of the summary; 0 for a member
	Tokens     int    // of its text, at most the limit
}

// readable returns the covers whose summaries are read in place of their members: those in words.
// It returns none if one of them has reached MaxGeneration. Extracts are for rendering; a
// summarizer does better with the entries.
func (s *Reader) readable(covers []format.Cover) ([]format.Cover, error) {
	var out []format.Cover
	for _, v := range covers {
		text, generation, err := s.ReadText(v.Summary)
		if err != nil {
			return nil, err
		}
		if generation >= MaxGeneration {
			return nil, nil
		}
		if text != "" {
			out = append(out, v)
		}
	}
	return out, nil
}

// NextClaims returns the next claims of a cluster: all of it if its inputs have at most limit
// tokens, else pieces of it. A limit of 0 is none.
func (s *Reader) NextClaims(
	view *refs.View, st *forest.State, c *forest.Cluster, limit int,
) ([]Claim, error) {
	members, err := st.Members(c)
	if err != nil {
		return nil, err
	}
	covers, err := s.readable(RealCovers(c.Covers, 0, c.Count()))
	if err != nil {
		return nil, err
	}
	said, err := memberTexts(func(id format.ID) (*history.Shown, error) {
		return s.Latest(view, id)
	}, members)
	if err != nil {
		return nil, err
	}
	for {
		list, err := s.readings(said, covers, limit)
		if err != nil {
			return nil, err
		}
		runs, most := [][]Reading{list}, maxAnswer
		if limit > 0 && weightOf(list) > limit {
			runs = Split(list, limit)
			most = roomFor(list, runs, limit)
		}
		if len(runs) == 0 && len(covers) > 0 {
			// The summaries are too long to go together: somebody with a larger limit made them
			covers = nil
			continue
		}
		var claims []Claim
		for _, run := range runs {
			cl, err := s.claimOfRun(view, c, members, run)
			if err != nil {
				return nil, err
			}
			cl.Tokens = budget(run, most)
			claims = append(claims, cl)
		}
		return claims, nil
	}
}

func (s *Reader) claimOfRun(
	view *refs.View, c *forest.Cluster, members []format.ID, run []Reading,
) (Claim, error) {
	var covers []format.Cover
	for _, p := range run {
		if p.Cover != nil {
			covers = append(covers, *p.Cover)
		}
	}
	from, to := run[0].From, run[len(run)-1].To
	return s.newClaim(view, c, members[from:to], from, covers)
}

// readings returns, in order, the readings of a cluster: its members, and covers in place of the
// members under them. said has the text of each member.
func (s *Reader) readings(said []memberText, covers []format.Cover, limit int) ([]Reading, error) {
	var list []Reading
	at := uint64(0)
	entries := func(end uint64) {
		for ; at < end; at++ {
			list = append(list, Reading{From: at, To: at + 1,
				Tokens: within(summarize.Tokens(said[at].Text), limit)})
		}
	}
	for i, v := range covers {
		entries(v.Offset)
		text, generation, err := s.ReadText(v.Summary)
		if err != nil {
			return nil, err
		}
		at = v.Offset + v.Count
		list = append(list,
			Reading{Cover: &covers[i], From: v.Offset, To: at, Generation: generation,
				Tokens: within(summarize.Tokens(text), limit)})
	}
	entries(uint64(len(said)))
	return list, nil
}

func within(tokens, limit int) int {
	if limit > 0 {
		return min(tokens, limit)
	}
	return tokens
}

// weight returns the share of a limit that a reading takes, at least 1.
func (p Reading) weight() int { return p.Tokens + 1 }

func weightOf(list []Reading) int {
	n := 0
	for _, p := range list {
		n += p.weight()
	}
	return n
}

// Split returns the pieces of readings that are together too long. Entries come before summaries
// and young summaries before old ones, so that nothing is summarized more often than necessary.
// It returns nil if no two readings fit together.
func Split(list []Reading, limit int) [][]Reading {
	for generation := uint64(0); generation < MaxGeneration; generation++ {
		if runs := runsUpTo(list, generation, limit); len(runs) > 0 {
			return runs
		}
	}
	return nil
}

// runsUpTo joins neighbours up to a generation into runs of at most limit tokens. A single
// summary makes no run. Entries make one, unless they are so short that it is better to read them
// with their neighbours.
func runsUpTo(list []Reading, generation uint64, limit int) [][]Reading {
	var runs [][]Reading
	from, size := 0, 0
	end := func(at int) {
		run := list[from:at]
		if len(run) > 1 && (generation > 0 || size > FewTokens) ||
			len(run) == 1 && run[0].Cover == nil && size > FewTokens {
			runs = append(runs, run)
		}
		size = 0
	}
	for i, p := range list {
		switch {
		case p.Generation > generation:
			end(i)
			from = i + 1
		case size+p.weight() > limit:
			end(i)
			from, size = i, p.weight()
		default:
			size += p.weight()
		}
	}
	end(len(list))
	return runs
}

// roomFor returns the largest number of tokens of each answer if a cluster is read in pieces, so
// that one or two more rounds suffice. Answers to summaries must fit together in the next round.
// Answers to entries may take one more round if they would be too short otherwise.
func roomFor(list []Reading, runs [][]Reading, limit int) int {
	n, entries := len(list), false
	for _, run := range runs {
		n -= len(run) - 1
		entries = entries || run[0].Cover == nil && run[len(run)-1].Cover == nil
	}
	if entries && limit/n < maxAnswer/4 {
		n = rootOf(n) + 1
	}
	return min(maxAnswer, max(1, limit/n-1))
}

// budget returns the largest number of tokens of the summary of a run: a quarter of its entries
// and all of its earlier summaries, at most most.
func budget(run []Reading, most int) int {
	total, want := 0, 0
	for _, p := range run {
		total += p.Tokens
		if p.Cover == nil {
			want += p.Tokens / 4
		} else {
			want += p.Tokens
		}
	}
	if total <= FewTokens {
		return max(1, total)
	}
	return min(max(want, FewTokens), most, total-1)
}

// AnswerTokens is the budget of a claim that is answered at once.
func AnswerTokens(inputs []summarize.Input) int {
	run := make([]Reading, len(inputs))
	for i, p := range inputs {
		run[i].Tokens = summarize.Tokens(p.Text)
		if p.Summary {
			run[i].Cover = &format.Cover{}
		}
	}
	return budget(run, maxAnswer)
}

// rootOf is the square root of n, rounded up.
func rootOf(n int) int {
	r := 1
	for r*r < n {
		r++
	}
	return r
}

// MaxGeneration is the number of times that summaries may be summarized again before the cluster
// is read from its entries: text that is summarized repeatedly drifts.
const MaxGeneration = 4
