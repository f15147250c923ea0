package sealed

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// Pin keeps what a person's clients have seen of a remote's keys, so that its host can neither take
// them back nor replace them. It is in a file of that person.
type Pin interface {
	Load() ([]byte, error) // nil for none
	// Save replaces what Load returned. It does nothing, and returns false, if another process has
	// replaced it meanwhile.
	Save(old, new []byte) (bool, error)
	// Where tells people how to believe other keys from now on.
	Where() string
}

// pinned is what a Pin keeps.
type pinned struct {
	V       int    `json:"v"`
	Group   string `json:"group"`   // its id
	Number  uint64 `json:"number"`  // of the newest change that was seen
	Keys    string `json:"keys"`    // the digest of the text then
	Rounds  int    `json:"rounds"`  // how many there were
	Secrets string `json:"secrets"` // the digest of group.secrets then
}

// seen returns what a client notes of a group.
func seen(g *group, text []byte) pinned {
	return pinned{1, g.id(), g.number, digest(text), len(g.rounds),
		digest(g.secrets(len(g.rounds)))}
}

// decodePin reads what a Pin keeps.
func decodePin(b []byte) (p pinned, err error) {
	if err := jsonvalue.Exact(b, &p); err != nil {
		return p, err
	}
	if p.V != 1 || p.Number == 0 || p.Rounds < 1 {
		return p, errors.New("it is of another version, or damaged")
	}
	return p, nil
}

// allows returns an error unless keys follow from those that were seen.
func (p *pinned) allows(g *group, text []byte) error {
	switch {
	case g.number < p.Number:
		return fmt.Errorf("%w: its keys were rolled back from change %d to %d", remote.ErrTampered,
			p.Number, g.number)
	case g.number == p.Number && digest(text) != p.Keys:
		return fmt.Errorf("%w: change %d of its keys is another one than before",
			remote.ErrTampered, g.number)
	case len(g.rounds) < p.Rounds || digest(g.secrets(p.Rounds)) != p.Secrets:
		return fmt.Errorf("%w: its keys were replaced by somebody who did not know those before",
			remote.ErrTampered)
	}
	return nil
}
