package hooks

import (
	"context"
	"encoding/json"
)

// NotAllowed is what a hook says to the person where the store may not speak to models. It has no
// name of a file, since anybody may choose that.
const NotAllowed = "ctx: the store of this project was not made or allowed on this machine: " +
	"nothing is recorded, and the model is told nothing; `ctx status` says more"

// Refuse handles one call of a hook in a store that is not allowed. It writes nothing into the
// store, whose log and settings are as strange as its words. It returns the JSON
// that has the agent show NotAllowed to the person, and no part of it to the model: nil for an
// agent that cannot. said is false at events that come with each turn, at which there is nothing to
// say.
func Refuse(ctx context.Context, agent *Agent, in *Heard) (out []byte, said bool) {
	if !in.wait(ctx) {
		return nil, false
	}
	does, known := agent.at(in.event.Name)
	if !known || does != doStart && does != doCatchUp {
		return nil, false
	}
	if agent.Shows {
		out, _ = json.Marshal(struct {
			Message string `json:"systemMessage"`
		}{NotAllowed})
	}
	return out, true
}
