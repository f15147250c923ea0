package session

import (
	"errors"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/wording"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// What a summariser takes at once is bounded, and a cluster is not. One that is too long is summarised in pieces: runs of its members first,
// each under a cover of its own, and then the summaries of these, so that every entry is read once.

// maxAnswer is the most tokens of a summary that a summariser words: a page, which ten clusters can have in a context.
const maxAnswer = 800

// fewTokens is what nobody is asked to sum up.
const fewTokens = wording.Few

// LeastLimit is the least limit with which the pieces of a cluster come to an end: two messages of which nothing can be left out go into one. With
// less a short message may be in no piece at all, and the pieces are asked about again and again.
const LeastLimit = 2 * fewTokens

// reading is a member of a cluster that is to be read, or a summary that is read in place of the members under it.
type reading struct {
	cover      *format.Cover
	from, to   uint64 // of the cluster's members
	generation uint64 // of the summary; 0 for a member
	tokens     int    // of its text, at most the limit
}

// readable returns those of some real covers that are read in place of the entries under them: summaries in words, and none of them where one has been
// summarised over as often as may be. An extract is for rendering; a summariser does better with the entries.
func (s *Store) readable(covers []format.Cover) ([]format.Cover, error) {
	var out []format.Cover
	for _, v := range covers {
		text, generation, err := s.worded(v.Summary)
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

// worded returns what a summary says and its generation; "" for an extract, and where its words are gone.
func (s *Store) worded(id format.ID) (text string, generation uint64, err error) {
	header, body, err := s.text(id)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		header, err = s.Objects.Header(id)
	}
	if err != nil {
		return "", 0, err
	}
	sum, err := format.DecodeSummary(header)
	if err != nil {
		return "", 0, err
	}
	if sum.Body.Media != format.MediaText {
		body = nil
	}
	return string(body), sum.Generation, nil
}

// nextClaims returns what is to be summarised next of a cluster: all of it, if its inputs have no more than limit tokens; else pieces of it. limit 0
// is none.
func (s *Store) nextClaims(view *refs.View, st *forest.State, c *forest.Cluster, limit int) ([]claim, error) {
	members, err := st.Members(c)
	if err != nil {
		return nil, err
	}
	covers, err := s.readable(realCovers(c.Covers, 0, c.Count()))
	if err != nil {
		return nil, err
	}
	said, err := tell(func(id format.ID) (*Shown, error) { return s.latest(view, id) }, members)
	if err != nil {
		return nil, err
	}
	for {
		list, err := s.readings(said, covers, limit)
		if err != nil {
			return nil, err
		}
		runs, most := [][]reading{list}, maxAnswer
		if limit > 0 && weightOf(list) > limit {
			runs = split(list, limit)
			most = roomFor(list, runs, limit)
		}
		if len(runs) == 0 && len(covers) > 0 {
			covers = nil // the summaries are too long to go together: somebody with a larger limit made them
			continue
		}
		var claims []claim
		for _, run := range runs {
			cl, err := s.claimOfRun(view, c, members, run)
			if err != nil {
				return nil, err
			}
			cl.tokens = budget(run, most)
			claims = append(claims, cl)
		}
		return claims, nil
	}
}

func (s *Store) claimOfRun(view *refs.View, c *forest.Cluster, members []format.ID, run []reading) (claim, error) {
	var covers []format.Cover
	for _, p := range run {
		if p.cover != nil {
			covers = append(covers, *p.cover)
		}
	}
	from, to := run[0].from, run[len(run)-1].to
	return s.claimOn(view, c, members[from:to], from, covers)
}

// readings are a cluster's members and the summaries that are read for some of them, in order. said is
// what each member says.
func (s *Store) readings(said []told, covers []format.Cover, limit int) ([]reading, error) {
	var list []reading
	at := uint64(0)
	entries := func(end uint64) {
		for ; at < end; at++ {
			list = append(list, reading{from: at, to: at + 1, tokens: within(summarize.Tokens(said[at].text), limit)})
		}
	}
	for i, v := range covers {
		entries(v.Offset)
		text, generation, err := s.worded(v.Summary)
		if err != nil {
			return nil, err
		}
		at = v.Offset + v.Count
		list = append(list, reading{cover: &covers[i], from: v.Offset, to: at, generation: generation, tokens: within(summarize.Tokens(text), limit)})
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

// weight is what a reading takes of a limit: a message that says next to nothing takes something, too.
func (p reading) weight() int { return p.tokens + 1 }

func weightOf(list []reading) int {
	n := 0
	for _, p := range list {
		n += p.weight()
	}
	return n
}

// split returns the pieces in which readings that are too long together are summarised first. Entries go before summaries, and young summaries before
// old ones, so that nothing is summarised over more often than it must be. It returns none where nothing fits together.
func split(list []reading, limit int) [][]reading {
	for generation := uint64(0); generation < MaxGeneration; generation++ {
		if runs := runsUpTo(list, generation, limit); len(runs) > 0 {
			return runs
		}
	}
	return nil
}

// runsUpTo puts neighbours of at most a generation together, as many as fit. A summary alone is done; entries alone are not, unless they are so short
// that they are better read with what is beside them.
func runsUpTo(list []reading, generation uint64, limit int) [][]reading {
	var runs [][]reading
	from, size := 0, 0
	end := func(at int) {
		run := list[from:at]
		if len(run) > 1 && (generation > 0 || size > fewTokens) || len(run) == 1 && run[0].cover == nil && size > fewTokens {
			runs = append(runs, run)
		}
		size = 0
	}
	for i, p := range list {
		switch {
		case p.generation > generation:
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

// roomFor is the most tokens that each answer may have where a cluster is read in pieces, so that one round or two after this one are enough. The
// answers to summaries have to go together in the next round; those to entries may take one more where they would be too short otherwise.
func roomFor(list []reading, runs [][]reading, limit int) int {
	n, entries := len(list), false
	for _, run := range runs {
		n -= len(run) - 1
		entries = entries || run[0].cover == nil && run[len(run)-1].cover == nil
	}
	if entries && limit/n < maxAnswer/4 {
		n = rootOf(n) + 1
	}
	return min(maxAnswer, max(1, limit/n-1))
}

// budget is the most tokens that the summary of a run may have: a quarter of what entries say, and as much as earlier summaries say, but no more than
// most.
func budget(run []reading, most int) int {
	total, want := 0, 0
	for _, p := range run {
		total += p.tokens
		if p.cover == nil {
			want += p.tokens / 4
		} else {
			want += p.tokens
		}
	}
	if total <= fewTokens {
		return max(1, total)
	}
	return min(max(want, fewTokens), most, total-1)
}

// budgetOf is the budget of a claim that is answered at once.
func budgetOf(inputs []summarize.Piece) int {
	run := make([]reading, len(inputs))
	for i, p := range inputs {
		run[i].tokens = summarize.Tokens(p.Text)
		if p.Summary {
			run[i].cover = &format.Cover{}
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

// readClaim reads the inputs of a claim, in order: what was said, and where tools were called what was
// done. What says nothing is left out, and of a message longer than limit the middle.
func (s *Store) readClaim(view *refs.View, c *claim, limit int) ([]summarize.Piece, error) {
	said, err := s.readMembers(view, c)
	if err != nil {
		return nil, err
	}
	var list []summarize.Piece
	at := c.offset
	entries := func(end uint64) {
		for ; at < end; at++ {
			if p := pieceOf(said[c.members[at-c.offset]], limit); strings.TrimSpace(p.Text) != "" {
				list = append(list, p)
			}
		}
	}
	for _, v := range c.covers {
		entries(v.Offset)
		text, _, err := s.worded(v.Summary)
		if err != nil {
			return nil, err
		}
		list = append(list, summarize.Piece{Summary: true, ID: v.Summary, Text: text})
		at = v.Offset + v.Count
	}
	entries(c.end())
	return list, nil
}

// readMembers reads what those members of a claim say that no summary is read for.
func (s *Store) readMembers(view *refs.View, c *claim) (map[format.ID]told, error) {
	list, err := tell(func(id format.ID) (*Shown, error) { return s.latest(view, id) }, c.raw())
	if err != nil {
		return nil, err
	}
	said := make(map[format.ID]told, len(list))
	for _, m := range list {
		said[m.id] = m
	}
	return said, nil
}

func pieceOf(m told, limit int) summarize.Piece {
	e, text := m.entry, m.text
	if limit > 0 {
		text = withoutMiddle(text, limit)
	}
	return summarize.Piece{ID: m.id, Role: e.Role, Author: e.Author, Time: e.Time.UTC().Truncate(time.Millisecond), Text: text}
}

// leftOut stands where the middle of a message was.
const leftOut = "\n[…]\n"

// withoutMiddle cuts a text to so many tokens: an answer often comes last, so that both ends stay.
func withoutMiddle(text string, tokens int) string {
	if summarize.Tokens(text) <= tokens {
		return text
	}
	runes := []rune(text)
	low, high := 0, len(runes)/2 // of each end
	cut := func(n int) string { return string(runes[:n]) + leftOut + string(runes[len(runes)-n:]) }
	for low < high {
		n := (low + high + 1) / 2
		if summarize.Tokens(cut(n)) <= tokens {
			low = n
		} else {
			high = n - 1
		}
	}
	return cut(low)
}

// tokensIn is how many tokens some inputs have.
func tokensIn(list []summarize.Piece) int {
	n := 0
	for _, p := range list {
		n += summarize.Tokens(p.Text)
	}
	return n
}
