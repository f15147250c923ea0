package session

import (
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/wording"
	"github.com/gemini-ctx/ctx/refs"
)

// answer is a claim with its summary, and a tombstone for when it is evicted.
type answer struct {
	claim
	summary format.ID
	stone   format.ID    // zero where none was made
	raws    []format.Raw // all objects of it, which are put when it is recorded
}

// takeAnswer cleans a summariser's answer and judges it by what it was asked: tokens is the most it may have, source how many its inputs have. An answer
// that is not taken is a *wording.Fault.
func takeAnswer(told summarize.Told, tokens, source int) (summarize.Told, error) {
	if len(told.Text) > MaxMessage {
		return told, &wording.Fault{Kind: wording.Longer, Why: fmt.Sprintf("the answer has %d bytes, %d is the most", len(told.Text), MaxMessage)}
	}
	text, fault := wording.Summary(told.Text, tokens, source)
	if fault == nil {
		told.Text = text
		fault = nameMaker(&told)
	}
	if fault != nil {
		return told, fault
	}
	return told, nil
}

// nameMaker cleans who made an answer.
func nameMaker(told *summarize.Told) *wording.Fault {
	for _, field := range []*string{&told.Summarizer, &told.Version} {
		name, fault := wording.Maker(*field)
		if fault != nil {
			return fault
		}
		*field = name
	}
	return nil
}

// sealAnswer makes the objects of an answer in words: nodes and, last, the summary.
func (s *Store) sealAnswer(c *claim, told summarize.Told) ([]format.Raw, error) {
	sum := &format.Summary{Generation: 1, Summarizer: told.Summarizer, Version: told.Version, Prompt: told.Prompt}
	for _, v := range c.covers {
		_, generation, err := s.worded(v.Summary)
		if err != nil {
			return nil, err
		}
		sum.Generation = max(sum.Generation, generation+1)
	}
	raws, err := namesOf(c, sum)
	if err != nil {
		return nil, err
	}
	object, err := s.sealNew([]byte(told.Text), format.MediaText, func(b format.Body) ([]byte, error) {
		sum.Body = b
		return sum.Encode()
	})
	return append(raws, object), err
}

// namesOf has a summary name its claim's run and inputs, and returns the nodes that it names.
func namesOf(c *claim, sum *format.Summary) ([]format.Raw, error) {
	raws, node, err := nodeObjects(c.members)
	if err != nil {
		return nil, err
	}
	sum.Node = node
	for _, v := range c.covers {
		sum.Inputs = append(sum.Inputs, format.Input{Summary: true, ID: v.Summary})
	}
	raw := c.raw()
	if len(raw) == 0 {
		return raws, nil
	}
	more, node, err := nodeObjects(raw)
	if err != nil {
		return nil, err
	}
	sum.Inputs = append(sum.Inputs, format.Input{ID: node})
	return append(raws, more...), nil
}

// settle takes answers under the lock, each against the forest as it is now.
func (t *tx) settle(name string, answers []answer, done *Compaction) error {
	st, err := t.forestOf(name)
	if err != nil {
		return err
	}
	for len(answers) > 0 {
		n := 1
		for n < len(answers) && answers[n].cluster == answers[0].cluster {
			n++
		}
		if err := t.settleCluster(name, st, answers[:n], done); err != nil {
			return err
		}
		answers = answers[n:]
	}
	return nil
}

// settleCluster takes the answers about one cluster. What is there already is replaced as a whole or not at all.
func (t *tx) settleCluster(name string, st *forest.State, answers []answer, done *Compaction) error {
	c := st.Cluster(answers[0].cluster)
	var fit []answer
	for _, a := range answers {
		why, known, err := t.fits(st, c, &a)
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
			done.lose(why)
		default:
			fit = append(fit, a)
		}
	}
	for _, a := range wholes(c, fit, done) {
		d := format.Decision{Kind: format.DecideSettle, Cluster: a.cluster, ID: a.summary, Offset: a.offset, Count: uint64(len(a.members))}
		if err := t.decideIn(name, d); err != nil {
			return err
		}
		if c.Count() == uint64(len(a.members)) {
			done.Settled++
		} else {
			done.Carried++
		}
	}
	return nil
}

