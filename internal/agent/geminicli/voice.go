package geminicli

import (
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// clientMarks are what the agent writes into messages of the user, beside the elements that are
// stripped: the files that a prompt names, a command that a person ran beside the talk, with its
// output, what an editor shows, and how the agent has the model go on. docs/agents/gemini-cli.md
// has the table.
func clientMarks() *transcript.Voices {
	return &transcript.Voices{
		Leads: []transcript.Lead{
			{Open: "I ran the following shell command:\n```sh\n"},
			{Open: "System: Please continue."},
			{Open: "System: Potential loop detected."},
			{Open: "This is the Gemini CLI. We are setting up the context for our chat."},
			{Open: "Here is the user's editor context as a JSON object."},
			{Open: "Here is a summary of changes in the user's editor context"},
			// What a person types while the model works
			{Open: "User steering update:", Close: "<user_input>"},
		},
		After: []string{"</user_input>\nInternal instruction: "},
		Whole: []string{"Please continue."},
		Spans: []transcript.Lead{
			{Open: "--- Content from referenced files ---", Close: "--- End of content ---"}},
	}
}

// divided hides what the agent wrote in the parts of a message of the user. note says that nobody
// else said anything.
func divided(parts []part) (list []part, note bool) {
	raw, note := transcript.Divide(Agent, clientMarks(), transcript.RawOf(parts))
	for _, one := range raw {
		list = appendPart(list, one)
	}
	return list, note
}
