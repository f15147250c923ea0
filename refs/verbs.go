package refs

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// The verbs of all operations that this version commits.
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
	VerbFollow      = "session-follow" // HEAD goes to where a person spoke
	VerbAbout       = "session-about"  // title, tags and pin of a session
	VerbSessionLink = "session-link"
	VerbSessionRm   = "session-rm"
	VerbSessionUse  = "session-use"
	VerbState       = "state"
	VerbUndo        = "undo"
	VerbUpdateRef   = "update-ref"
)

// effects lists what the operations of each verb do. Commit states it in the record.
var effects = [...]struct {
	verb string
	format.Effects
}{
	{VerbAppend, format.Effects{Extends: true, Undo: format.UndoTakes}},
	{VerbImport, format.Effects{Extends: true, Moves: true, Leaves: true, Undo: format.UndoTakes}},
	{VerbMask, format.Effects{Extends: true, Undo: format.UndoTakes}},
	{VerbObserve, format.Effects{Extends: true, Undo: format.UndoTakes}},
	{VerbOffload, format.Effects{Extends: true, Undo: format.UndoTakes}},
	{VerbReplace, format.Effects{Extends: true, Summarizes: true, Undo: format.UndoTakes}},

	{VerbFork, format.Effects{Extends: true, Makes: true, Undo: format.UndoTakes}},
	{VerbJoin, format.Effects{Extends: true, Removes: true, Undo: format.UndoTakes}},

	{VerbRewind, format.Effects{Moves: true, Undo: format.UndoTakes}},
	{VerbState, format.Effects{Moves: true, Undo: format.UndoTakes}},
	{VerbAbout, format.Effects{Moves: true, Undo: format.UndoTakes}},
	{VerbSessionLink, format.Effects{Moves: true, Undo: format.UndoTakes}},
	{VerbSessionRm, format.Effects{Removes: true, Undo: format.UndoTakes}},
	{VerbUndo, format.Effects{Moves: true, Restores: true, Undo: format.UndoIsUndo}},
	{VerbRedo, format.Effects{Moves: true, Restores: true, Undo: format.UndoIsRedo}},

	{VerbCheckpoint, format.Effects{Undo: format.UndoPasses}},
	{VerbCompact, format.Effects{Summarizes: true, Undo: format.UndoPasses}},
	{VerbEvict, format.Effects{Summarizes: true, Undo: format.UndoPasses}},
	{VerbGraduate, format.Effects{Undo: format.UndoPasses}},
	{VerbPull, format.Effects{Moves: true, Leaves: true, Removes: true, Undo: format.UndoPasses}},
	{VerbPush, format.Effects{Undo: format.UndoPasses}},
	{VerbFollow, format.Effects{Undo: format.UndoPasses}},
	{VerbSessionUse, format.Effects{Undo: format.UndoPasses}},
	{VerbUpdateRef, format.Effects{Undo: format.UndoPasses}},

	{VerbForget, format.Effects{Forgets: true, Undo: format.UndoRefuses}},
	{VerbRepair, format.Effects{Moves: true, Makes: true, Undo: format.UndoRefuses}},
}

// EffectsOfVerb returns what the operations of a verb do that this version commits. For an unknown
// verb, known is false and undo refuses.
func EffectsOfVerb(verb string) (e format.Effects, known bool) {
	for i := range effects {
		if effects[i].verb == verb {
			return effects[i].Effects, true
		}
	}
	return format.Effects{}, false
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
