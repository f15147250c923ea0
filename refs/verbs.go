package refs

import "slices"

// The verbs of all operations that this version commits. effects says what each verb does.
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
	VerbPull        = "pull" // takes in what other stores share
	VerbPush        = "push" // notes what this store has put on a remote
	VerbRedo        = "redo"
	VerbRepair      = "repair" // gives names to history behind a damage of the log
	VerbReplace     = "replace"
	VerbRewind      = "rewind"
	VerbSessionLink = "session-link"
	VerbSessionRm   = "session-rm"
	VerbSessionUse  = "session-use"
	VerbState       = "state"
	VerbUndo        = "undo"
	VerbUpdateRef   = "update-ref"
)

// Effect says what the operations of one verb do. The first six fields are about session refs.
type Effect struct {
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

// UndoRule says what undo and redo do when they meet an operation in the log.
type UndoRule int

const (
	UndoRefuses UndoRule = iota // undo stops here; the zero rule, which unknown verbs have
	UndoTakes                   // undo takes the operation back
	UndoPasses                  // the operation changes no history, so undo continues with the one before it
	UndoIsUndo                  // the operation took back the one that About names
	UndoIsRedo                  // the operation brought back the one that About names
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
	{VerbReplace, Effect{Extends: true, Summarizes: true, Undo: UndoTakes}},

	{VerbFork, Effect{Extends: true, Makes: true, Undo: UndoTakes}},
	{VerbJoin, Effect{Extends: true, Removes: true, Undo: UndoTakes}},

	{VerbRewind, Effect{Moves: true, Undo: UndoTakes}},
	{VerbState, Effect{Moves: true, Undo: UndoTakes}},
	{VerbSessionLink, Effect{Moves: true, Undo: UndoTakes}},
	{VerbSessionRm, Effect{Removes: true, Undo: UndoTakes}},
	{VerbUndo, Effect{Moves: true, Restores: true, Undo: UndoIsUndo}},
	{VerbRedo, Effect{Moves: true, Restores: true, Undo: UndoIsRedo}},

	{VerbCheckpoint, Effect{Undo: UndoPasses}},
	{VerbCompact, Effect{Summarizes: true, Undo: UndoPasses}},
	{VerbEvict, Effect{Summarizes: true, Undo: UndoPasses}},
	{VerbGraduate, Effect{Undo: UndoPasses}},
	{VerbPull, Effect{Moves: true, Leaves: true, Removes: true, Undo: UndoPasses}},
	{VerbPush, Effect{Undo: UndoPasses}},
	{VerbSessionUse, Effect{Undo: UndoPasses}},
	{VerbUpdateRef, Effect{Undo: UndoPasses}},

	{VerbForget, Effect{Forgets: true, Undo: UndoRefuses}},
	{VerbRepair, Effect{Moves: true, Makes: true, Undo: UndoRefuses}},
}

// EffectOf returns the effect of a verb. For an unknown verb, known is false and undo refuses.
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
