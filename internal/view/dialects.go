package view

import (
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// geminiDialect is the contents of generateContent, with a system instruction if there is an
// initial block. Parts are printed as they are stored, with their thought signatures.
func geminiDialect(block string) dialect {
	open := `{"contents":[`
	if block != "" {
		open = `{"systemInstruction":{"parts":[` + geminiPart(textOf(block)) + `]},"contents":[`
	}
	return dialect{
		open:     open,
		update:   apartResults,
		list:     "parts",
		part:     geminiPart,
		messages: messagesOfParts("model", "parts", geminiPart),
	}
}

// messagesOfParts prints a turn as one message with a role and a list of parts, as Gemini and
// Anthropic take it. model is the role of the model.
func messagesOfParts(model, list string, part func(item) string) func(turn) []string {
	return func(t turn) []string {
		role := "user"
		if t.side == modelSide {
			role = model
		}
		parts := lists.Map(t.items, part)
		return []string{openMessage(role, list) + strings.Join(parts, ",") + "]}"}
	}
}

// openMessage is the beginning of a message up to its first part; "]}" closes it.
func openMessage(role, list string) string { return `{"role":"` + role + `","` + list + `":[` }

func geminiPart(it item) string {
	if it.raw != nil {
		return compact(it.raw)
	}
	switch it.kind {
	case callItem:
		return encode(struct {
			C functionCall `json:"functionCall"`
		}{functionCall{ID: it.wire, Name: it.name, Args: it.args}})
	case resultItem:
		return encode(struct {
			R functionResult `json:"functionResponse"`
		}{functionResult{ID: it.wire, Name: it.name, Response: it.response, Parts: it.parts}})
	}
	return encode(struct {
		Text string `json:"text"`
	}{it.text})
}

// anthropicDialect is the messages of the Messages API, with a system prompt if there is an initial
// block.
func anthropicDialect(block string) dialect {
	open := `{"messages":[`
	if block != "" {
		open = `{"system":` + encode(block) + `,"messages":[`
	}
	return dialect{
		open:     open,
		list:     "content",
		part:     anthropicPart,
		messages: messagesOfParts("assistant", "content", anthropicPart),
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

func anthropicPart(it item) string {
	switch it.kind {
	case callItem:
		return encode(anthropicCall{Type: "tool_use", ID: it.key, Name: safeName(it.name),
			Input: it.args})
	case resultItem:
		return encode(anthropicResult{Type: "tool_result", CallID: it.key, Content: withNotes(it),
			Failed: it.failed})
	}
	return typedText(it)
}

// openAIDialect is the messages of Chat Completions. System messages keep the role "system": every
// server that speaks this API knows it, but not all know "developer". The initial block is the
// first system message.
func openAIDialect(block string) dialect {
	open := `{"messages":[`
	if block != "" {
		open += encode(openAIMessage{Role: "system", Content: block})
	}
	return dialect{
		open:     open,
		told:     block != "",
		update:   inText,
		list:     "content",
		system:   true,
		part:     typedText,
		messages: openAIMessages,
	}
}

// typedText is a text part of OpenAI and Anthropic. Media are notes.
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
			out = append(out,
				encode(openAIMessage{Role: "tool", Content: withNotes(it), CallID: it.key}))
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
	return strings.Join(lists.Map(items, func(it item) string { return it.text }), "\n")
}

// nameBytes is the longest name of a tool that OpenAI and Anthropic accept, in bytes.
const nameBytes = 64

// safeName makes a name of a tool that the providers accept: it replaces each other byte by an
// underscore.
func safeName(s string) string {
	b := []byte(s[:min(len(s), nameBytes)])
	for i := range b {
		if !plainName(string(b[i:i+1]), 1) {
			b[i] = '_'
		}
	}
	return string(b)
}
