package session

import (
	"bytes"
	"encoding/json"
	"strings"
)

// part is a message part in the shape of the Gemini API, as far as its words matter.
type part struct {
	Text         string `json:"text"`
	Thought      bool   `json:"thought"`
	FunctionCall *struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

// Words returns what a JSON array of message parts says, for people, for terms and for summaries: texts as they are, thoughts left out, a call as
// its tool and arguments, a result as what the tool printed.
func Words(parts []byte) string {
	var list []part
	if json.Unmarshal(parts, &list) != nil {
		return string(parts)
	}
	var said []string
	for _, p := range list {
		switch {
		case p.FunctionCall != nil:
			said = append(said, "[call "+p.FunctionCall.Name+"] "+flat(p.FunctionCall.Args))
		case p.FunctionResponse != nil:
			said = append(said, flat(p.FunctionResponse.Response))
		case !p.Thought && p.Text != "":
			said = append(said, p.Text)
		}
	}
	return strings.Join(said, "\n")
}

// flat returns the strings and numbers of a JSON value with their keys, a line each; a value with one string alone is that string.
func flat(raw json.RawMessage) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if len(raw) == 0 || d.Decode(&v) != nil {
		return ""
	}
	if m, ok := v.(map[string]any); ok && len(m) == 1 {
		for _, only := range m {
			if s, ok := only.(string); ok {
				return s
			}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return string(raw)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// partLinks finds the calls and results that parts hold.
func partLinks(parts []byte) (calls []callLink, results []string) {
	var list []struct {
		FunctionCall     *callLink `json:"functionCall"`
		FunctionResponse *struct {
			ID string `json:"id"`
		} `json:"functionResponse"`
	}
	if json.Unmarshal(parts, &list) != nil {
		return nil, nil
	}
	for _, p := range list {
		if p.FunctionCall != nil && p.FunctionCall.ID != "" {
			calls = append(calls, *p.FunctionCall)
		}
		if p.FunctionResponse != nil && p.FunctionResponse.ID != "" {
			results = append(results, p.FunctionResponse.ID)
		}
	}
	return calls, results
}

type callLink struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}
