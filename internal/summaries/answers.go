package summaries

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/wording"
	"github.com/gemini-ctx/ctx/refs"
)

// answer is a claim with its summary, and a tombstone for when it is evicted.
type SealedAnswer struct {
	Claim
	Summary format.ID
	stone   format.ID    // zero if none was made
	line    string       // of the tombstone
	focused int          // sentences of an extract that are first for the focus
	before  int64        // bytes of the messages that were read
	after   int64        // bytes of the words of the summary
	Raws    []format.Raw // all objects of it, which are put when it is recorded
}

// CleanAnswer cleans the answer of a summarizer. tokens is the requested maximum, source the
// number of tokens of the inputs. The error for an answer that is refused is a *wording.Fault.
func CleanAnswer(told summarize.Response, tokens, source int) (summarize.Response, error) {
	if len(told.Text) > history.MaxMessage {
		return told, &wording.Fault{Kind: wording.Longer,
			Why: fmt.Sprintf("the answer has %d bytes, %d is the most", len(told.Text),
				history.MaxMessage)}
	}
	text, fault := wording.Summary(told.Text, tokens, source)
	if fault == nil {
		told.Text = text
		fault = CleanMaker(&told)
	}
	if fault != nil {
		return told, fault
	}
	return told, nil
}

// CleanMaker cleans the names of the maker of an answer.
func CleanMaker(told *summarize.Response) *wording.Fault {
	for _, field := range []*string{&told.Summarizer, &told.Version} {
		name, fault := wording.Maker(*field)
		if fault != nil {
			return fault
		}
		*field = name
	}
	return nil
}

// SealAnswer makes the objects of an answer in words: nodes and, last, the summary.
func (s *Reader) SealAnswer(c *Claim, answer summarize.Response) (SealedAnswer, error) {
	out := SealedAnswer{Claim: *c, after: int64(len(answer.Text))}
	for _, id := range c.direct() {
		e, err := s.Header(id)
		if err != nil {
			return out, err
		}
		out.before += bytesOf(e)
	}
	sum := &format.Summary{Generation: 1, Summarizer: answer.Summarizer, Version: answer.Version,
		Prompt: answer.Prompt}
	for _, v := range c.Covers {
		_, generation, err := s.ReadText(v.Summary)
		if err != nil {
			return out, err
		}
		sum.Generation = max(sum.Generation, generation+1)
	}
	raws, err := namesOf(c, sum)
	if err != nil {
		return out, err
	}
	object, err := s.SealNew([]byte(answer.Text),
		format.MediaText, func(b format.Body) ([]byte, error) {
			sum.Body = b
			return sum.Encode()
		})
	out.Summary, out.Raws = object.ID(), append(raws, object)
	return out, err
}

// bytesOf returns how many bytes an entry says.
func bytesOf(e *format.Entry) int64 {
	if e.Body == nil {
		return 0
	}
	return e.Body.Size
}

// namesOf has a summary name its claim's run and inputs, and returns the nodes that it names.
func namesOf(c *Claim, sum *format.Summary) ([]format.Raw, error) {
	raws, node, err := clusters.NodeObjects(c.Members)
	if err != nil {
		return nil, err
	}
	sum.Node = node
	for _, v := range c.Covers {
		sum.Inputs = append(sum.Inputs, format.Input{Summary: true, ID: v.Summary})
	}
	raw := c.direct()
	if len(raw) == 0 {
		return raws, nil
	}
	more, node, err := clusters.NodeObjects(raw)
	if err != nil {
		return nil, err
	}
	sum.Inputs = append(sum.Inputs, format.Input{ID: node})
	return append(raws, more...), nil
}

// Settle takes answers under the lock, each against the forest as it is now.
func (t *Tx) Settle(name string, answers []SealedAnswer, done *Compaction) error {
	st, err := t.store.DraftOf(name)
	if err != nil {
		return err
	}
	read, err := t.lookOnce()
	if err != nil {
		return err
	}
	for len(answers) > 0 {
		n := 1
		for n < len(answers) && answers[n].Cluster == answers[0].Cluster {
			n++
		}
		if err := t.settleCluster(name, st, read, answers[:n], done); err != nil {
			return err
		}
		answers = answers[n:]
	}
	return nil
}

