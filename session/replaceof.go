package session

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// replacementAt reads what a replace entry stands for.
func (s *Store) replacementAt(id format.ID) (*format.Replacement, error) {
	_, body, err := s.text(id)
	if err != nil {
		return nil, err
	}
	r, err := format.DecodeReplacement(body)
	if err != nil {
		return nil, fmt.Errorf("object %v: %w", id, err)
	}
	return r, nil
}

// replacedBy calls each for the messages behind a replace entry, each once, in order; those of a replacement that it stands for itself, too.
func (s *Store) replacedBy(id format.ID, each func(format.ID) error) error {
	seen := map[format.ID]bool{}
	for todo := []format.ID{id}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		e, err := s.entry(at)
		if err != nil {
			return err
		}
		if e.Kind != format.KindReplace {
			if err := each(at); err != nil {
				return err
			}
			continue
		}
		r, err := s.replacementAt(at)
		if err != nil {
			return err
		}
		for i := len(r.Targets) - 1; i >= 0; i-- {
			todo = append(todo, r.Targets[i].Entry)
		}
	}
	return nil
}

// replacements fills in what a replace entry stands for, or which ones stand for an entry. It goes back as far as the entry in each branch of its
// session.
func (s *Store) replacements(view *refs.View, header []byte, p *Provenance) error {
	e, err := format.DecodeEntry(header)
	if err != nil {
		return err
	}
	if e.Kind == format.KindReplace {
		r, err := s.replacementAt(p.ID)
		if err != nil {
			return err
		}
		p.Targets = r.Targets
	}
	seen := map[format.ID]bool{}
	var later []format.ID
	for _, name := range view.Names("sessions/" + e.Session + "/") {
		err := s.backSides(view.Get(name).ID, func(id format.ID, e *format.Entry, side bool) bool {
			if e.Kind == format.KindReplace && !side && !seen[id] {
				seen[id] = true
				later = append(later, id)
			}
			return id != p.ID
		})
		if err != nil {
			return err
		}
	}
	for _, id := range later {
		r, err := s.replacementAt(id)
		if err != nil {
			return err
		}
		if by := (&replaced{Replacement: r}); id != p.ID && by.names(p.ID) {
			p.ReplacedBy = append(p.ReplacedBy, id)
		}
	}
	return nil
}
