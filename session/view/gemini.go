package view

import "encoding/json"

// geminiDialect is the contents of generateContent. Parts are written as they were stored, thought signatures included.
func geminiDialect() dialect {
	return dialect{
		open:     `{"contents":[`,
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
