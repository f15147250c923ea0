package edits

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Replacements fills in what a replace entry stands for, and which replacements stand for an entry.
// It reads each branch of the session back to the entry.
func (s *Reader) Replacements(view *refs.View, header []byte, p *clusters.Provenance) error {
	e, err := format.DecodeEntry(header)
	if err != nil {
		return err
	}
	if e.Kind == format.KindReplace {
		r, err := s.ReplacementAt(p.ID)
		if err != nil {
			return err
		}
		p.Targets = r.Targets
	}
	seen := map[format.ID]bool{}
	var later []format.ID
	for _, name := range view.Names("sessions/" + e.Session + "/") {
		for e, err := range s.Walk(view.Get(name).ID, history.WithJoined) {
			if err != nil {
				return err
			}
			if e.Kind == format.KindReplace && !e.Joined && !seen[e.ID] {
				seen[e.ID] = true
				later = append(later, e.ID)
			}
			if e.ID == p.ID {
				break
			}
		}
	}
	for _, id := range later {
		r, err := s.ReplacementAt(id)
		if err != nil {
			return err
		}
		if by := (&replaced{Replacement: r}); id != p.ID && by.names(p.ID) {
			p.ReplacedBy = append(p.ReplacedBy, id)
		}
	}
	return nil
}
