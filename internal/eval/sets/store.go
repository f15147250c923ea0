package sets

import (
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
)

// FromStore returns the messages of a branch as a set, without topics and questions. It only reads
// the store.
func FromStore(s *session.Store, tip format.ID, name string) (Set, error) {
	set := Set{Name: name}
	err := s.Recall.LogEach(tip, recall.LogOptions{}, func(shown *history.Shown) error {
		if shown.Entry.Kind == format.KindMessage && shown.Gone == "" {
			set.Messages = append(set.Messages, messageOf(shown, name, len(set.Messages)))
		}
		return nil
	})
	return set, err
}

func messageOf(s *history.Shown, conversation string, seq int) corpus.Message {
	m := corpus.Message{
		Conversation: conversation, Seq: seq, Role: s.Entry.Role, Author: s.Entry.Author,
		Time: format.FormatTime(s.Entry.Time), Text: s.Text,
	}
	args, outputs := partsOf(s.Parts)
	for _, c := range s.Entry.Calls {
		m.Calls = append(m.Calls, corpus.Call{ID: c.ID, Name: c.Tool, Args: args[c.ID]})
	}
	for _, id := range s.Entry.Results {
		output, ok := outputs[id]
		if !ok {
			output = s.Text
		}
		m.Results = append(m.Results, corpus.Result{ID: id, Output: output, Exit: exitOf(output)})
	}
	return m
}

// partsOf returns the arguments of calls and the texts of results in a message's parts, by id of
// the call.
func partsOf(parts []byte) (args map[string]map[string]any, outputs map[string]string) {
	args, outputs = map[string]map[string]any{}, map[string]string{}
	list, err := message.Parse(parts)
	if err != nil {
		return args, outputs
	}
	for _, c := range message.Calls(list) {
		var fields map[string]any
		if json.Unmarshal(c.Args, &fields) == nil {
			args[c.ID] = fields
		}
	}
	for _, r := range message.Results(list) {
		outputs[r.ID] = r.Output()
	}
	return args, outputs
}

// exitCode matches the exit status that agents put into the output of a command.
var exitCode = regexp.MustCompile(`(?i)exit code:? (\d{1,3})`)

// exitOf returns the exit status in the output of a tool, or 0 if there is none.
func exitOf(output string) int {
	found := exitCode.FindStringSubmatch(output)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	return n
}
