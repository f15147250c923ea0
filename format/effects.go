package format

import (
	"errors"
	"fmt"
)

// Effects says what an operation does, so that a program which does not know its verb can still
// follow it, undo it or refuse to. The first six fields are about session refs. The zero Effects
// are no effects: an operation states some.
type Effects struct {
	Extends  bool // branches grow: the new value descends from the old one, or a session begins
	Moves    bool // refs change to a value that need not descend from the old one
	Restores bool // refs return to earlier values: About names the operation that is taken back
	Makes    bool // more branches of a session begin, on entries that the session already has
	// Leaves comes with Moves: a branch may continue from another entry, and leave behind entries
	// that no branch has.
	Leaves bool
	// Removes means that refs end. With Extends, the entries of a branch that ends are part of a
	// branch that grows.
	Removes bool

	// Summarizes means that summaries change but members do not: an entry that leaves its cluster
	// returns to its place at once.
	Summarizes bool
	Forgets    bool // text is erased for good

	Undo UndoRule
}

// UndoRule says what undo and redo do when they meet an operation in the log. Records hold its
// values.
type UndoRule byte

// The rules.
const (
	UndoRefuses UndoRule = 0 // undo stops here
	UndoTakes   UndoRule = 1 // undo takes the operation back
	// UndoPasses means that the operation changes no history of a session: undo continues with the
	// operation before it.
	UndoPasses UndoRule = 2
	UndoIsUndo UndoRule = 3 // the operation took back the one that About names
	UndoIsRedo UndoRule = 4 // the operation brought back the one that About names
)

// flags returns the fields in the order of their bits, the lowest first.
func (e *Effects) flags() [8]*bool {
	return [...]*bool{
		&e.Extends, &e.Moves, &e.Restores, &e.Makes, &e.Leaves, &e.Removes,
		&e.Summarizes, &e.Forgets,
	}
}

func (e *Effects) check() error {
	switch {
	case *e == (Effects{}):
		return errors.New("an operation that states no effects")
	case e.Undo > UndoIsRedo:
		return fmt.Errorf("unknown rule of undo: %d", e.Undo)
	case e.Leaves && !e.Moves:
		return errors.New("an operation that leaves entries without moving refs")
	}
	return nil
}
