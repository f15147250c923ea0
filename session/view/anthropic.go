package view

import "encoding/json"

// anthropicDialect is the messages of the Messages API, and the system prompt where there is a block of an epoch.
func anthropicDialect(block string) dialect {
	open := `{"messages":[`
	if block != "" {
		open = `{"system":` + encode(block) + `,"messages":[`
	}
	return dialect{
		open:     open,
		user:     `{"role":"user","content":[`,
		userPart: typedText,
		messages: anthropicMessages,
	}
}

type anthropicCall struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type anthropicResult struct {
	Type    string `json:"type"`
	CallID  string `json:"tool_use_id"`
	Content string `json:"content"`
	Failed  bool   `json:"is_error,omitempty"`
}

func anthropicMessages(t turn) []string {
	m := struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}{Role: "user"}
	if t.side == modelSide {
		m.Role = "assistant"
	}
	for _, it := range t.items {
		m.Content = append(m.Content, json.RawMessage(anthropicPart(it)))
	}
	return []string{encode(m)}
}

func anthropicPart(it item) string {
	switch it.kind {
	case callItem:
		return encode(anthropicCall{Type: "tool_use", ID: it.key, Name: safeName(it.name), Input: it.args})
	case resultItem:
		return encode(anthropicResult{Type: "tool_result", CallID: it.key, Content: withNotes(it), Failed: it.failed})
	}
	return typedText(it)
}
