package find

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// This file says which answers somebody objected to.

// Objection is what was said after an answer of a model against it. The zero Objection is none.
type Objection struct {
	By         format.ID // the message
	Overturned bool      // the model takes the answer back; else the user doubts it
}

// Verb says what the message does to the answer.
func (o Objection) Verb() string {
	if o.Overturned {
		return "overturned"
	}
	return "doubted"
}

// markObjections says of each hit that is the answer of a turn whether the next turn begins with an
// objection to it.
func (s *Reader) markObjections(view *refs.View, q SearchQuery, hits []Hit) error {
	mayBe := func(h Hit) bool {
		return h.Cluster == nil && h.Shown != nil && isAnswer(h.Shown.Entry)
	}
	if !slices.ContainsFunc(hits, mayBe) {
		return nil
	}
	return s.withIndex(view, q, func(sources []search.Source) error {
		for i := range hits {
			h := &hits[i]
			if !mayBe(*h) {
				continue
			}
			var err error
			if h.Objection, err = s.objection(sources, h); err != nil {
				return err
			}
		}
		return nil
	})
}

// isAnswer reports whether an entry may be the last one of a turn: words of a model without a call.
func isAnswer(e *format.Entry) bool {
	return e.Kind == format.KindMessage && e.Role == transcript.RoleModel && len(e.Calls) == 0
}

// maxReply is how many messages after an answer the reply to it is looked for.
const maxReply = 12

// objection returns the objection to a hit: of the next prompt, or of the model's first words after
// that.
func (s *Reader) objection(sources []search.Source, h *Hit) (o Objection, err error) {
	list, err := search.After(sources, h.Session, h.Shown.Entry.Seq, maxReply)
	asked := false
	for i := 0; i < len(list) && err == nil; i++ {
		d := &list[i]
		if d.Rewound != h.Rewound {
			continue
		}
		e, fault := s.Header(d.ID)
		switch {
		case fault != nil:
			return o, fault
		case e.Kind != format.KindMessage:
		case e.Role == transcript.RoleUser && !asked:
			asked = true
			err = s.objects(&o, d, prose.Doubts)
		case e.Role == transcript.RoleModel:
			if asked {
				err = s.objects(&o, d, prose.Concedes)
			}
			return o, err // without a prompt the turn went on
		}
	}
	return o, err
}

// objects sets the objection to a message if one of its sentences objects.
func (s *Reader) objects(o *Objection, d *search.Document, is func(sentence string) bool) error {
	shown, err := s.Version(d.ID, d.Version)
	if err != nil || shown.Gone != "" {
		return err
	}
	var facts digest.Digester
	facts.Add([]digest.Message{summaries.DigestMessage(shown)})
	for _, f := range facts.Facts() {
		switch f.Kind {
		case digest.Prompt, digest.Answer, digest.Said:
			if is(f.Text) {
				*o = Objection{d.ID, shown.Entry.Role == transcript.RoleModel}
			}
		}
	}
	return nil
}