// settleCluster settles the answers about one cluster. An older summary is replaced for all of
// its members or not at all.
func (t *Tx) settleCluster(
	name string, st *forest.State, read *Reader, answers []SealedAnswer, done *Compaction,
) error {
	c := st.Cluster(answers[0].Cluster)
	var fit []SealedAnswer
	for _, a := range answers {
		why, known, err := read.fits(t.store.View, st, c, &a)
		if err != nil {
			return err
		}
		if why == "" && !known {
			why, known = besides(fit, &a)
		}
		switch {
		case known:
			done.Known++
		case why != "":
			done.CountLost(why)
		default:
			fit = append(fit, a)
		}
	}
	for _, a := range wholes(c, fit, done) {
		d := format.Decision{Kind: format.DecideSettle, Cluster: a.Cluster, ID: a.Summary,
			Offset: a.Offset, Count: uint64(len(a.Members))}
		if err := t.store.DecideIn(name, d); err != nil {
			return err
		}
		done.Focused += a.focused
		done.Before, done.After = done.Before+a.before, done.After+a.after
		if c.Count() == uint64(len(a.Members)) {
			done.Settled++
		} else {
			done.Carried++
		}
	}
	return nil
}

// fits compares an answer with its cluster c as it is now, nil if it is not live. The answer can be
// used if why is "" and the summary is not known.
func (s *Reader) fits(
	view *refs.View, st *forest.State, c *forest.Cluster, a *SealedAnswer,
) (why string, known bool, err error) {
	if c == nil || a.End() > c.Count() {
		return lostCluster, false, nil
	}
	members, err := st.Slice(c, a.Offset, a.End())
	if err != nil {
		return "", false, err
	}
	if !slices.Equal(members, a.Members) {
		return lostCluster, false, nil
	}
	there := RealCovers(c.Covers, a.Offset, a.End())
	if slices.ContainsFunc(there, func(v format.Cover) bool { return v.Summary == a.Summary }) {
		return "", true, nil
	}
	answered := len(there) == 1 && there[0].Count == uint64(len(a.Members))
	switch {
	case a.Replaces:
		if slices.ContainsFunc(c.Covers, func(v format.Cover) bool {
			return !v.Interim && v.Offset < a.End() && v.Offset+v.Count > a.End()
		}) {
			return lostOther, false, nil
		}
	case answered:
		generation, err := s.Generation(there[0].Summary)
		if err != nil {
			return "", false, err
		}
		if generation < MaxGeneration {
			return lostOther, false, nil
		}
	}
	mark, err := s.markOf(view, c, &a.Claim)
	switch {
	case err != nil:
		return "", false, err
	case mark != a.Mark && a.Replaces && answered:
		return lostOther, false, nil
	case mark != a.Mark, slices.ContainsFunc(a.Covers,
		func(v format.Cover) bool { return !slices.Contains(there, v) }):
		return LostInputs, false, nil
	}
	return "", false, nil
}

// besides compares an answer with those that are settled together with it: only one of them can
// cover a member.
func besides(fit []SealedAnswer, a *SealedAnswer) (why string, known bool) {
	for _, f := range fit {
		if f.Offset >= a.End() || f.End() <= a.Offset {
			continue
		}
		if f.Summary == a.Summary {
			return "", true
		}
		return lostOther, false
	}
	return "", false
}

// Generation returns the generation of a stored summary.
func (s *Reader) Generation(id format.ID) (uint64, error) {
	sum, err := headerOf(s.Reader, id)
	if err != nil {
		return 0, err
	}
	return sum.Generation, nil
}

// wholes removes answers that would replace only a part of an older summary, and repeats that
// until there are none.
func wholes(c *forest.Cluster, fit []SealedAnswer, done *Compaction) []SealedAnswer {
	for len(fit) > 0 {
		var kept []SealedAnswer
		for _, a := range fit {
			torn := slices.ContainsFunc(c.Covers, func(v format.Cover) bool {
				return !v.Interim && v.Offset < a.End() && v.Offset+v.Count > a.Offset &&
					!covered(v, fit)
			})
			if torn {
				done.CountLost(lostPieces)
			} else {
				kept = append(kept, a)
			}
		}
		if len(kept) == len(fit) {
			return fit
		}
		fit = kept
	}
	return nil
}

// covered reports whether every member under v is in the run of some answer.
func covered(v format.Cover, fit []SealedAnswer) bool {
	at := v.Offset
	for moved := true; moved && at < v.Offset+v.Count; {
		moved = false
		for _, a := range fit {
			if a.Offset <= at && a.End() > at {
				at, moved = a.End(), true
			}
		}
	}
	return at >= v.Offset+v.Count
}

