package hooks

import (
	"encoding/json"
	"io"
)

// NotAllowed is what a hook says to the person where the store may not speak to models. It has no
// name of a file, since anybody may choose that.
const NotAllowed = "ctx: the store of this project was not made or allowed on this machine: " +
	"nothing is recorded, and the model is told nothing; `ctx status` says more"

// Refuse handles one call of a hook in a store that is not allowed. It reads the event and writes
// nothing into the store, whose log and settings are as strange as its words. It returns the JSON
// that has the agent show NotAllowed to the person, and no part of it to the model: nil for an
// agent that cannot. said is false at events that come with each turn, at which there is nothing to
// say.
func Refuse(agent *Agent, in io.Reader) (out []byte, said bool) {
	event, _ := readCall(in, maxInput, agent.Event)
	does, known := agent.at(event.Name)
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
