package view

import "encoding/json"

// geminiDialect is the contents of generateContent, and the system instruction where there is a block of an epoch. Parts are written as they were
// stored, thought signatures included.
func geminiDialect(block string) dialect {
	open := `{"contents":[`
	if block != "" {
		open = `{"systemInstruction":{"parts":[` + geminiPart(textOf(block)) + `]},"contents":[`
	}
	return dialect{
		open:     open,
		update:   apartResults,
		user:     `{"role":"user","parts":[`,
		userPart: geminiPart,
		messages: geminiMessages,
	}
}

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

func geminiMessages(t turn) []string {
	m := struct {
		Role  string            `json:"role"`
		Parts []json.RawMessage `json:"parts"`
	}{Role: "user"}
	if t.side == modelSide {
		m.Role = "model"
	}
	for _, it := range t.items {
		m.Parts = append(m.Parts, json.RawMessage(geminiPart(it)))
	}
	return []string{encode(m)}
}
