package refs

import "slices"

// The verbs of all operations that this version commits. effects says what each of them does.
const (
	VerbAppend      = "append"
	VerbCheckpoint  = "checkpoint" // writes the forests before a checkpoint
	VerbCompact     = "compact"
	VerbEvict       = "evict"
	VerbForget      = "forget"
	VerbFork        = "fork"
	VerbGraduate    = "graduate"
	VerbImport      = "import"
	VerbJoin        = "join"
	VerbMask        = "mask"
	VerbObserve     = "observe"
	VerbOffload     = "offload"
	VerbRedo        = "redo"
	VerbRepair      = "repair" // gives names back to history behind a damage of the log
	VerbReplace     = "replace"
	VerbRewind      = "rewind"
	VerbSessionLink = "session-link"
	VerbSessionRm   = "session-rm"
	VerbSessionUse  = "session-use"
	VerbState       = "state"
	VerbUndo        = "undo"
	VerbUpdateRef   = "update-ref"
)

// Effect is what the operations of one verb do. The first six members are about the refs of sessions.
type Effect struct {
	Extends  bool // branches grow: the new value stands on the old one, or a session begins
	Moves    bool // refs go to another value, which need not stand on the old one
	Restores bool // refs return to values that they had: the record's About names the operation that is taken back
	Makes    bool // further branches of a session begin, on entries that the session has
	Leaves   bool // with Extends and Moves: a branch may go on from another entry, and leave lines that no branch has had
	Removes  bool // refs end. With Extends: what a branch has that ends is part of a branch that grows

	Summarises bool // summaries change and members do not: an entry that leaves its cluster comes back to its place at once
	Forgets    bool // words are erased, and nothing brings them back

	Undo UndoRule
}

// UndoRule is what undo and redo do about an operation that they meet in the log.
type UndoRule int

const (
	UndoRefuses UndoRule = iota // undo goes no further; the zero rule, that of a verb that is not known
	UndoTakes                   // undo takes the operation back
	UndoPasses                  // the operation changes no history: undo goes on to the one before it
	UndoIsUndo                  // the operation took back the one that its About names
	UndoIsRedo                  // the operation brought back the one that its About names
)

var effects = [...]struct {
	verb string
	Effect
}{
	{VerbAppend, Effect{Extends: true, Undo: UndoTakes}},
	{VerbImport, Effect{Extends: true, Moves: true, Leaves: true, Undo: UndoTakes}},
	{VerbMask, Effect{Extends: true, Undo: UndoTakes}},
	{VerbObserve, Effect{Extends: true, Undo: UndoTakes}},
	{VerbOffload, Effect{Extends: true, Undo: UndoTakes}},
	{VerbReplace, Effect{Extends: true, Summarises: true, Undo: UndoTakes}},

	{VerbFork, Effect{Extends: true, Makes: true, Undo: UndoTakes}},
	{VerbJoin, Effect{Extends: true, Removes: true, Undo: UndoTakes}},

	{VerbRewind, Effect{Moves: true, Undo: UndoTakes}},
	{VerbState, Effect{Moves: true, Undo: UndoTakes}},
	{VerbSessionLink, Effect{Moves: true, Undo: UndoTakes}},
	{VerbSessionRm, Effect{Removes: true, Undo: UndoTakes}},
	{VerbUndo, Effect{Moves: true, Restores: true, Undo: UndoIsUndo}},
	{VerbRedo, Effect{Moves: true, Restores: true, Undo: UndoIsRedo}},

	{VerbCheckpoint, Effect{Undo: UndoPasses}},
	{VerbCompact, Effect{Summarises: true, Undo: UndoPasses}},
	{VerbEvict, Effect{Summarises: true, Undo: UndoPasses}},
	{VerbGraduate, Effect{Undo: UndoPasses}},
	{VerbSessionUse, Effect{Undo: UndoPasses}},
	{VerbUpdateRef, Effect{Undo: UndoPasses}},

	{VerbForget, Effect{Forgets: true, Undo: UndoRefuses}},
	{VerbRepair, Effect{Moves: true, Makes: true, Undo: UndoRefuses}},
}

// EffectOf returns what operations of a verb do. For a verb that this version does not know, known is false and undo refuses.
func EffectOf(verb string) (e Effect, known bool) {
	for i := range effects {
		if effects[i].verb == verb {
			return effects[i].Effect, true
		}
	}
	return Effect{}, false
}

// Verbs returns all verbs that this version knows, sorted.
func Verbs() []string {
	list := make([]string, len(effects))
	for i := range effects {
		list[i] = effects[i].verb
	}
	slices.Sort(list)
	return list
}