// fits compares an answer with its cluster as it is now, which is nil where it is not live. why is "" where it can be taken.
func (t *tx) fits(st *forest.State, c *forest.Cluster, a *answer) (why string, known bool, err error) {
	if c == nil || a.end() > c.Count() {
		return lostCluster, false, nil
	}
	members, err := st.Slice(c, a.offset, a.end())
	if err != nil {
		return "", false, err
	}
	if !slices.Equal(members, a.members) {
		return lostCluster, false, nil
	}
	there := realCovers(c.Covers, a.offset, a.end())
	for _, v := range there {
		if v.Summary == a.summary {
			return "", true, nil
		}
		if v.Offset != a.offset || v.Count != uint64(len(a.members)) {
			continue
		}
		generation, err := t.generation(v.Summary)
		if err != nil {
			return "", false, err
		}
		if generation < MaxGeneration {
			return lostOther, false, nil
		}
	}
	for _, v := range a.covers {
		if !slices.Contains(there, v) {
			return lostInputs, false, nil
		}
	}
	mark, err := t.markOf(t.view, a.covers, a.raw())
	if err != nil {
		return "", false, err
	}
	if mark != a.mark {
		return lostInputs, false, nil
	}
	return "", false, nil
}

// besides compares an answer with those that are taken together with it: two for one run, or for a part of it, are one too many.
func besides(fit []answer, a *answer) (why string, known bool) {
	for _, f := range fit {
		if f.offset >= a.end() || f.end() <= a.offset {
			continue
		}
		if f.summary == a.summary {
			return "", true
		}
		return lostOther, false
	}
	return "", false
}

// generation is that of a stored summary.
func (s *Store) generation(id format.ID) (uint64, error) {
	header, err := s.Objects.Header(id)
	if err != nil {
		return 0, err
	}
	sum, err := format.DecodeSummary(header)
	if err != nil {
		return 0, err
	}
	return sum.Generation, nil
}

// wholes drops the answers that would take away a part of an older summary and leave the rest of its run without one, until there are none.
func wholes(c *forest.Cluster, fit []answer, done *Compaction) []answer {
	for len(fit) > 0 {
		var kept []answer
		for _, a := range fit {
			torn := slices.ContainsFunc(c.Covers, func(v format.Cover) bool {
				return !v.Interim && v.Offset < a.end() && v.Offset+v.Count > a.offset && !covered(v, fit)
			})
			if torn {
				done.lose(lostPieces)
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
func covered(v format.Cover, fit []answer) bool {
	at := v.Offset
	for moved := true; moved && at < v.Offset+v.Count; {
		moved = false
		for _, a := range fit {
			if a.offset <= at && a.end() > at {
				at, moved = a.end(), true
			}
		}
	}
	return at >= v.Offset+v.Count
}

// Answer is what a worker brings back for a claim.
type Answer struct {
	Claim string
	summarize.Told
}

// CheckClaim returns ErrInput for what cannot be the id of a claim.
func CheckClaim(id string) error {
	_, err := parseClaim(id)
	return err
}

// sealAll makes summaries of answers that workers bring, against the forest as it is. What cannot be used is counted in done.
func (s *Store) sealAll(view *refs.View, st *forest.State, brought []Answer, done *Compaction) ([]answer, error) {
	names := make([]claimName, len(brought))
	for i, b := range brought {
		var err error
		if names[i], err = parseClaim(b.Claim); err != nil {
			return nil, err
		}
	}
	claims, err := s.findClaims(view, st, names)
	if err != nil {
		return nil, err
	}
	forgotten, err := s.forgets()
	if err != nil {
		return nil, err
	}
	var list []answer
	for i, b := range brought {
		f := claims[i]
		if f.lost != "" {
			done.lose(f.lost)
			continue
		}
		inputs, err := s.readClaim(view, &f.claim, 0)
		if err != nil {
			return nil, err
		}
		told, err := takeAnswer(b.Told, budgetOf(inputs), tokensIn(inputs))
		if err != nil {
			done.fail(err)
			continue
		}
		if forgotten.inAnswer(told.Text) {
			done.lose(lostForgotten)
			continue
		}
		objects, err := s.sealAnswer(&f.claim, told)
		if err != nil {
			return nil, err
		}
		list = append(list, answer{claim: f.claim, summary: objects[len(objects)-1].ID(), raws: objects})
	}
	slices.SortStableFunc(list, func(a, b answer) int { return int(int64(a.cluster) - int64(b.cluster)) })
	return list, nil
}

// takeAnswers has the objects of answers put, and returns the answers; none of them where something was forgotten since seen, which is what
// ForgetMark returned before anything was read for them. What is made of words that are gone must not be written once they are.
func (t *tx) takeAnswers(seen int, answers []answer, done *Compaction) ([]answer, error) {
	now, err := t.ForgetMark()
	if err != nil {
		return nil, err
	}
	if now != seen {
		for range answers {
			done.lose(lostInputs)
		}
		return nil, nil
	}
	for _, a := range answers {
		t.raws = append(t.raws, a.raws...)
	}
	t.raws = dedupe(t.raws)
	return answers, t.flush()
}