// Answer is the answer of a worker to the claim with an id.
type Answer struct {
	Claim string
	summarize.Response
	// Texts are several texts in place of Response.Text, each for a part of a claim of `ctx
	// replace`; nil for one text for all of it.
	Texts []PartialText
}

// PartialText is a text for a part of a claim.
type PartialText struct {
	Text     string
	Replaces []format.Target
}

// Judged is the answer of a worker compared with the forest. If Lost is "" and Fault is nil, the
// answer is sealed and can be used, as far as the forest does not change.
type Judged struct {
	SealedAnswer
	Lost  string // one of the Lost constants
	Fault error  // why the text cannot be used
}

// Judge compares the answers of workers to the claims of runs with the forest as of view, and makes
// the summaries of those that can be used.
func (s *Reader) Judge(
	view *refs.View, st *forest.State, runs []Run, answers []summarize.Response,
) ([]Judged, error) {
	found, err := s.findClaims(view, st, runs)
	if err != nil {
		return nil, err
	}
	forgotten, err := s.ForgottenWords()
	if err != nil {
		return nil, err
	}
	list := make([]Judged, len(runs))
	for i := range found {
		if list[i], err = s.judge(view, &found[i], answers[i], forgotten); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s *Reader) judge(
	view *refs.View, f *found, answer summarize.Response, forgotten *history.Traces,
) (Judged, error) {
	if f.lost != "" {
		return Judged{Lost: f.lost}, nil
	}
	inputs, err := s.ReadClaim(view, &f.Claim, 0)
	if err != nil {
		return Judged{}, err
	}
	answer, err = CleanAnswer(answer, AnswerTokens(inputs), InputTokens(inputs))
	if fault := wording.Excuse(answer.Text); err == nil && fault != nil {
		err = fault
	}
	if err != nil {
		return Judged{Fault: err}, nil
	}
	if forgotten.InAnswer(answer.Text) {
		return Judged{Lost: LostForgotten}, nil
	}
	sealed, err := s.SealAnswer(&f.Claim, answer)
	return Judged{SealedAnswer: sealed}, err
}

// SealAll makes the summaries of the answers that workers bring, sorted by cluster. It counts in
// done the answers that cannot be used. It returns ErrInput for a bad id of a claim.
func (s *Reader) SealAll(
	view *refs.View, st *forest.State, brought []Answer, done *Compaction,
) ([]SealedAnswer, error) {
	runs, answers := make([]Run, len(brought)), make([]summarize.Response, len(brought))
	for i, b := range brought {
		var err error
		if runs[i], err = ParseSummary(b.Claim); err != nil {
			return nil, err
		}
		answers[i] = b.Response
	}
	judged, err := s.Judge(view, st, runs, answers)
	if err != nil {
		return nil, err
	}
	var list []SealedAnswer
	for _, j := range judged {
		switch {
		case j.Lost != "":
			done.CountLost(j.Lost)
		case j.Fault != nil:
			done.CountFailed(j.Fault)
		default:
			list = append(list, j.SealedAnswer)
		}
	}
	slices.SortStableFunc(list,
		func(a, b SealedAnswer) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return list, nil
}

// AddAnswers adds the objects of answers to the transaction and returns the answers. If something
// was forgotten since seen, the ForgetMark before the inputs were read, it adds and returns
// nothing: no forgotten word may be written again.
func (t *Tx) AddAnswers(
	seen int, answers []SealedAnswer, done *Compaction,
) ([]SealedAnswer, error) {
	fresh, err := t.NothingForgotten(seen, len(answers), done)
	if err != nil || !fresh {
		return nil, err
	}
	t.store.Add(RawsOf(answers)...)
	return answers, t.store.Flush()
}

// NothingForgotten reports whether nothing was forgotten since seen. Otherwise a number of answers,
// which it counts, are lost.
func (t *Tx) NothingForgotten(seen, answers int, done *Compaction) (bool, error) {
	now, err := t.ForgetMark()
	if err != nil {
		return false, err
	}
	if now != seen {
		for range answers {
			done.CountLost(LostInputs)
		}
	}
	return now == seen, nil
}

// RawsOf returns the objects of answers.
func RawsOf(answers []SealedAnswer) (raws []format.Raw) {
	for _, a := range answers {
		raws = append(raws, a.Raws...)
	}
	return raws
}
