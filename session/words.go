package session

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/message"
)

// Words returns what a JSON array of message parts says, for people, for terms and for summaries,
// as message.Words does. What message.Parse refuses is returned as it is.
func Words(parts []byte) string {
	list, err := message.Parse(parts)
	if err != nil {
		return string(parts)
	}
	return message.Words(list)
}

// linksOf returns the calls and the results in parts that have an id. A message can be found by
// these.
func linksOf(parts []message.Part) (calls []format.Call, results []string) {
	for _, c := range message.Calls(parts) {
		if c.ID != "" {
			calls = append(calls, format.Call{ID: c.ID, Tool: c.Name})
		}
	}
	for _, r := range message.Results(parts) {
		if r.ID != "" {
			results = append(results, r.ID)
		}
	}
	return calls, results
}
