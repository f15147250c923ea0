package refs

import (
	"maps"
	"slices"
)

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

var effects = map[string]Effect{
	VerbAppend:  {Extends: true, Undo: UndoTakes},
	VerbImport:  {Extends: true, Moves: true, Leaves: true, Undo: UndoTakes},
	VerbMask:    {Extends: true, Undo: UndoTakes},
	VerbObserve: {Extends: true, Undo: UndoTakes},
	VerbOffload: {Extends: true, Undo: UndoTakes},
	VerbReplace: {Extends: true, Summarises: true, Undo: UndoTakes},

	VerbFork: {Extends: true, Makes: true, Undo: UndoTakes},
	VerbJoin: {Extends: true, Removes: true, Undo: UndoTakes},

	VerbRewind:      {Moves: true, Undo: UndoTakes},
	VerbState:       {Moves: true, Undo: UndoTakes},
	VerbSessionLink: {Moves: true, Undo: UndoTakes},
	VerbSessionRm:   {Removes: true, Undo: UndoTakes},
	VerbUndo:        {Moves: true, Restores: true, Undo: UndoIsUndo},
	VerbRedo:        {Moves: true, Restores: true, Undo: UndoIsRedo},

	VerbCheckpoint: {Undo: UndoPasses},
	VerbCompact:    {Summarises: true, Undo: UndoPasses},
	VerbEvict:      {Summarises: true, Undo: UndoPasses},
	VerbGraduate:   {Undo: UndoPasses},
	VerbSessionUse: {Undo: UndoPasses},
	VerbUpdateRef:  {Undo: UndoPasses},

	VerbForget: {Forgets: true, Undo: UndoRefuses},
	VerbRepair: {Moves: true, Makes: true, Undo: UndoRefuses},
}

// EffectOf returns what operations of a verb do. For a verb that this version does not know, known is false and undo refuses.
func EffectOf(verb string) (e Effect, known bool) {
	e, known = effects[verb]
	return e, known
}

// Verbs returns all verbs that this version knows, sorted.
func Verbs() []string { return slices.Sorted(maps.Keys(effects)) }
