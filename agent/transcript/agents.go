package transcript

import "slices"

// Traits is what the rest of ctx has to know of the records that an agent writes. Who adds an agent adds its traits here.
type Traits struct {
	Agent string // as Origin.Agent names it
	// Keeps says that a message has fields of its record in a part, under the agent's name (Kept, and members of other parts): no other agent is told these.
	Keeps bool
	// ByWords says that the versions of a message are told apart by its words and parts; else by its role, author and text.
	ByWords bool
}

// traits lists every agent whose records come into a store, and Own.
var traits = []Traits{
	{Agent: Own, ByWords: true},
	{Agent: "adk", Keeps: true, ByWords: true},
	{Agent: "claude-code", Keeps: true, ByWords: true},
	{Agent: "codex", Keeps: true, ByWords: true},
	{Agent: "gemini-cli", ByWords: true},
	{Agent: "jsonl", Keeps: true},
	{Agent: "opencode", Keeps: true, ByWords: true},
}

// TraitsOf returns the traits of an agent; ok is false for one that is not known.
func TraitsOf(agent string) (of Traits, ok bool) {
	i := slices.IndexFunc(traits, func(t Traits) bool { return t.Agent == agent })
	if i < 0 {
		return Traits{Agent: agent}, false
	}
	return traits[i], true
}
