package view

import (
	"encoding/json"
	"strings"
)

// openAIDialect is the messages of Chat Completions. System messages keep their role: the other side of the API, and the many
// servers that speak it, know that name where not all know "developer". The block of an epoch is the first of them.
func openAIDialect(block string) dialect {
	open := `{"messages":[`
	if block != "" {
		open += encode(openAIMessage{Role: "system", Content: block})
	}
	return dialect{
		open:     open,
		told:     block != "",
		update:   inText,
		user:     `{"role":"user","content":[`,
		system:   true,
		userPart: typedText,
		messages: openAIMessages,
	}
}

// typedText is a text part as OpenAI and Anthropic write it; media are notes.
func typedText(it item) string {
	return encode(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", it.text})
}

type openAIMessage struct {
	Role    string       `json:"role"`
	Content any          `json:"content"` // a string, parts, or null
	Calls   []openAICall `json:"tool_calls,omitempty"`
	CallID  string       `json:"tool_call_id,omitempty"`
}

type openAICall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
		Args string `json:"arguments"`
	} `json:"function"`
}

func openAIMessages(t turn) []string {
	switch t.side {
	case modelSide:
		return []string{encode(openAIModel(t))}
	case systemSide:
		return []string{encode(openAIMessage{Role: "system", Content: joinText(t.items)})}
	}
	var out []string
	var parts []json.RawMessage
	for _, it := range t.items {
		if it.kind == resultItem {
			out = append(out, encode(openAIMessage{Role: "tool", Content: withNotes(it), CallID: it.key}))
			continue
		}
		parts = append(parts, json.RawMessage(typedText(it)))
	}
	if len(parts) > 0 {
		out = append(out, encode(openAIMessage{Role: "user", Content: parts}))
	}
	return out
}

func openAIModel(t turn) openAIMessage {
	m := openAIMessage{Role: "assistant"}
	var words []item
	for _, it := range t.items {
		if it.kind != callItem {
			words = append(words, it)
			continue
		}
		c := openAICall{ID: it.key, Type: "function"}
		c.Function.Name = safeName(it.name)
		c.Function.Args = compact(it.args)
		m.Calls = append(m.Calls, c)
	}
	if len(words) > 0 {
		m.Content = joinText(words)
	}
	return m
}

func joinText(items []item) string {
	texts := make([]string, len(items))
	for i, it := range items {
		texts[i] = it.text
	}
	return strings.Join(texts, "\n")
}

// nameBytes is the longest name of a tool that both OpenAI and Anthropic take.
const nameBytes = 64

// safeName makes a tool's name one that the providers take: other characters become underscores, one for each byte.
func safeName(s string) string {
	b := []byte(s[:min(len(s), nameBytes)])
	for i := range b {
		if !plainName(string(b[i:i+1]), 1) {
			b[i] = '_'
		}
	}
	return string(b)
}
